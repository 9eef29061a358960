// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// quadrature() for CUDA code: integrates a function over a box in one to eight dimensions, by
/// adaptive subdivision.
///
///     struct bell {
///       __device__ double operator()(const ramify::quadrature_point<3>& p) const {
///         return exp(-p[0] * p[0] - p[1] * p[1] - p[2] * p[2]);
///       }
///     };
///     const ramify::quadrature_box<3> cube{{0, 0, 0}, {1, 1, 1}};
///     const auto found = ramify::quadrature(cube, bell{});
///     found.value      // --> 0.416538..., found.error is a bound of the error
///     found.converged()
///
/// Integrand  f(point) -> double, a pure function, called by one thread for each point. A point is
///            never on the boundary of the box, where f may be singular. A point at which f is NaN
///            or infinite ends the quadrature; the result states the point.
/// Box        each axis must be longer than 2^-36 times the larger magnitude of its two
///            coordinates, so that round-off moves no point onto the boundary. For the same reason,
///            regions are not split into halves that are shorter.
/// Rules      Gauss-Kronrod with 23 points a region in one dimension; Genz-Malik of degree 7 with
///            21 points in two dimensions and of degree 9 in 3 to 8 dimensions, with 77, 153, 273,
///            453, 717 and 1105 points (ramify/quadrature/rules.cuh).
/// Result     the best estimate, and the reason for the end: converged, max_evaluations, round_off,
///            not_finite, out_of_range, out_of_memory. The error is the sum of the errors of all
///            regions. The error of a region is the difference of its rule from an embedded one. In
///            3 to 8 dimensions there are two embedded rules: the larger difference counts where
///            the integrand is not smooth, and that of the first region counts 8 times. The error
///            of a region is larger if the points near its faces deviate, or if the estimates of
///            its halves have another sum. Where the integrand is not smooth, a split reduces it to
///            a 16th at most.
///            Before the quadrature converges, all regions are checked at further points with a
///            random shift (ramify/quadrature/checks.cuh). The sum of errors is a reliable bound
///            for functions that the regions resolve. It is no proof: points can miss a narrow peak
///            (config.min_evaluations). The page of the family states how often it is wrong.
/// Range      any finite values and any domain: no sum overflows unless the integral does. Values
///            below 2^-1062 count as 0. An integral that a double cannot hold has the status
///            out_of_range.
/// Order      sums have a fixed order, so the result has the same bits in each run, on both routes.
/// Scratch    16 d + 38 bytes for each region, and about 150,000 bytes. It comes from Ramify's
///            stream-ordered pool, for at most 2^18 regions at the begin; get() allocates more when
///            a round needs it. Or it comes from the caller, for all regions that
///            config.max_evaluations allows: quadrature_scratch_bytes().
/// Stream     quadrature_async() returns before the result is known; get() waits for the stream. A
///            graph can capture it if scratch memory is passed in.
/// Launches   one grid for all rounds with few points, then one grid a round, and with more than
///            some thousand regions four: evaluate, sum, select, list
///            (ramify/quadrature/rounds.cuh). The last block of each launches the next one. A round
///            splits all regions whose error is over their share of the tolerance, so there are far
///            fewer rounds than regions.
/// Errors     std::invalid_argument for a bad argument, before anything is launched; unavailable,
///            cuda_error, device_launch_error.
/// Complexity O(evaluations).
/// Not for    more than eight dimensions, where Monte Carlo methods need fewer points; improper
///            integrals (substitute first).
/// Source     PAGANI (Sakiotis et al., SC 2021) splits breadth first, too. It discards regions with
///            small errors; quadrature() keeps them.

#include <ramify/runtime/requirements.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <ramify/quadrature/config.hpp>
#include <ramify/quadrature/domain.cuh>
#include <ramify/quadrature/growing_regions.cuh>
#include <ramify/quadrature/rounds.cuh>
#include <ramify/runtime/functor_types.hpp>
#include <ramify/runtime/launch_chain.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <utility>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Returns the launches of 6 rounds that are not small, on each route. Smooth functions need fewer.
[[nodiscard]] inline route_plans round_plans(bool by_host) {
  constexpr double rounds = 6;
  const route_plan device{.host_launches = 1, .nested_levels = rounds};
  if (by_host) {
    return {{.host_launches = rounds, .host_round_trips = rounds / 4}, device, route::flat};
  }
  return {{.graph_iterations = 4 * rounds, .graph_loops = 1}, device, route::flat};
}

