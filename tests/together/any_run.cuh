// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// any_run: a run of any family, so that one test runs over all families.

#include <functional>
#include <memory>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/report.hpp>
#include <type_traits>
#include <utility>

namespace tests::inline RAMIFY_BUILD {

/// A run of any family. Its call is get(), which returns the report.
using any_run = std::function<ramify::run_report()>;

/// Returns the report in the result of a run.
template <class Result>
ramify::run_report report_of(const Result& result) {
  if constexpr (std::is_base_of_v<ramify::run_report, Result>) {
    return result;
  } else if constexpr (requires { result.report(); }) {
    return result.report();
  } else {
    return result.report;
  }
}

/// Returns a run that has started. All families return the same type, so the rules of get() are
/// tested for all of them in one place.
template <class Result>
any_run any_run_of(ramify::async_run<Result>&& started) {
  const auto run = std::make_shared<ramify::async_run<Result>>(std::move(started));
  return [run] { return report_of(run->get()); };
}

}  // namespace tests::inline RAMIFY_BUILD
