// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The backend of tests that choose it at run time. Tests whose sources are compiled for each
/// backend include effort.hpp instead: there `tests::on_cpu` is a namespace.

#include <string>

#include "effort.hpp"

namespace tests {

[[nodiscard]] inline bool runs_on_cpu() { return backend_under_test() == ramify::backend::cpu; }

/// Returns an empty string if the backend under test can run on this machine, else the reason.
[[nodiscard]] std::string why_backend_cannot_run();

}  // namespace tests
