// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// nbody_system: bodies on the device that move under their own gravity. <ramify/nbody.cuh> states
/// its contract and includes this header.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/block_steps.cuh>
#include <ramify/nbody/gravity_run.cuh>
#include <ramify/nbody/leapfrog.cuh>
#include <ramify/nbody/refit.cuh>
#include <ramify/nbody/step_run.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// Bodies that stay on the device and move under their own gravity. Move-only; a moved-from system
/// has no bodies.
template <class Real>
class nbody_system {
  using vector = point<Real, 3>;

 public:
  /// Copies n bodies from device, managed, pinned or ordinary host memory, and calculates their
  /// accelerations. The copies keep the caller's order. Waits for `stream`.
  /// \throws std::invalid_argument naming an invalid option, array or body; cuda_error;
  /// device_launch_error; unavailable
  nbody_system(const vector* positions, const vector* velocities, const Real* masses, std::size_t n,
               cudaStream_t stream = nullptr, const nbody_config& config = {})
      : s_{.config = config,
           .stream = stream,
           .recorder = {config.trace, stream},
           .positions = {n, stream},
           .velocities = {n, stream},
           .accelerations = {n, stream},
           .masses = {n, stream},
           .potentials = {n, stream},
           .progress = {1, stream},
           .blocks = config.step_levels > 1 ? detail::nbody::block_steps(n, config, stream)
                                            : detail::nbody::block_steps()} {
    copy(s_.positions, positions, "nbody_system: positions");
    copy(s_.velocities, velocities, "nbody_system: velocities");
    copy(s_.masses, masses, "nbody_system: masses");
    clear_progress();
    build_forces({});
    if (n == 0) return;
    (void)checked_bounds(s_.velocities.data(), n, "nbody_system: velocities", stream,
                         s_.recorder.ticket());
    ++s_.report.host_grids;
    s_.recorder.read();
  }

  nbody_system(nbody_system&& other) noexcept : s_(std::exchange(other.s_, {})) {}
  nbody_system& operator=(nbody_system other) noexcept {
    std::swap(s_, other.s_);
    return *this;
  }

  /// Advances the bodies by `count` steps of dt: step_async() and get(). If config.step_levels is
  /// larger than 1, each of them is divided into block time steps (block_steps.cuh). A negative dt
  /// goes back in time. Copies no body to the host. Waits for the stream. After an exception the
  /// bodies are in the middle of a step.
  /// \throws std::invalid_argument if dt is neither 0 nor a normal Real, or if a body leaves the
  /// range of coordinates; cuda_error; device_launch_error
  void step(double dt, std::uint64_t count = 1) {
    check_dt(dt);
    for (; count > 0; --count) {
      if (s_.config.step_levels > 1) {
        take_block_steps(static_cast<Real>(dt));
      } else {
        step_async(dt).get();
      }
    }
  }

  /// Starts one step of dt. Asynchronous, as spatial_tree_async() is. Until get() of the returned
  /// run has returned, this system must exist and must not be moved, and only the members that
  /// return arrays may be called. Kernels that follow in the stream read the new state from these
  /// arrays, unless the build of the tree needs the host.
  ///
  /// A graph may capture a step, with scratch memory; each launch of the graph is then one step.
  /// The system and the scratch memory must exist as long as the graph is launched.
  /// \param scratch  memory of step_scratch_bytes(); empty: from the stream-ordered pool
  /// \throws std::invalid_argument if dt is neither 0 nor a normal Real, if config.step_levels is
  ///         larger than 1, or for bad scratch memory; unavailable; cuda_error
  nbody_step_run<Real> step_async(double dt, const scratch_memory& scratch = {}) {
    check_dt(dt);
    detail::check_field(s_.config.step_levels == 1, "nbody_config.step_levels",
                        s_.config.step_levels, "1 for nbody_system::step_async()");
    if (size() > 0) {
      check_scratch(scratch, step_scratch_bytes(), s_.stream, "nbody_system");
    }
    return {*this, static_cast<Real>(dt), scratch};
  }

  /// Returns the scratch memory of a step, in bytes. \throws cuda_error
  [[nodiscard]] std::size_t step_scratch_bytes() const {
    return gravity_run<Real>::scratch_bytes(size(), s_.config);
  }

