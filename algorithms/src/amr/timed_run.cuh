// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A run of the facade on the backend that this file is compiled for.

#include <cstdint>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/report.hpp>
#include <vector>

#include "facade/facade_call.cuh"

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A run, of type Run, with its environment and the times of its calls. Interface is a
/// mesh_run_on_backend.
template <class Run, class Interface>
class timed_run : public Interface {
 public:
  /// `make()` returns the run.
  template <class Make>
  timed_run(const environment& env, const Make& make)
      : env_(env), run_([&] {
          facade_call call(env_);
          Run run = make();
          spent_ += call.finish();
          return run;
        }()) {}

  void advance(std::uint64_t steps, double stop_time) override {
    facade_call call(env_);
    run_.advance(steps, stop_time);
    spent_ += call.finish();
  }
  [[nodiscard]] double time() const override { return run_.time(); }
  [[nodiscard]] std::uint64_t steps() const override { return run_.steps(); }
  [[nodiscard]] std::vector<double> totals() const override {
    return timed(false, [&] { return run_.totals(); });
  }
  [[nodiscard]] mesh_snapshot snapshot() const override {
    return timed(true, [&] { return run_.snapshot(); });
  }
  [[nodiscard]] amr_state state() const override {
    return timed(true, [&] { return run_.save(); });
  }
  [[nodiscard]] typename Interface::report_type report() const override {
    typename Interface::report_type report = run_.report();
    static_cast<run_times&>(report) = spent_;
    return report;
  }

 protected:
  [[nodiscard]] const Run& run() const { return run_; }

  /// Returns read(), and adds its time.
  template <class Read>
  auto timed(bool copies_out, Read read) const {
    facade_call call(env_);
    if (copies_out) call.begin_copies_out();
    auto result = read();
    spent_ += call.finish();
    return result;
  }

 private:
  mutable run_times spent_;
  environment env_;
  Run run_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
