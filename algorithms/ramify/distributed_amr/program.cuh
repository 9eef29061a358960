// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// distributed_program: the phases of a distributed mesh as a program of a launch chain.

#include <ramify/amr/run_state.cuh>
#include <ramify/distributed_amr/mesh.cuh>
#include <type_traits>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The program of the chain of phases on a distributed mesh. The host launches all phases.
template <class Mesh, class Fill>
struct distributed_program : Mesh::view_type {
  Fill fill;

  /// Instantiates launch_phases() and its kernels in nvcc's pass for the device, which does not see
  /// the call below.
  using host_phase = std::integral_constant<decltype(&Mesh::template launch_phases<Fill>),
                                            &Mesh::template launch_phases<Fill>>;

  [[nodiscard]] __host__ __device__ static unsigned slots_of(const run_state&) { return 0; }

  template <class Grids>
  __host__ __device__ void launch_round([[maybe_unused]] const run_state& now,
                                        [[maybe_unused]] Grids& grids) const {
#if !defined(__CUDA_ARCH__)
    static_cast<Mesh*>(this->host)->launch_phases(now, *this, fill, grids);
#endif
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
