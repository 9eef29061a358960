// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ramify::detail::facade {

/// The builds of its kernels that the facade has.
enum class build { cpu, cuda, cuda_traced };

}  // namespace ramify::detail::facade

// The facade's own tools are in reach of the internals of every family.
namespace ramify::detail {
using namespace facade;
}