/// States which requirements the types of a call meet.
template <unsigned d, class Integrand>
struct argument_types {
  static constexpr bool is_function = is_callable<double, Integrand, const quadrature_point<d>&>;
  static constexpr bool are_valid = is_function && std::is_trivially_copyable_v<Integrand>;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <unsigned d, class Integrand>
struct checked_types : argument_types<d, Integrand> {
  using types = argument_types<d, Integrand>;
  static_assert(types::is_function,
                "quadrature: the integrand needs double operator()(quadrature_point<d>) const");
  static_assert(std::is_trivially_copyable_v<Integrand>,
                "quadrature: the integrand must be trivially copyable, because it is an argument "
                "of kernels");
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A quadrature that quadrature_async() has started. Movable; get() of a moved-from run throws
/// std::logic_error. Destroying a run before get() checks nothing.
template <unsigned d, class Integrand>
class [[nodiscard("call get(): it waits, checks and returns the result")]] quadrature_run {
  static_assert(1 <= d && d <= max_quadrature_dimensions, "one to eight dimensions");
  using program = detail::quadrature::quadrature_program<d, Integrand>;
  using memory_of_rounds = detail::quadrature::round_memory<d>;

 public:
  /// Starts a run; see quadrature_async(). Tests and benchmarks pass other bounds.
  quadrature_run(const quadrature_box<d>& box, const Integrand& f, cudaStream_t stream,
                 const quadrature_config& config, scratch_memory scratch,
                 const detail::quadrature::round_bounds& bounds = {}) {
    const phase_range range("quadrature: start");
    validate(config);
    detail::quadrature::validate(box);
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    detail::run_setup setup("quadrature", config, "quadrature_config.flat_loop", stream, scratch);
    result_ = detail::result_state(setup.algorithm, setup.captured);
    setup.prefer_host("the host launches rounds ahead, which costs less than a graph");
    setup.choose_route(2, detail::quadrature::round_plans(setup.by_host()));
    run_ = std::make_unique<rounds_run>(setup, box, config, f, bounds);
    run_->start();
  }

  /// Waits for the quadrature and returns its result. Launches the grids that kernels could not
  /// launch and, on the flat route, the remaining rounds. Allocates memory for more regions if the
  /// run has its own memory and a round needs more.
  ///
  /// Must be called once only. For a captured quadrature, call it after a launch of the graph; it
  /// may be called again after another launch.
  /// \throws cuda_error, device_launch_error; std::logic_error while the stream is being captured,
  ///         for a further call, and for a moved-from run
  quadrature_result get() {
    const auto call = result_.begin_get();
    const phase_range range("quadrature: get");
    run_->finish();
    const auto& end = run_->chain.state();
    const program& done = run_->chain.program();
    quadrature_result result;
    result.status = end.status;
    detail::quadrature::set_value(result, end.total, run_->exponent,
                                  done.tolerance(end.total.value));
    result.regions = end.regions;
    result.evaluations = end.evaluations;
    if (end.status == quadrature_status::not_finite) {
      const auto bad =
          read_back(done.bad_point, run_->control.stream(), "reading a point that is not finite");
      std::copy(bad.x, bad.x + d, result.not_finite_at.begin());
      result.error = HUGE_VAL;
    }
    static_cast<run_report&>(result.report) = run_->end();
    result.report.scratch_bytes += run_->regions ? run_->regions->bytes() : 0;
    result.report.rounds = end.rounds;
    result.report.check_evaluations = end.check_evaluations;
    return result;
  }

  /// Returns the device memory that a run needs if the caller provides it, in bytes. Requires a
  /// valid configuration.
  /// \throws std::invalid_argument if config.max_evaluations is not in the range of d dimensions
  [[nodiscard]] static std::size_t scratch_bytes(const quadrature_config& config) {
    return rounds_run::scratch_bytes(detail::quadrature::max_regions<d>(config));
  }

 private:
  struct rounds_run : detail::basic_run<memory_of_rounds> {
    rounds_run(const detail::run_setup& setup, const quadrature_box<d>& box,
               const quadrature_config& config, const Integrand& f,
               const detail::quadrature::round_bounds& bounds)
        : rounds_run(setup, box, config, f, bounds, detail::quadrature::max_regions<d>(config),
                     setup.given.empty() && !setup.captured) {}

