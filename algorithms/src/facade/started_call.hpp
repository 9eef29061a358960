// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls of the compiled facade that do not wait. Plain C++.

#include <memory>
#include <ramify/runtime/async_run.hpp>
#include <ramify/version.hpp>
#include <string>
#include <utility>

#include "facade/backend_choice.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// A call that has started on a backend.
template <class Report>
struct started_call {
  std::shared_ptr<void> memory;  ///< scratch memory of the run, or null
  async_run<Report> run;         ///< destroyed before its memory
};

/// The run of a started call. Its report has the reason for the backend.
template <class Report>
class facade_run final : public runtime::pending_run<Report> {
 public:
  facade_run(const char* algorithm, started_call<Report> call, std::string backend_reason)
      : runtime::pending_run<Report>(algorithm, call.run.captured()),
        call_(std::move(call)),
        backend_reason_(std::move(backend_reason)) {}

  void settle() noexcept override {}  // the constructor of the started run has done it

  [[nodiscard]] Report get() override {
    Report report = call_.run.get();
    report.backend_reason = backend_reason_;
    return report;
  }

 private:
  started_call<Report> call_;
  std::string backend_reason_;
};

/// Starts a call as on_backend() makes one. `body` returns a started_call. `algorithm` begins the
/// messages of exceptions. \throws unavailable
template <class Body>
auto start_on_backend(const char* algorithm, const environment& env, Body body) {
  backend_choice choice = choose_backend(env.backend);
  const auto started = [&]<class Report>(started_call<Report> call) {
    return async_run<Report>(
        std::make_unique<facade_run<Report>>(algorithm, std::move(call), std::move(choice.reason)));
  };
  return started(call_body(choice.taken, env, body));
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
