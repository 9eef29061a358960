// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// find_collisions(): the pairs of bodies that are closer than the sum of their radii, by a spatial
/// tree over the bodies. Public: <ramify/nbody.cuh> includes this header.
///
///     body_pair* pairs;         // device memory for `capacity` pairs
///     const auto report = ramify::find_collisions(x, radii, n, pairs, capacity);
///     report.collisions         // --> the number of all pairs, also if it exceeds the capacity
///
///     positions <-- [(0 0 0), (3 0 0), (1 0 0)]   radii <-- [.6, .6, .6]   pairs --> [(0, 2)]
///
///     1 build                the octree over the bodies: a spatial tree
///     2 find_invalid_radius  the first body with an invalid coordinate or radius
///     3 count_collisions     each body counts its pairs; a prefix sum gives their places
///     4 write_collisions     each body with pairs finds them again, and writes them
///
/// Join: the host waits for the grids in the stream.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/collision_search.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/spatial_tree.cuh>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The parts of the scratch memory of a search.
struct collision_memory {
  collision_memory(memory_layout& memory, std::size_t n)
      : progress(memory.take<collision_progress>(1)),
        counts(memory.take<std::uint32_t>(n)),
        offsets(memory.take<std::uint64_t>(n)) {}

  collision_progress* progress;
  std::uint32_t* counts;
  std::uint64_t* offsets;
};

/// A search for collisions.
template <class Real>
class collision_run final : public started_run<nbody_collisions> {
  using tree_build = spatial_tree::build_over<Real, 3>;

 public:
  /// Puts the search into the stream. \throws std::invalid_argument; cuda_error; unavailable
  collision_run(run_setup& setup, const collision_search<Real>& search)
      : started_run(setup),
        recorder_(setup.trace, setup.stream),
        scratch_(setup.given, layout_bytes<collision_memory>(search.n), setup.stream,
                 setup.algorithm),
        search_(search) {
    memory_layout layout(scratch_.data());
    const collision_memory memory(layout, search.n);
    search_.progress = memory.progress;
    search_.counts = memory.counts;
    search_.offsets = memory.offsets;
    search_.trace = recorder_.ticket();
    build_ = tree_build::start(setup, {search.positions, search.n, {}, false});
    launch(build_->view());
    complete_in_stream(build_->completes_in_stream());
  }

 private:
  static constexpr unsigned grids = 3;

  /// Waits for the search, completes it if necessary, and returns its result.
  /// \throws std::invalid_argument naming the first invalid body; cuda_error; device_launch_error
  nbody_collisions finish() override {
    collision_progress now = read_progress();
    throw_if_invalid(now.first_invalid);
    if (tree_.view().point_count == 0) tree_ = build_->get();
    nbody_collisions result;
    static_cast<run_report&>(result) = tree_.report();
    result.scratch_bytes += scratch_.size();
    result.host_grids += grids;
    if (now.complete == 0) {
      launch(tree_.view());
      result.host_grids += grids;
      now = read_progress();
    }
    recorder_.read();
    result.bodies = search_.n;
    result.collisions = now.collisions;
    result.written = std::min<std::uint64_t>(now.collisions, search_.capacity);
    return result;
  }

  /// Launches the phases after the build.
  void launch(const spatial_tree_view<Real, 3>& tree) const {
    const cudaStream_t stream = choices.stream;
    clear_memory(search_.progress, 1, stream, "clearing the progress of a search");
    check(cudaMemsetAsync(&search_.progress->first_invalid, 0xff, sizeof(std::uint32_t), stream),
          "clearing the first invalid body");
    runtime::launch_each(find_invalid_radius<Real>, search_.n, stream, "checking the bodies",
                         search_, std::sqrt(std::numeric_limits<Real>::min()),
                         largest_coordinate<Real>());
    runtime::launch_each(count_collisions<Real>, search_.n, stream, "counting collisions", tree,
                         search_);
    scan_counts(search_.counts, search_.n, search_.offsets, stream);
    runtime::launch_each(write_collisions<Real>, search_.n, stream, "writing collisions", tree,
                         search_);
  }

  [[nodiscard]] collision_progress read_progress() const {
    return read_back(search_.progress, choices.stream, "reading the progress of a search");
  }

  /// \throws std::invalid_argument naming the body, if there is an invalid one; cuda_error
  void throw_if_invalid(std::uint32_t i) const {
    if (i == no_invalid_body) return;
    if (search_.radii.each != nullptr) {
      const Real radius =
          read_back(search_.radii.each + i, choices.stream, "reading an invalid body");
      std::ostringstream text;
      text << "find_collisions: radii[" << i << "]";
      const Real least = std::sqrt(std::numeric_limits<Real>::min());
      check_field(radius == 0 || (radius >= least && radius <= largest_coordinate<Real>()),
                  text.str(), radius, "0, or finite with a square that is a normal number");
    }
    throw_invalid_position(i, read_back(search_.positions + i, choices.stream, "reading a body"),
                           choices.algorithm);
  }

  trace_recorder recorder_;  // records all grids except those of the tree
  scratch_space scratch_;
  collision_search<Real> search_;
  std::unique_ptr<tree_build> build_;
  ramify::spatial_tree<Real, 3> tree_;
};

