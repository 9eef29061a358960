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

/// Bodies that stay on the device and move under their own gravity, and under what an External adds
/// to it (external.cuh). Move-only; a moved-from system has no bodies.
template <class Real, class External = no_external>
class nbody_system {
  using vector = point<Real, 3>;
  static constexpr bool has_external = !std::is_same_v<External, no_external>;

 public:
  /// Copies n bodies from device, managed, pinned or ordinary host memory, and calculates their
  /// accelerations. The copies keep the caller's order. Waits for the stream.
  /// \param env  the environment of all work of the system. Its stream, memory and trace must
  ///             outlive the system; its memory: nbody_system_scratch_bytes()
  /// \throws std::invalid_argument naming an invalid option, array or body; std::length_error;
  ///         cuda_error; device_launch_error; unavailable
  nbody_system(const vector* positions, const vector* velocities, const Real* masses, std::size_t n,
               const nbody_options& options, const environment& env = {}) requires(!has_external)
      : nbody_system(detail::run_setup("nbody_system", detail::by_get(env)), positions, velocities,
                     masses, n, {}, options, env) {}
  /// Begins with the default options.
  nbody_system(const vector* positions, const vector* velocities, const Real* masses, std::size_t n,
               const environment& env = {}) requires(!has_external)
      : nbody_system(positions, velocities, masses, n, nbody_options{}, env) {}

  /// Copies n bodies, as above. `external` acts on them in each step; what it points to must be in
  /// device memory, and outlive the system. The time of the system is 0.
  /// \throws as above
  nbody_system(const vector* positions, const vector* velocities, const Real* masses, std::size_t n,
               const External& external, const nbody_options& options,
               const environment& env = {}) requires(has_external)
      : nbody_system(detail::run_setup("nbody_system", detail::by_get(env)), positions, velocities,
                     masses, n, external, options, env) {}

  /// The other object may then only be destroyed or assigned.
  nbody_system(nbody_system&& other) noexcept : s_(std::exchange(other.s_, {})) {}
  /// Releases the own bodies, and takes over those of the other system.
  nbody_system& operator=(nbody_system other) noexcept {
    std::swap(s_, other.s_);
    return *this;
  }

  /// Advances the bodies by `count` steps of dt: step_async() and get(). If options.step_levels is
  /// larger than 1, each of them is divided into block time steps (block_steps.cuh). A negative dt
  /// goes back in time. Copies no body to the host. Waits for the stream. After an exception the
  /// bodies are in the middle of a step.
  /// \throws std::invalid_argument if dt is neither 0 nor a normal Real, or if a body leaves the
  /// range of coordinates; cuda_error; device_launch_error
  void step(double dt, std::uint64_t count = 1) {
    check_dt(dt);
    if (count == 0 || size() == 0) return;
    detail::run_setup setup("nbody_system", detail::by_get(s_.env));
    for (; count > 0; --count) {
      if (s_.options.step_levels > 1) {
        take_block_steps(setup, static_cast<Real>(dt));
      } else {
        static_cast<void>(run_of_step(setup, *this, static_cast<Real>(dt)).get());
      }
    }
  }

