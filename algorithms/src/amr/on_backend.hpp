// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The interface between the facade of adaptive meshes and its two backends.

#include <cstdint>
#include <memory>
#include <ramify/amr.hpp>
#include <ramify/version.hpp>
#include <vector>

#include "amr/physics_groups.hpp"
#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// A run on one of the backends, with any physics, precision and dimension, in one process or on
/// several ranks.
template <class Report>
class mesh_run_on_backend {
 public:
  using report_type = Report;

  virtual ~mesh_run_on_backend() = default;
  virtual void advance(std::uint64_t steps, double stop_time) = 0;
  [[nodiscard]] virtual double time() const = 0;
  [[nodiscard]] virtual std::uint64_t steps() const = 0;
  [[nodiscard]] virtual std::vector<double> totals() const = 0;
  [[nodiscard]] virtual mesh_snapshot snapshot() const = 0;
  [[nodiscard]] virtual amr_state state() const = 0;
  [[nodiscard]] virtual Report report() const = 0;
};

/// A run in one process.
class amr_on_backend : public mesh_run_on_backend<amr_report> {
 public:
  [[nodiscard]] virtual mesh_snapshot derived_snapshot(
      const std::vector<derived_field>& fields) const = 0;
};

/// Creates a run that begins with the problem's initial state, or with `state` unless it is null.
/// `group` must be group_of(setup). The definitions are compiled once by nvcc and once by the
/// C++ compiler.
template <build where, class Real, int dim, physics_group group>
std::unique_ptr<amr_on_backend> make_amr_on(const amr_setup& setup, const amr_state* state,
                                            const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