    /// If `grows`, the regions have memory of their own, which grows.
    rounds_run(const detail::run_setup& setup, const quadrature_box<d>& box,
               const quadrature_config& config, const Integrand& f,
               const detail::quadrature::round_bounds& bounds, std::size_t max_regions, bool grows)
        : detail::basic_run<memory_of_rounds>(setup, grows ? 0 : max_regions),
          most(max_regions),
          units(detail::quadrature::units_of(box)),
          exponent(std::accumulate(units.exponents, units.exponents + d,
                                   detail::quadrature::value_exponent)),
          regions(first_regions(setup, bounds, grows)),
          chain(this->control,
                {{},
                 parts_with_regions(),
                 f,
                 std::scalbn(config.absolute_tolerance, -exponent),
                 config.relative_tolerance,
                 config.min_evaluations,
                 config.max_evaluations,
                 box,
                 units,
                 bounds},
                setup.loop) {}

    /// Starts the chain with the small rounds, which need no state.
    void start() {
      const detail::quadrature::round_state first{};
      chain.launch_first_step(first);
      chain.start(first);
    }

    /// Waits until the chain is complete, or until there is no memory for more regions.
    void finish() {
      chain.finish();
      while (chain.state().status == quadrature_status::out_of_memory) {
        detail::quadrature::round_state next = chain.state();
        const std::size_t needed = std::size_t{next.regions} + next.splits;
        if (!regions || !regions->grow(needed, most, next.regions)) return;
        next.ended = 0;
        next.status = quadrature_status::converged;
        chain.write_state(next);
        chain.restart([&](program& changed) {
          static_cast<detail::quadrature::region_memory<d>&>(changed) = regions->arrays();
        });
        chain.finish();
      }
    }

    using growing_memory = std::optional<detail::quadrature::growing_regions<d>>;

    /// Returns the first memory of the regions, or none if the scratch memory has them.
    [[nodiscard]] growing_memory first_regions(const detail::run_setup& setup,
                                               const detail::quadrature::round_bounds& bounds,
                                               bool grows) const {
      if (!grows) return std::nullopt;
      return growing_memory(std::in_place, std::min<std::size_t>(bounds.first_regions, most),
                            setup.stream);
    }

    [[nodiscard]] memory_of_rounds parts_with_regions() const {
      memory_of_rounds all = this->parts;
      if (regions) static_cast<detail::quadrature::region_memory<d>&>(all) = regions->arrays();
      return all;
    }

    std::size_t most;  ///< the number of regions that config.max_evaluations allows
    detail::quadrature::length_units<d> units;
    int exponent;  ///< of the unit of the integral
    growing_memory regions;
    detail::launch_chain<program> chain;
  };

  std::unique_ptr<rounds_run> run_;
  detail::result_state result_{"quadrature"};
};

/// Starts a quadrature over `box`, in `stream`. The integrand is copied.
///
/// Returns without waiting. The one exception is the first call with the automatic route on a GPU,
/// which may measure launch costs (see choose_route()). On the flat route, unless config.flat_loop
/// is graph, get() launches the rounds after the small ones.
///
/// \param scratch  quadrature_scratch_bytes() bytes of device memory, aligned to 256 bytes, which
///                 must stay allocated until get() has returned. The default allocates it in stream
///                 order. A stream that is being captured requires it.
///
/// A stream that is being captured records a quadrature. Each launch of the graph runs it. The run
/// must live as long as the graph is launched.
///
/// \throws std::invalid_argument, unavailable, cuda_error
template <unsigned d, class Integrand>
detail::run_if<detail::quadrature::argument_types<d, Integrand>, quadrature_run<d, Integrand>>
quadrature_async(const quadrature_box<d>& box, const Integrand& f, cudaStream_t stream = nullptr,
                 const quadrature_config& config = {}, scratch_memory scratch = {}) {
  if constexpr (detail::quadrature::checked_types<d, Integrand>::are_valid) {
    return {box, f, stream, config, scratch};
  }
}

/// Integrates `f` over `box` and waits for `stream`. Parameters as of quadrature_async().
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <unsigned d, class Integrand>
quadrature_result quadrature(const quadrature_box<d>& box, const Integrand& f,
                             cudaStream_t stream = nullptr, const quadrature_config& config = {},
                             scratch_memory scratch = {}) {
  if constexpr (detail::quadrature::checked_types<d, Integrand>::are_valid) {
    return quadrature_async(box, f, stream, config, scratch).get();
  }
}

/// Returns the device memory that the caller must provide for a quadrature in d dimensions, in
/// bytes: that of all regions which config.max_evaluations allows.
/// \throws std::invalid_argument for a configuration that is not valid
template <unsigned d, class Integrand>
[[nodiscard]] std::size_t quadrature_scratch_bytes(const quadrature_config& config = {}) {
  validate(config);
  return quadrature_run<d, Integrand>::scratch_bytes(config);
}

}  // namespace ramify::inline RAMIFY_BUILD
