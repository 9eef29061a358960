// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// nbody_system for CUDA code: bodies that live on the device and move under their own gravity.
///
///     ramify::nbody_system<float> cluster(positions, velocities, masses, n, {}, stream);
///     cluster.step(0.01, 100);
///     kernel<<<...>>>(cluster.positions());
///
/// Bodies     as <ramify/nbody/barnes_hut.cuh>; copied from device, managed, pinned or ordinary host
///            memory, in the caller's order, which stays.
/// Step       leapfrog, kick-drift-kick, one force calculation a step: second order in dt,
///            time-reversible (with -dt) but for rounding. One dt for all bodies: a close encounter
///            wants softening, or a small dt.
/// Memory     of floats: 44 bytes a body, and barnes_hut's. The host copies no body between steps.
/// Stream     all work is put into the stream given, which must live as long as the system. step()
///            waits for it.
/// Errors     as <ramify/nbody/barnes_hut.cuh>, from the constructor too, which calculates the first
///            forces. A body that leaves the range of coordinates is one. After an error in step()
///            the bodies are somewhere within a step.
/// Source     Hockney and Eastwood, Computer Simulation Using Particles, 1981.
/// Not for    orbits of a few planets over ages, which want higher orders; tight binaries, which
///            want a dt of their own.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/barnes_hut.cuh>
#include <ramify/nbody/leapfrog.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// Move-only; moved-from it has no bodies.
template <class Real>
class nbody_system {
  using vector = point<Real, 3>;

 public:
  /// Copies n bodies, and calculates their forces.
  nbody_system(const vector* positions, const vector* velocities, const Real* masses, std::size_t n,
               const gravity_config& config = {}, gravity_method method = gravity_method::tree,
               cudaStream_t stream = nullptr)
      : n_(n),
        stream_(stream),
        config_(config),
        method_(method),
        recorder_(config.trace, stream),
        tree_code_(config),
        positions_(n, stream),
        velocities_(n, stream),
        accelerations_(n, stream),
        masses_(n, stream),
        potentials_(n, stream) {
    if (to_string(method) == "?") {
      throw std::invalid_argument("nbody_system: method is none of the enumerators");
    }
    copy(positions_.data(), positions);
    copy(velocities_.data(), velocities);
    copy(masses_.data(), masses);
    find_forces();
    if (n > 0) {
      (void)checked_extent(velocities_.data(), n, "nbody_system: velocities", stream,
                           recorder_.ticket());
      ++report_.host_grids;
      recorder_.read();
    }
  }

  nbody_system(nbody_system&& other) noexcept
      : n_(std::exchange(other.n_, 0)),
        stream_(other.stream_),
        config_(other.config_),
        method_(other.method_),
        recorder_(std::move(other.recorder_)),
        tree_code_(std::move(other.tree_code_)),
        positions_(std::move(other.positions_)),
        velocities_(std::move(other.velocities_)),
        accelerations_(std::move(other.accelerations_)),
        masses_(std::move(other.masses_)),
        potentials_(std::move(other.potentials_)),
        report_(std::exchange(other.report_, {})) {}
  nbody_system& operator=(nbody_system other) noexcept {
    std::swap(n_, other.n_);
    std::swap(stream_, other.stream_);
    std::swap(config_, other.config_);
    std::swap(method_, other.method_);
    std::swap(recorder_, other.recorder_);
    std::swap(tree_code_, other.tree_code_);
    std::swap(positions_, other.positions_);
    std::swap(velocities_, other.velocities_);
    std::swap(accelerations_, other.accelerations_);
    std::swap(masses_, other.masses_);
    std::swap(potentials_, other.potentials_);
    std::swap(report_, other.report_);
    return *this;
  }