/// Starts a search. \see ramify::find_collisions_async()
template <class Real>
async_run<nbody_collisions> start_collisions(const point<Real, 3>* positions,
                                             const body_radii<Real>& radii, std::size_t n,
                                             body_pair* pairs, std::size_t capacity,
                                             std::uint64_t* count, const environment& env) {
  const phase_range range("nbody: start search for collisions");
  constexpr const char* name = "find_collisions";
  run_setup setup(name, env);
  if (setup.captured) throw unavailable("find_collisions: a graph cannot capture the call");
  check_field(setup.given.data() == nullptr, "find_collisions: environment.memory", "a span",
              "empty or a resource");
  check_field(n <= spatial_shape<3>::max_points, "find_collisions: n", n, "less than 2^31");
  check_field(capacity >> 60 == 0, "find_collisions: capacity", capacity, "less than 2^60");
  if (capacity > 0) check_device_access(pairs, "find_collisions: pairs");
  if (count != nullptr) check_device_access(count, "find_collisions: count");
  if (n == 0) {
    if (count != nullptr) clear_memory(count, 1, setup.stream, "clearing a count");
    return run_without_work(setup, nbody_collisions{}, "there are no bodies");
  }
  check_device_access(positions, "find_collisions: positions");
  if (radii.each != nullptr) check_device_access(radii.each, "find_collisions: radii");
  check_overlaps(
      name, std::array{input_array(positions, n, "positions"), input_array(radii.each, n, "radii"),
                       output_array(pairs, capacity, "pairs"), output_array(count, 1, "count")});
  return std::make_unique<collision_run<Real>>(setup,
                                               collision_search<Real>{positions,
                                                                      radii,
                                                                      static_cast<std::uint32_t>(n),
                                                                      pairs,
                                                                      capacity,
                                                                      count,
                                                                      nullptr,
                                                                      nullptr,
                                                                      nullptr,
                                                                      {}});
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts to find the pairs of bodies whose distance is less than the sum of their radii. Returns
/// without waiting where the stream can complete the build of the tree (environment::completion).
/// Work that enters the stream after the call sees the pairs and the count. The arrays are in
/// device, managed or pinned memory, must not overlap, and must exist until get() has returned.
/// get() throws std::invalid_argument naming the first invalid body; then nothing is written. Two
/// calls with the same input write the same pairs in the same order, by either route. A graph
/// cannot capture the call.
///
/// Complexity: O(n log n + pairs) for evenly distributed bodies of similar radii. A body visits the
/// bodies within twice its radius.
/// \param radii     n radii, in the unit of the positions: 0, which collides with nothing of radius
///                  0, or numbers with a normal square
/// \param pairs     `capacity` pairs, which are written as far as they fit; first < second, in the
///                  caller's order
/// \param count     null, or one number in device memory: the number of all pairs is written to it
/// \param env       its memory is empty or a resource
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real>
async_run<nbody_collisions> find_collisions_async(const point<Real, 3>* positions,
                                                  const Real* radii, std::size_t n,
                                                  body_pair* pairs, std::size_t capacity,
                                                  std::uint64_t* count = nullptr,
                                                  const environment& env = {}) {
  if (n > 0 && radii == nullptr) throw std::invalid_argument("find_collisions: radii is null");
  return detail::nbody::start_collisions<Real>(positions, {radii, 0}, n, pairs, capacity, count,
                                               env);
}

/// Starts to find the pairs of bodies that are closer than `distance`; see the overload with radii.
/// \throws std::invalid_argument, also if `distance` is neither 0 nor has a normal square;
///         unavailable, cuda_error
template <class Real>
async_run<nbody_collisions> find_collisions_async(const point<Real, 3>* positions,
                                                  std::type_identity_t<Real> distance,
                                                  std::size_t n, body_pair* pairs,
                                                  std::size_t capacity,
                                                  std::uint64_t* count = nullptr,
                                                  const environment& env = {}) {
  const Real least = 2 * std::sqrt(std::numeric_limits<Real>::min());
  detail::check_field(
      distance == 0 || (distance >= least && distance <= detail::nbody::largest_coordinate<Real>()),
      "find_collisions: distance", distance, "0, or finite with a square that is a normal number");
  return detail::nbody::start_collisions<Real>(positions, {nullptr, distance / 2}, n, pairs,
                                               capacity, count, env);
}

/// Finds the pairs of bodies whose distance is less than the sum of their radii, or, with a number
/// in place of `radii`, less than this number: find_collisions_async() and get(). Waits for the
/// stream.
/// \throws std::invalid_argument before anything is written; unavailable; cuda_error;
///         device_launch_error
template <class Real, class Radii>
nbody_collisions find_collisions(const point<Real, 3>* positions, const Radii& radii, std::size_t n,
                                 body_pair* pairs, std::size_t capacity,
                                 std::uint64_t* count = nullptr, const environment& env = {}) {
  return find_collisions_async(positions, radii, n, pairs, capacity, count, detail::waiting(env))
      .get();
}

}  // namespace ramify::inline RAMIFY_BUILD
