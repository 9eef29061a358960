// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The schedules under which the executor is tested.

namespace tests {

inline constexpr const char* main_schedules[] = {"parallel", "eager",    "late",
                                                 "random:1", "random:2", "weak:1"};

}  // namespace tests
