// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs on adaptive meshes, which need a device compiler: the same functions for either backend.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/amr/config.hpp>
#include <ramify/amr/snapshot.hpp>
#include <vector>

namespace tests {

/// What flows: a scalar in blocks of 4 cells along each edge, or a gas in blocks of 8.
enum class matter { scalar_2d, scalar_3d, gas_2d, gas_3d };

[[nodiscard]] constexpr int dimensions_of(matter m) {
  return m == matter::scalar_2d || m == matter::gas_2d ? 2 : 3;
}
[[nodiscard]] constexpr int cells_of(matter m) {
  return m == matter::scalar_2d || m == matter::scalar_3d ? 4 : 8;
}

/// Of a scalar.
enum class flow_kind {
  uniform,    ///< `velocity`
  vortex,     ///< of period `rate`
  expanding,  ///< `rate` times the place: a uniform scalar q stays uniform, dq/dt = -dim rate q
};

/// What there is in the beginning.
enum class beginning {
  uniform,
  linear,    ///< of a scalar: level + slope * place
  gaussian,  ///< of a scalar, at `centre` of `width`
  hump,      ///< of a scalar, at `centre` of radius `width`
  noise,     ///< anything, from the place alone; smooth on no mesh
  sod,       ///< along `axis`
  blast,     ///< Sedov's, at `centre` of radius `width`
  sound,     ///< a small wave, `crests` along each axis
  entropy,   ///< likewise, carried along by `velocity`
  pulses,    ///< of a gas, periodic in the unit square
  poisoned,  ///< a gas with a NaN at `centre`
  tearing,   ///< a gas that flies apart at `centre` along x
};

/// Where a mesh should be fine.
enum class criterion_kind {
  gradient,  ///< of `variable`
  loehner,   ///< of `variable`
  value,     ///< the primitive value of `variable` itself, less `offset`, times `scale`
  window,    ///< 1 where that is between -1 and 1, else 0
  box,       ///< 2 in blocks that overlap box[level], else 0
  // ---- rules of places, for blocks whose ancestors all obeyed them; 2 or 0 ----
  everywhere,
  nowhere,
  fractal,  ///< below level `depth` - 4 all, then children 0 and 3 (0, 3, 5, 6) alone
  sphere,   ///< level 0, then blocks that the sphere around the centre of radius 1/4 meets
  point,    ///< the block that (1/3, ...) is in
  corner,   ///< the block at the origin
};

struct box {
  double lower[3];
  double upper[3];
};

struct setting {
  tests::matter matter = tests::matter::gas_2d;
  ramify::amr_config config;
  std::size_t pending_launches = 0;  ///< 0: leave the limit alone

  // ---- what flows ----
  double gamma = 1.4;
  flow_kind flow = flow_kind::uniform;
  double rate = 1;

  // ---- the beginning ----
  beginning begin = beginning::uniform;
  double level = 1;  ///< of what is uniform
  double slope[3] = {};
  double centre[3] = {0.5, 0.5, 0.5};
  double width = 0.1;
  double velocity[3] = {};
  double crests[3] = {1, 0, 0};
  double amplitude = 1e-6;
  int axis = 0;

  // ---- the criterion ----
  criterion_kind criterion = criterion_kind::gradient;
  int variable = 0;
  double offset = 0;
  double scale = 1;
  int depth = 0;
  box boxes[3] = {};

  /// On the CPU executor: when the criterion is first called with time beyond the building of the
  /// mesh, the launch pool shrinks to so many places, and the run does not know. 0: never.
  std::size_t pool_shrinks_to = 0;
};

/// A run of any kind.
class any_run {
 public:
  any_run() = default;
  any_run(const any_run&) = delete;
  any_run& operator=(const any_run&) = delete;
  virtual ~any_run() = default;
  virtual void advance(std::uint64_t steps) = 0;
  virtual void advance_to(double time) = 0;
  [[nodiscard]] virtual double time() const = 0;
  [[nodiscard]] virtual std::uint64_t steps() const = 0;
  [[nodiscard]] virtual const ramify::amr_report& report() const = 0;
  [[nodiscard]] virtual std::vector<double> totals() const = 0;
  [[nodiscard]] virtual ramify::mesh_snapshot snapshot() const = 0;
  [[nodiscard]] virtual ramify::amr_state save() const = 0;
};

struct amr_cases {
  std::unique_ptr<any_run> (*start)(const setting&);
  std::unique_ptr<any_run> (*resume)(const setting&, const ramify::amr_state&);
  /// Averages over the cells of a mesh of what a wave (or what was carried along) is at a time.
  std::vector<double> (*exact_averages)(const setting&, const ramify::mesh_snapshot&, double time);
  unsigned (*slots_in_use)();  ///< when nothing runs
  /// Takes steps while somebody else has all launch slots.
  void (*advance_without_slots)(any_run&, std::uint64_t steps);
};

/// Null if the backend was not built.
[[nodiscard]] const amr_cases* amr_cases_on_cpu();
[[nodiscard]] const amr_cases* amr_cases_on_cuda();

}  // namespace tests
