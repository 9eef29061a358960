// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Refinement by several criteria at once, in boxes that do not move, and with buffer cells.
/// <ramify/amr.cuh> includes this header.
///
///     using gas = euler<double, 2>;
///     options.regrid.refine_above = 1;  // any_criterion() divides each indicator by its limit
///     options.regrid.coarsen_below = 0.25;
///     const auto jumps = any_criterion<gas>(limited_criterion{gradient_criterion<gas>{0}, 0.1},
///                                    limited_criterion{loehner_criterion<gas>{3}, 0.6});
///     const refined_box<2> wall{{0, 0}, {1, 0.1}, 3};
///     amr_run run(gas{}, with_boxes<gas, decltype(jumps)>(jumps, options, {wall}), initial,
///                 options);
///
/// with_buffer<Criterion, 2> also refines what is within two cells of a cell that it refines.

#include <cmath>
#include <cstddef>
#include <ramify/amr/config.hpp>
#include <ramify/amr/physics/criteria.cuh>
#include <string>
#include <vector>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the indicator of a criterion from all values of the cells, also if it reads samples.
template <class Criterion, class Values, int dim, class Real>
[[nodiscard]] __device__ Real indicator_of(const Criterion& criterion,
                                           const cell_stencil<Values, dim>& u,
                                           const block_place<dim>& place,
                                           const Real (&where)[dim]) {
  if constexpr (requires { typename Criterion::sample_type; }) {
    return criterion(sample_stencil(criterion, u), place, where);
  } else {
    return criterion(u, place, where);
  }
}

/// Several criteria, each of which has a limit: the result of any_criterion().
template <class Physics, class First, class... Others>
struct several_criteria {
  using real = typename Physics::real;
  static constexpr int dim = Physics::dimensions;

  First first;
  real scale;  ///< 1 / refine_above of `first`
  several_criteria<Physics, Others...> others;

  [[nodiscard]] __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                                           const block_place<dim>& place,
                                           const real (&where)[dim]) const {
    const real of_first = times(scale, indicator_of(first, u, place, where));
    const real of_others = others(u, place, where);
    return of_first > of_others ? of_first : of_others;
  }
};
template <class Physics, class First>
struct several_criteria<Physics, First> {
  using real = typename Physics::real;
  static constexpr int dim = Physics::dimensions;

  First first;
  real scale;

  [[nodiscard]] __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                                           const block_place<dim>& place,
                                           const real (&where)[dim]) const {
    return times(scale, indicator_of(first, u, place, where));
  }
};

/// Checks a box in which a mesh of `dim` dimensions is refined to a level. `name` begins the
/// messages. \throws std::invalid_argument naming the field and its range
template <class Corner>
void check_refined_box(const std::string& name, const Corner& lower, const Corner& upper, int level,
                       const amr_options::mesh_fields& mesh, int dim) {
  for (std::size_t axis = 0; axis < std::size_t(dim); ++axis) {
    const std::string which = "[" + std::to_string(axis) + "]";
    require(lower[axis] < mesh.upper[axis], name + "lower" + which, lower[axis],
            "inside of the domain");
    require(upper[axis] > mesh.lower[axis], name + "upper" + which, upper[axis],
            "inside of the domain");
    require(lower[axis] < upper[axis], name + "upper" + which, upper[axis], "above lower");
  }
  require(0 <= level && level <= mesh.max_level, name + "level", level,
          "in [0, amr_options.mesh.max_level]");
}

/// The maximum number of boxes of with_boxes.
inline constexpr std::size_t max_refined_boxes = 8;

/// Returns the largest number of type Real that is at most `value`, which is not negative.
template <class Real>
[[nodiscard]] Real rounded_down(double value) {
  const auto rounded = static_cast<Real>(value);
  return double(rounded) > value ? std::nextafter(rounded, Real(0)) : rounded;
}

