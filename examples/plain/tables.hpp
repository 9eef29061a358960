// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Names that kernels cannot use, names that the executor does not have, and the instructions of
/// inline PTX that it has.

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace plain {

using std::string;
using std::string_view;

/// Names that no kernel can use, and what to use instead.
inline const std::map<string_view, string_view> host_functions{
    {"cudaDeviceSynchronize",
     "a kernel cannot wait for its children (CDP2); launch the work that needs their results into "
     "cudaStreamTailLaunch"},
    {"cudaStreamSynchronize", "a kernel cannot wait for a stream; use cudaStreamTailLaunch"},
    {"cudaEventSynchronize", "a kernel cannot wait for an event; use cudaStreamWaitEvent()"},
    {"cudaMemcpy", "only the host may call it; a kernel calls cudaMemcpyAsync()"},
    {"cudaMemset", "only the host may call it; a kernel calls cudaMemsetAsync()"},
};
inline constexpr std::array host_types{"cout",   "cerr",     "clog", "endl",          "string",
                                       "vector", "map",      "set",  "unordered_map", "list",
                                       "deque",  "function", "cin",  "thread",        "mutex"};

/// Names that the executor does not have.
inline const std::map<string_view, string_view> refused_names{
    {"cudaTextureObject_t", "textures"},
    {"cudaSurfaceObject_t", "surfaces"},
    {"cudaArray_t", "CUDA arrays"},
    {"texture", "textures"},
    {"tex1Dfetch", "textures"},
    {"tex1D", "textures"},
    {"tex2D", "textures"},
    {"tex3D", "textures"},
    {"surf2Dread", "surfaces"},
    {"surf2Dwrite", "surfaces"},
    {"__half", "half precision"},
    {"__half2", "half precision"},
    {"__nv_bfloat16", "bfloat16"},
    {"__cluster_dims__", "clusters of blocks"},
    {"cudaLaunchKernel", "launches without <<<...>>>"},
    {"cudaLaunchKernelEx", "launches without <<<...>>>"},
    {"cudaLaunchKernelExC", "launches without <<<...>>>"},
};

/// The instructions of inline PTX that are translated, without blanks, and their expressions.
inline const std::map<string, string_view> ptx_instructions{
    {"mov.u32%0,%%laneid;", "(::ramify::cpu::lane_index())"},
    {"mov.u32%0,%%lanemask_lt;", "((1u << ::ramify::cpu::lane_index()) - 1)"},
    {"mov.u32%0,%%lanemask_le;", "((2u << ::ramify::cpu::lane_index()) - 1)"},
    {"mov.u32%0,%%lanemask_eq;", "(1u << ::ramify::cpu::lane_index())"},
    {"mov.u32%0,%%lanemask_ge;", "(~0u << ::ramify::cpu::lane_index())"},
    {"mov.u32%0,%%lanemask_gt;", "(~1u << ::ramify::cpu::lane_index())"},
    {"bfind.u32%0,%1;", "::ramify::plain::bfind"},
};

}  // namespace plain
