// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The interface between the facade of distributed adaptive meshes and its two backends.

#include <memory>
#include <ramify/distributed_amr.hpp>
#include <ramify/version.hpp>

#include "amr/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// A run on all ranks. All functions except time(), steps() and own_snapshot() are collective.
class distributed_amr_on_backend : public mesh_run_on_backend<distributed_amr_report> {
 public:
  [[nodiscard]] virtual mesh_part_snapshot own_snapshot() const = 0;
};

/// Creates a run on all ranks, as make_amr_on() does in one process. Only rank 0 reads `*state`.
template <build where, class Real, int dim, physics_group group>
std::unique_ptr<distributed_amr_on_backend> make_distributed_amr_on(communicator& ranks,
                                                                    const amr_setup& setup,
                                                                    const amr_state* state,
                                                                    const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