  /// Returns the energies and momenta of the current state. Launches one grid and waits for it.
  /// \throws cuda_error
  [[nodiscard]] nbody_conserved conserved() {
    using namespace detail::nbody;
    const phase_range range("nbody: conserved");
    nbody_conserved sum{};
    if (size() == 0) return sum;
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>((size() - 1) / 1024 + 1, 512));
    const device_buffer<nbody_conserved> block_sums(blocks, s_.stream);
    check(launch(sum_conserved<Real>, {blocks, conserved_threads}, s_.stream, positions(),
                 velocities(), masses(), potentials(), static_cast<std::uint32_t>(size()),
                 block_sums.data(), s_.recorder.ticket())
              .code(),
          "summing energies");
    ++s_.report.host_grids;
    std::vector<nbody_conserved> parts(blocks);
    check(cudaMemcpyAsync(parts.data(), block_sums.data(), blocks * sizeof(nbody_conserved),
                          cudaMemcpyDeviceToHost, s_.stream),
          "reading energies");
    check(cudaStreamSynchronize(s_.stream), "waiting for energies");
    s_.recorder.read();
    for (const nbody_conserved& part : parts) sum = add_conserved{}(sum, part);
    return sum;
  }

  // The arrays are in device memory, in the caller's order, and valid until the next step.
  [[nodiscard]] const vector* positions() const { return s_.positions.data(); }
  [[nodiscard]] const vector* velocities() const { return s_.velocities.data(); }
  [[nodiscard]] const vector* accelerations() const { return s_.accelerations.data(); }
  [[nodiscard]] const Real* masses() const { return s_.masses.data(); }
  [[nodiscard]] const Real* potentials() const { return s_.potentials.data(); }
  [[nodiscard]] std::size_t size() const { return s_.positions.size(); }
  [[nodiscard]] cudaStream_t stream() const { return s_.stream; }

  /// Returns the report: sums over all work so far, but nodes and route of the last force
  /// calculation.
  [[nodiscard]] const nbody_report& report() const { return s_.report; }

 private:
  friend class nbody_step_run<Real>;

  /// All data members, so that one exchange moves them.
  struct state {
    nbody_config config;
    cudaStream_t stream = nullptr;
    detail::runtime::trace_recorder recorder{nullptr, nullptr};  // all grids except those of forces
    device_buffer<vector> positions, velocities, accelerations;
    device_buffer<Real> masses, potentials;
    device_buffer<detail::nbody::step_progress> progress;
    detail::nbody::block_steps blocks;      // only if config.step_levels is larger than 1
    detail::nbody::kept_tree<Real> kept{};  // likewise
    nbody_report report{};
  };

  static void check_dt(double dt) {
    const double length = std::abs(dt);
    constexpr double least = std::numeric_limits<Real>::min();
    if (length == 0 || (length >= least && length <= std::numeric_limits<Real>::max())) return;
    throw std::invalid_argument(
        "nbody_system: dt must be finite, and 0 or a normal number of the bodies' type");
  }

  template <class T>
  void copy(const device_buffer<T>& to, const T* from, const char* name) {
    if (size() == 0) return;
    if (from == nullptr) throw std::invalid_argument("nbody_system: an array of bodies is null");
    detail::check_alignment(from, alignof(T), name);
    check(cudaMemcpyAsync(to.data(), from, size() * sizeof(T), cudaMemcpyDefault, s_.stream),
          "copying the bodies");
  }

  void clear_progress() {
    clear_memory(s_.progress.data(), 1, s_.stream, "clearing the progress of a step");
  }

  detail::nbody::device_arrays<Real> bodies() const {
    return {positions(), masses(), size(), s_.accelerations.data(), s_.potentials.data(), size()};
  }

  gravity_run<Real> start_forces(const scratch_memory& scratch,
                                 const detail::nbody::active_bodies& active = {}) {
    return {bodies(), 0, s_.config, s_.stream, scratch, active};
  }

  /// Calculates forces by a new tree, which it keeps for refits if there are block steps. Waits for
  /// the stream.
  void build_forces(const detail::nbody::active_bodies& active) {
    s_.kept = {};  // the build may use its memory
    spatial_tree<Real, 3> tree;
    const nbody_report part = start_forces({}, active).get(tree);
    add(part);
    if (s_.config.step_levels > 1) s_.kept = detail::nbody::kept_tree<Real>(std::move(tree));
  }

  /// Takes a step of dt by block time steps. Waits for the stream.
  void take_block_steps(Real dt) {
    if (size() == 0) return;
    const phase_range range("nbody: block steps");
    const detail::nbody::moving_bodies<Real> all{
        bodies(), s_.positions.data(), s_.velocities.data(), s_.stream, s_.recorder.ticket()};
    detail::nbody::step_forces forces{
        s_.kept, all, s_.config, s_.recorder,
        [&](const detail::nbody::active_bodies& active) { build_forces(active); }};
    s_.report.host_grids += s_.blocks.take(all, dt, forces);
    forces.add_to(s_.report, s_.blocks.progress_of_refits());
    s_.report.bodies_on_level = s_.blocks.bodies_on_level();
  }

  void launch_drift(Real dt) {
    detail::launch_each(detail::nbody::kick_and_drift<Real>, size(), s_.stream,
                        "kicking and drifting", s_.positions.data(), s_.velocities.data(),
                        accelerations(), static_cast<std::uint32_t>(size()), dt, s_.progress.data(),
                        s_.recorder.ticket());
  }
  void launch_kick(Real dt, const gravity_run<Real>& forces) {
    detail::launch_each(detail::nbody::kick<Real>, size(), s_.stream, "kicking",
                        s_.velocities.data(), accelerations(), static_cast<std::uint32_t>(size()),
                        dt, forces.progress(), s_.progress.data(), s_.recorder.ticket());
  }

  /// Adds the report of a part of the work.
  void add(nbody_report part) {
    add_part(part, s_.report);
    part.interactions += s_.report.interactions;
    part.force_calculations += s_.report.force_calculations;
    part.bodies_on_level = s_.report.bodies_on_level;
    part.scratch_bytes = std::max(part.scratch_bytes, s_.report.scratch_bytes);
    s_.report = std::move(part);
  }

  state s_;
};

}  // namespace ramify::inline RAMIFY_BUILD
