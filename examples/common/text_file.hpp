// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The readers of the example programs use the functions of the library's readers of graphs.

#include "../../algorithms/src/graph/files/text_file.hpp"

namespace common {

using namespace ramify::detail::files;
using ramify::bad_input;

}  // namespace common
