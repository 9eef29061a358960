// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ramify::facade {

/// The builds of its kernels that the facade has.
enum class build { cpu, cuda, cuda_traced };

}  // namespace ramify::facade
