// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// no_value: the value type of a sort that has keys only.

#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// The value type of a sort that has keys only.
struct no_value {};

}  // namespace ramify::inline RAMIFY_ABI