/// Checks that an indicator of type Real can keep a block as it is.
/// \throws std::invalid_argument
template <class Real>
void check_kept_indicator(const amr_options& options) {
  require(double(rounded_down<Real>(options.regrid.refine_above)) >= options.regrid.coarsen_below,
          "amr_options.regrid.coarsen_below", options.regrid.coarsen_below,
          "so far below refine_above that a number is between them");
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A criterion and the indicator above which it refines, for any_criterion().
template <class Criterion>
struct limited_criterion {
  Criterion criterion;  ///< a criterion of a mesh
  double refine_above;  ///< > 0
};
/// \cond  the generator of pages takes a deduction guide for a function
template <class Criterion>
limited_criterion(Criterion, double) -> limited_criterion<Criterion>;
/// \endcond

/// Returns a criterion that refines a block if one of several criteria does. Its indicator is the
/// largest quotient of an indicator and its limit. So amr_options::regrid.refine_above must be 1,
/// and coarsen_below the share of each limit below which blocks are coarsened. Buffer cells are
/// those of the whole: with_buffer contains the result, and no criterion in it has them.
/// \throws std::invalid_argument naming the entry if a limit is not finite and positive
template <class Physics, class First, class... Others>
[[nodiscard]] auto any_criterion(const limited_criterion<First>& first,
                                 const limited_criterion<Others>&... others) {
  static_assert(!detail::amr::has_buffer<First> && (!detail::amr::has_buffer<Others> && ...),
                "any_criterion: a criterion in it has buffer cells; with_buffer must contain the "
                "result of any_criterion() instead");
  using real = typename Physics::real;
  const double limits[] = {first.refine_above, others.refine_above...};
  std::size_t entry = 0;
  for (const double limit : limits) {
    detail::amr::require(limit > 0 && std::isfinite(limit) && std::isfinite(real(1 / limit)),
                         "any_criterion: refine_above of criterion " + std::to_string(entry), limit,
                         "finite and above 0");
    ++entry;
  }
  using result = detail::amr::several_criteria<Physics, First, Others...>;
  const auto scale = static_cast<real>(1 / first.refine_above);
  if constexpr (sizeof...(Others) == 0) {
    return result{first.criterion, scale};
  } else {
    return result{first.criterion, scale, any_criterion<Physics>(others...)};
  }
}

/// A criterion with buffer cells: a block is also refined, and not coarsened, if it is within
/// `cells` cells, along each axis, of a cell in another leaf whose indicator is above refine_above.
/// So what moves stays in refined blocks for the steps between two regrids. The cells are those of
/// the other leaf. `cells` is at most the number of cells along a block's edge. AMReX calls it
/// n_error_buf.
template <class Criterion, int cells>
struct with_buffer : Criterion {
  static_assert(cells >= 1);
  static constexpr int buffer_cells = cells;  ///< along each axis

  with_buffer() = default;
  /// Adds buffer cells to a criterion.
  explicit with_buffer(const Criterion& criterion) : Criterion(criterion) {}
};

/// A box in which all leaves have at least the level `level`.
template <int dim>
struct refined_box {
  double lower[dim];  ///< the lower corner
  double upper[dim];  ///< the opposite corner
  int level;          ///< to which it is refined
};

/// A criterion, and up to 8 boxes that are refined independently of it. A block overlaps a box if
/// they share a volume. Outside of the boxes, and beyond their levels, the criterion decides. Boxes
/// have no buffer cells.
template <class Physics, class Criterion>
class with_boxes : public Criterion {
 public:
  static constexpr int dim = Physics::dimensions;  ///< dimensions of the mesh
  using real = typename Physics::real;             ///< the number type
  /// The maximum number of boxes.
  static constexpr std::size_t max_boxes = detail::amr::max_refined_boxes;

  with_boxes() = default;
  /// `options` must be those of the run.
  /// \throws std::invalid_argument naming the box and its field if a box is empty, outside of the
  ///         domain or finer than mesh.max_level, or if there are more than 8; naming
  ///         regrid.coarsen_below if no indicator is between it and refine_above
  with_boxes(const Criterion& criterion, const amr_options& options,
             const std::vector<refined_box<dim>>& boxes)
      : Criterion(criterion) {
    detail::amr::require(boxes.size() <= max_boxes, "with_boxes: the number of boxes", boxes.size(),
                         "at most 8");
    const amr_options::mesh_fields& mesh = options.mesh;
    for (std::size_t axis = 0; axis < std::size_t(dim); ++axis) {
      lower_[axis] = mesh.lower[axis];
      root_edge_[axis] = (mesh.upper[axis] - mesh.lower[axis]) / double(mesh.roots[axis]);
    }
    for (const refined_box<dim>& box : boxes) add(box, mesh);
    kept_ = detail::amr::rounded_down<real>(options.regrid.refine_above);
    if (!boxes.empty()) detail::amr::check_kept_indicator<real>(options);
  }

  /// Returns the indicator of the criterion; in a box at least one that refines or keeps the block.
  template <class Stencil>
  [[nodiscard]] __device__ real operator()(const Stencil& u, const block_place<dim>& place,
                                           const real (&where)[dim]) const {
    const real own = Criterion::operator()(u, place, where);
    if (own > kept_) return own;  // it refines the block, and has buffer cells
    const int level = level_of(place);
    if (level > place.level) return detail::amr::without_buffer<real>;
    const real least = level == place.level ? kept_ : real(0);
    return own > least ? own : least;
  }

 private:
  void add(const refined_box<dim>& box, const amr_options::mesh_fields& mesh) {
    detail::amr::check_refined_box("with_boxes: box " + std::to_string(count_) + ": ", box.lower,
                                   box.upper, box.level, mesh, dim);
    boxes_[count_++] = box;
  }

  /// Returns the finest level of the boxes that a block overlaps; -1 without a box.
  [[nodiscard]] __device__ int level_of(const block_place<dim>& place) const {
    int level = -1;
    for (unsigned i = 0; i < count_; ++i) {
      bool overlaps = true;
      for (int axis = 0; axis < dim; ++axis) {
        const double edge = root_edge_[axis] / double(1u << place.level);
        const double begin = lower_[axis] + double(place.index[axis]) * edge;
        overlaps =
            overlaps && begin < boxes_[i].upper[axis] && begin + edge > boxes_[i].lower[axis];
      }
      if (overlaps && boxes_[i].level > level) level = boxes_[i].level;
    }
    return level;
  }

  // All bytes are set: on the CPU executor, old pointers in the others would look like arguments.
  refined_box<dim> boxes_[max_boxes]{};
  unsigned count_ = 0;
  double lower_[dim]{};
  double root_edge_[dim]{};
  real kept_ = 0;  // an indicator that neither refines nor coarsens
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
