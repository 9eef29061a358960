// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA functions that the CPU executor does not have. A call is a compile error that says what to
/// use instead.

#include <cstddef>
#include <ramify/cpu/runtime_api.hpp>
#include <ramify/version.hpp>

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

// Doxygen reads the calls of the macro as documentation.
/// \cond
#define RAMIFY_NOT_ON_THE_EXECUTOR(name, Result, instead)                     \
  template <class... Arguments>                                               \
  Result name(const Arguments&...) {                                          \
    static_assert(sizeof...(Arguments) == ~std::size_t{0},                    \
                  "Ramify's CPU executor does not have " #name ": " instead); \
    return {};                                                                \
  }

// ---- launches ----
RAMIFY_NOT_ON_THE_EXECUTOR(cudaLaunchKernel, cudaError_t, "use ramify::launch()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaLaunchKernelEx, cudaError_t, "use ramify::launch()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaLaunchCooperativeKernel, cudaError_t,
                           "blocks of a grid cannot wait for each other; use two grids")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaLaunchHostFunc, cudaError_t,
                           "call the function after cudaStreamSynchronize()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaStreamAddCallback, cudaError_t,
                           "call the function after cudaStreamSynchronize()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaFuncSetAttribute, cudaError_t,
                           "for dynamic shared memory use ramify::set_max_dynamic_shared()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaFuncSetCacheConfig, cudaError_t,
                           "it has no effect without a GPU; compile the call for CUDA only")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaError_t,
                           "use ramify::resident_blocks()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaOccupancyMaxPotentialBlockSize, cudaError_t,
                           "choose the block size yourself")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaDeviceGetAttribute, cudaError_t, "use cudaGetDeviceProperties()")

// ---- graphs ----
RAMIFY_NOT_ON_THE_EXECUTOR(cudaStreamBeginCapture, cudaError_t, "it has no CUDA graphs")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaStreamEndCapture, cudaError_t, "it has no CUDA graphs")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaGraphCreate, cudaError_t, "it has no CUDA graphs")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaGraphInstantiate, cudaError_t, "it has no CUDA graphs")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaGraphLaunch, cudaError_t, "it has no CUDA graphs")

// ---- memory ----
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMallocPitch, cudaError_t, "use cudaMalloc()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMalloc3D, cudaError_t, "use cudaMalloc()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMemcpy2D, cudaError_t, "use cudaMemcpy() for each row")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMemcpy2DAsync, cudaError_t, "use cudaMemcpyAsync() for each row")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMemset2D, cudaError_t, "use cudaMemset() for each row")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMemcpyPeer, cudaError_t, "it is one device; use cudaMemcpy()")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaDeviceEnablePeerAccess, cudaError_t, "it is one device")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaHostRegister, cudaError_t, "kernels can access all host memory")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMemPrefetchAsync, cudaError_t, "all memory is host memory")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaMemAdvise, cudaError_t, "all memory is host memory")
RAMIFY_NOT_ON_THE_EXECUTOR(cudaGetSymbolAddress, cudaError_t, "use the variable's address")

// ---- kernels ----
RAMIFY_NOT_ON_THE_EXECUTOR(__shfl, int, "use __shfl_sync(); GPUs since Volta need the mask, too")
RAMIFY_NOT_ON_THE_EXECUTOR(__shfl_up, int, "use __shfl_up_sync()")
RAMIFY_NOT_ON_THE_EXECUTOR(__shfl_down, int, "use __shfl_down_sync()")
RAMIFY_NOT_ON_THE_EXECUTOR(__shfl_xor, int, "use __shfl_xor_sync()")
RAMIFY_NOT_ON_THE_EXECUTOR(__ballot, unsigned, "use __ballot_sync()")
RAMIFY_NOT_ON_THE_EXECUTOR(__any, int, "use __any_sync()")
RAMIFY_NOT_ON_THE_EXECUTOR(__all, int, "use __all_sync()")
RAMIFY_NOT_ON_THE_EXECUTOR(__trap, int, "record the error in memory and return")
RAMIFY_NOT_ON_THE_EXECUTOR(__ldcg, int, "use __ldg() or an atomic function")

/// \endcond
#undef RAMIFY_NOT_ON_THE_EXECUTOR

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