  /// Goes `count` steps of dt on, or back if dt is negative. \throws std::invalid_argument if dt is
  /// not finite as a Real
  void step(double dt, std::uint64_t count = 1) {
    if (!(std::abs(dt) <= std::numeric_limits<Real>::max())) {
      throw std::invalid_argument("nbody_system: dt must be finite, in the bodies' type too");
    }
    if (n_ == 0) return;
    const auto n = static_cast<std::uint32_t>(n_);
    const auto h = static_cast<Real>(dt);
    for (; count > 0; --count) {
      run(kick_and_drift<Real>, "kicking and drifting", positions_.data(), velocities_.data(),
          accelerations_.data(), n, h);
      find_forces();
      run(kick<Real>, "kicking", velocities_.data(), accelerations_.data(), n, h);
    }
    check(cudaStreamSynchronize(stream_), "waiting for a step");
    recorder_.read();
  }

  /// Energies and momenta now. Waits.
  [[nodiscard]] nbody_conserved conserved() {
    nbody_conserved sum{};
    if (n_ == 0) return sum;
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>((n_ - 1) / 1024 + 1, 512));
    const device_buffer<nbody_conserved> of_blocks(blocks, stream_);
    check(launch(sum_conserved<Real>, {blocks, conserved_threads}, stream_, positions_.data(),
                 velocities_.data(), masses_.data(), potentials_.data(),
                 static_cast<std::uint32_t>(n_), of_blocks.data(), recorder_.ticket())
              .code(),
          "summing energies");
    ++report_.host_grids;
    std::vector<nbody_conserved> parts(blocks);
    check(cudaMemcpyAsync(parts.data(), of_blocks.data(), blocks * sizeof(nbody_conserved),
                          cudaMemcpyDeviceToHost, stream_),
          "reading energies");
    check(cudaStreamSynchronize(stream_), "waiting for energies");
    recorder_.read();
    for (const nbody_conserved& part : parts) sum = add_conserved{}(sum, part);
    return sum;
  }

  // In device memory, in the caller's order; valid until the next step.
  [[nodiscard]] const vector* positions() const { return positions_.data(); }
  [[nodiscard]] const vector* velocities() const { return velocities_.data(); }
  [[nodiscard]] const vector* accelerations() const { return accelerations_.data(); }
  [[nodiscard]] const Real* masses() const { return masses_.data(); }
  [[nodiscard]] const Real* potentials() const { return potentials_.data(); }
  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// All that was done so far; the nodes and the route are those of the last force calculation.
  [[nodiscard]] const gravity_report& report() const { return report_; }

 private:
  void find_forces() {
    gravity_report now =
        method_ == gravity_method::tree
            ? tree_code_.accelerations(positions_.data(), masses_.data(), n_, accelerations_.data(),
                                       potentials_.data(), stream_)
            : direct_gravity(positions_.data(), masses_.data(), n_, accelerations_.data(),
                             potentials_.data(), stream_, config_, {}, config_.trace);
    add_part(now, report_);
    now.interactions += report_.interactions;
    now.scratch_bytes = std::max(now.scratch_bytes, report_.scratch_bytes);
    report_ = now;
  }

  template <class T>
  void copy(T* to, const T* from) {
    if (n_ == 0) return;
    if (from == nullptr) throw std::invalid_argument("nbody_system: an array of bodies is null");
    check(cudaMemcpyAsync(to, from, n_ * sizeof(T), cudaMemcpyDefault, stream_),
          "copying the bodies");
  }

  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), const char* doing, const Arguments&... arguments) {
    constexpr unsigned threads = 256;
    const auto blocks = static_cast<unsigned>((n_ - 1) / threads + 1);
    check(launch(kernel, {blocks, threads}, stream_, arguments..., recorder_.ticket()).code(),
          doing);
    ++report_.host_grids;
  }

  std::size_t n_;
  cudaStream_t stream_;
  gravity_config config_;
  gravity_method method_;
  trace_recorder recorder_;  // of what is not the forces'
  barnes_hut<Real> tree_code_;
  device_buffer<vector> positions_, velocities_, accelerations_;
  device_buffer<Real> masses_, potentials_;
  gravity_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
