// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs on adaptive meshes for the tests, described by a `setting`. Only runs.cpp instantiates
/// amr_run, because each instantiation takes many seconds to compile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ramify/amr/config.hpp>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/environment.hpp>
#include <vector>

namespace tests {

inline constexpr bool subcycling[] = {false, true};

/// The physics: a scalar in blocks of 4 cells along each edge, or a gas in blocks of 8.
enum class matter { scalar_2d, scalar_3d, gas_2d, gas_3d };

[[nodiscard]] constexpr int dimensions_of(matter m) {
  return m == matter::scalar_2d || m == matter::gas_2d ? 2 : 3;
}
[[nodiscard]] constexpr int cells_of(matter m) {
  return m == matter::scalar_2d || m == matter::scalar_3d ? 4 : 8;
}

/// The velocity of a scalar.
enum class flow_kind {
  uniform,    ///< setting::velocity
  vortex,     ///< reversing_vortex with the period `rate`
  expanding,  ///< `rate` times the position: a uniform scalar q stays uniform, dq/dt = -dim rate q
};

/// The initial state.
enum class initial_kind {
  uniform,
  linear,    ///< scalar: level + slope * position; prescribed sides continue it
  gaussian,  ///< scalar: gaussian at `center` with `width`
  hump,      ///< scalar: cosine_hump at `center` with radius `width`
  noise,     ///< a hash of the position; smooth on no mesh
  sod,       ///< Sod's shock tube along `axis`
  blast,     ///< Sedov's blast at `center` with radius `width`
  sound,     ///< a small wave with `crests` along each axis
  entropy,   ///< an entropy wave with `crests` along each axis, which moves with `velocity`
  pulses,    ///< waves of a gas, periodic in the unit square
  poisoned,  ///< a gas with a NaN at `center`
  tearing,   ///< a gas that moves apart at `center` along x
};

/// The refinement criterion.
enum class criterion_kind {
  gradient,  ///< gradient_criterion of `variable`
  loehner,   ///< loehner_criterion of `variable`
  value,     ///< (the primitive value of `variable` - `offset`) * `scale`
  window,    ///< 1 where `value` would be between -1 and 1, else 0
  box,       ///< 2 in blocks that overlap box[level], else 0
  // ---- rules for blocks: 2 in blocks that obey the rule with all their ancestors, else 0 ----
  everywhere,
  nowhere,
  fractal,  ///< all blocks below level `depth` - 4, then only children 0 and 3 (0, 3, 5, 6)
  sphere,   ///< level 0, then blocks that meet the sphere of radius 1/4 around the center
  point,    ///< the block that contains (1/3, ...)
  corner,   ///< the block at the origin
};

struct box {
  double lower[3];
  double upper[3];
};

struct setting {
  tests::matter matter = tests::matter::gas_2d;
  ramify::amr_options options;
  ramify::environment env;

  // ---- the physics ----
  double gamma = 1.4;
  double floor = 1e-12;  ///< of the density and the pressure of a gas
  flow_kind flow = flow_kind::uniform;
  double rate = 1;
  double supply = 0;          ///< scalar: an explicit source, supply + growth * time
  double growth = 0;          ///< scalar
  double decay = 0;           ///< scalar: an implicit source, -decay * value
  bool frozen_sides = false;  ///< scalar: prescribed sides have the state of time 0

  // ---- the initial state ----
  initial_kind initial = initial_kind::uniform;
  double level = 1;  ///< the uniform value
  double slope[3] = {};
  double center[3] = {0.5, 0.5, 0.5};
  double width = 0.1;
  double velocity[3] = {};
  double crests[3] = {1, 0, 0};
  double amplitude = 1e-6;
  int axis = 0;
  double unit = 1;  ///< multiplies the density and the pressure of a gas

  // ---- the criterion ----
  criterion_kind criterion = criterion_kind::gradient;
  int variable = 0;
  double offset = 0;
  double scale = 1;
  int depth = 0;
  box boxes[3] = {};

  /// On the CPU executor: the first evaluation of the criterion in advance() shrinks the launch
  /// pool to so many slots, while the run still uses the former limit. 0: never.
  std::size_t pool_shrinks_to = 0;

  /// The run has a stream of its own, which can be captured, and not env.stream.
  bool own_stream = false;
};

/// Steps that a CUDA graph has captured.
class captured_steps {
 public:
  captured_steps() = default;
  captured_steps(const captured_steps&) = delete;
  captured_steps& operator=(const captured_steps&) = delete;
  virtual ~captured_steps() = default;
  /// Launches the graph.
  virtual void launch() = 0;
  /// Calls async_run::get().
  virtual ramify::amr_report get() = 0;
};

/// An amr_run of any physics.
class any_run {
 public:
  any_run() = default;
  any_run(const any_run&) = delete;
  any_run& operator=(const any_run&) = delete;
  virtual ~any_run() = default;
  virtual void advance(std::uint64_t steps) = 0;
  virtual void advance_to(double time) = 0;
  /// Calls advance_async(), `meanwhile()` and get().
  virtual ramify::amr_report advance_async(std::uint64_t steps,
                                           const std::function<void()>& meanwhile) = 0;
  /// Captures advance_async(). Requires setting::own_stream and a GPU.
  [[nodiscard]] virtual std::unique_ptr<captured_steps> capture(std::uint64_t steps) = 0;
  virtual void reserve(std::size_t blocks) = 0;
  [[nodiscard]] virtual double time() const = 0;
  [[nodiscard]] virtual std::uint64_t steps() const = 0;
  [[nodiscard]] virtual const ramify::amr_report& report() const = 0;
  [[nodiscard]] virtual std::vector<double> totals() const = 0;
  [[nodiscard]] virtual ramify::mesh_snapshot snapshot() const = 0;
  [[nodiscard]] virtual ramify::amr_state save() const = 0;
};

inline namespace RAMIFY_BUILD {

[[nodiscard]] std::unique_ptr<any_run> start_run(const setting& s);
[[nodiscard]] std::unique_ptr<any_run> resume_run(const setting& s, const ramify::amr_state& state);

/// Returns the averages of the exact solution, of a wave or a scalar, at a time over the cells of a
/// mesh.
[[nodiscard]] std::vector<double> exact_averages(const setting& s,
                                                 const ramify::mesh_snapshot& mesh, double time);

/// Returns the number of launch slots in use. Waits for the NULL stream.
[[nodiscard]] unsigned launch_slots_in_use();

/// Calls `run()` while all launch slots are in use.
void without_slots(const std::function<void()>& run);

}  // namespace RAMIFY_BUILD

#if RAMIFY_ON_CUDA
/// The same runs on the CPU executor, compiled by the C++ compiler.
namespace RAMIFY_VERSIONED(on_cpu) {
  [[nodiscard]] std::unique_ptr<any_run> start_run(const setting& s);
}
#endif

}  // namespace tests
