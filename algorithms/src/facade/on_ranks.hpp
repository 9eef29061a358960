// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A call of the compiled facade by all ranks of a communicator.

#include <ramify/cluster/communicator.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>

#include "facade/backend_choice.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Checks that a call by the ranks of `comm` can run on the backend of an environment.
/// \throws std::invalid_argument
inline void check_backend_of_ranks(const communicator& comm, const environment& env) {
  check_enumerator(env.backend, "environment.backend");
  if (env.backend == backend::automatic || env.backend == comm.backend()) return;
  throw std::invalid_argument("environment.backend is " + std::string(to_string(env.backend)) +
                              ", but that of the communicator is " +
                              std::string(to_string(comm.backend())));
}

/// Calls `body` as on_backend() does, for the backend of `comm`, with on<build> and the
/// environment. Returns its report. Collective.
/// \throws std::invalid_argument if `env.backend` is another one; cluster_error
template <class Body>
auto on_ranks(communicator& comm, const environment& env, Body body) {
  check_backend_of_ranks(comm, env);
  environment chosen = env;
  chosen.backend = comm.backend();
  decltype(body(on<build::cpu>{}, chosen)) report;
  comm.run([&] { report = on_backend(chosen, [&](auto where) { return body(where, chosen); }); });
  report.backend_reason = comm.backend_reason();
  return report;
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