  /// Starts one step of dt. Returns without waiting, except that the first automatic route on a GPU
  /// measures launches (see choose_route()), and where the stream cannot complete the build of the
  /// tree (environment::completion). Until get() of the returned run has returned, this system must
  /// exist and must not be moved, and only the members that return arrays may be called. Kernels
  /// that enter the stream after the call read the new state from these arrays. With
  /// completion::by_get, the new state is complete only after get(). get() throws
  /// std::invalid_argument if a body leaves the range of coordinates.
  ///
  /// A graph may capture a step, if memory was handed in to the constructor; each launch of the
  /// graph is then one step. Call get() after each launch, or once after several. The system must
  /// exist as long as the graph is launched.
  /// \throws std::invalid_argument if dt is neither 0 nor a normal Real, or if options.step_levels
  ///         is larger than 1; unavailable; cuda_error
  async_run<nbody_report> step_async(double dt) {
    check_dt(dt);
    detail::check_field(s_.options.step_levels == 1, "nbody_options.step_levels",
                        s_.options.step_levels, "1 for nbody_system::step_async()");
    detail::run_setup setup("nbody_system", s_.env);
    if (setup.captured && size() > 0) {
      check_scratch(setup.given, detail::nbody::gravity_bytes<Real>(size(), s_.options), s_.stream,
                    setup.algorithm);
    }
    return std::make_unique<run_of_step>(setup, *this, static_cast<Real>(dt));
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
    check(launch(sum_conserved<Real, External>, {blocks, conserved_threads}, s_.stream, positions(),
                 velocities(), masses(), potentials(), static_cast<std::uint32_t>(size()),
                 block_sums.data(), s_.recorder.ticket(), external())
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
  /// Returns a device array of the positions.
  [[nodiscard]] const vector* positions() const { return s_.positions.data(); }
  /// Returns a device array of the velocities.
  [[nodiscard]] const vector* velocities() const { return s_.velocities.data(); }
  /// Kernels between steps may change the velocities.
  [[nodiscard]] vector* velocities() { return s_.velocities.data(); }
  /// Returns a device array of the accelerations.
  [[nodiscard]] const vector* accelerations() const { return s_.accelerations.data(); }
  /// Returns a device array of the masses.
  [[nodiscard]] const Real* masses() const { return s_.masses.data(); }
  /// Returns a device array of the potentials.
  [[nodiscard]] const Real* potentials() const { return s_.potentials.data(); }
  /// Returns the number of bodies.
  [[nodiscard]] std::size_t size() const { return s_.positions.size(); }
  /// Returns the stream of the steps.
  [[nodiscard]] cudaStream_t stream() const { return s_.stream; }

  /// Returns the sum of all steps so far. Waits for the stream. \throws cuda_error
  [[nodiscard]] double time() const requires(has_external) {
    return read_back(s_.time.data(), s_.stream, "reading the time of a system");
  }

  /// Returns the report: sums over all work so far, but nodes and route of the last force
  /// calculation.
  [[nodiscard]] const nbody_report& report() const { return s_.report; }

 private:
  using run_of_step = detail::nbody::step_run<Real, External>;
  friend run_of_step;

  /// All data members, so that one exchange moves them.
  struct state {
    nbody_options options;
    environment env;
    cudaStream_t stream = nullptr;                               // that of the environment
    detail::runtime::trace_recorder recorder{nullptr, nullptr};  // all grids except those of forces
    device_buffer<vector> positions, velocities, accelerations;
    device_buffer<Real> masses, potentials;
    device_buffer<detail::nbody::step_progress> progress;
    External external{};
    device_buffer<double> time;             // only if there is an External
    detail::nbody::block_steps blocks;      // only if options.step_levels is larger than 1
    detail::nbody::kept_tree<Real> kept{};  // likewise
    nbody_report report{};
  };

  nbody_system(detail::run_setup&& setup, const vector* positions, const vector* velocities,
               const Real* masses, std::size_t n, const External& external,
               const nbody_options& options, const environment& env)
      : s_{.options = detail::nbody::checked<Real>(options),
           .env = env,
           .stream = setup.stream,
           .recorder = {setup.trace, setup.stream},
           .positions = {n, setup.stream},
           .velocities = {n, setup.stream},
           .accelerations = {n, setup.stream},
           .masses = {n, setup.stream},
           .potentials = {n, setup.stream},
           .progress = {1, setup.stream},
           .external = external,
           .time = {has_external ? 1u : 0u, setup.stream},
           .blocks = options.step_levels > 1 ? detail::nbody::block_steps(n, options, setup.stream)
                                             : detail::nbody::block_steps()} {
    copy(s_.positions, positions, "nbody_system: positions");
    copy(s_.velocities, velocities, "nbody_system: velocities");
    copy(s_.masses, masses, "nbody_system: masses");
    clear_progress();
    if (has_external) clear_memory(s_.time.data(), 1, s_.stream, "clearing the time of a system");
    build_forces(setup, {});
    if (n == 0) return;
    (void)checked_bounds(s_.velocities.data(), n, "nbody_system: velocities", setup.stream,
                         s_.recorder.ticket());
    ++s_.report.host_grids;
    s_.recorder.read();
  }

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

  /// Calculates forces by a new tree, which it keeps for refits if there are block steps. Waits for
  /// the stream.
  void build_forces(detail::run_setup& setup, const detail::nbody::active_bodies& active) {
    s_.kept = {};  // the build may use its memory
    detail::nbody::gravity_run<Real> forces(setup, bodies(), 0, s_.options, active);
    add(forces.get());
    if (s_.options.step_levels > 1) {
      s_.kept = detail::nbody::kept_tree<Real>(forces.take_tree());
    }
  }

  /// Takes a step of dt by block time steps. Waits for the stream.
  void take_block_steps(detail::run_setup& setup, Real dt) {
    const phase_range range("nbody: block steps");
    const detail::nbody::moving_bodies<Real> all{
        bodies(), s_.positions.data(), s_.velocities.data(), s_.stream, s_.recorder.ticket()};
    detail::nbody::step_forces forces{
        s_.kept, all, s_.options, s_.recorder,
        [&](const detail::nbody::active_bodies& active) { build_forces(setup, active); }};
    s_.report.host_grids += s_.blocks.take(all, dt, forces, external()) + advance_time(dt);
    forces.add_to(s_.report, s_.blocks.progress_of_refits());
    s_.report.bodies_on_level = s_.blocks.bodies_on_level();
  }

  /// Number of grids of a step, besides those of its forces.
  static constexpr unsigned grids_of_step = has_external ? 3 : 2;

  [[nodiscard]] detail::nbody::external_forces<Real, External> external() const {
    if constexpr (has_external) {
      return {s_.external, s_.time.data(), masses()};
    } else {
      return {};
    }
  }

  /// Puts the advance of the time by dt into the stream. Returns the number of grids.
  unsigned advance_time(Real dt) {
    if constexpr (has_external) {
      check(launch(detail::nbody::advance_time<Real>, {1, 1}, s_.stream, s_.time.data(), dt,
                   s_.progress.data(), s_.recorder.ticket())
                .code(),
            "advancing the time");
    }
    return has_external ? 1 : 0;
  }

  void launch_drift(Real dt) {
    detail::launch_each(detail::nbody::kick_and_drift<Real, External>, size(), s_.stream,
                        "kicking and drifting", s_.positions.data(), s_.velocities.data(),
                        accelerations(), static_cast<std::uint32_t>(size()), dt, s_.progress.data(),
                        s_.recorder.ticket(), external());
    (void)advance_time(dt);
  }
  void launch_kick(Real dt, const detail::nbody::gravity_run<Real>& forces) {
    detail::launch_each(detail::nbody::kick<Real, External>, size(), s_.stream, "kicking",
                        s_.velocities.data(), accelerations(), static_cast<std::uint32_t>(size()),
                        dt, forces.progress(), s_.progress.data(), s_.recorder.ticket(),
                        positions(), external());
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

/// Returns the memory of a system of n bodies, in bytes: that of its force calculations.
/// \throws std::invalid_argument, cuda_error
template <class Real>
[[nodiscard]] std::size_t nbody_system_scratch_bytes(std::size_t n,
                                                     const nbody_options& options = {}) {
  return detail::nbody::gravity_bytes<Real>(n, options);
}

}  // namespace ramify::inline RAMIFY_BUILD
