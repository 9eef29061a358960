// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ramify/version.hpp>

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// The builds of its kernels that the facade has.
enum class build { cpu, cuda, cuda_traced };

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

// The facade's own tools are in reach of the internals of every family.
namespace ramify::detail {
using namespace facade;
}
