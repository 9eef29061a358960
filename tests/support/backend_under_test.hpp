// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/test/unit_test.hpp>
#include <ramify/cpu/sanitizers.hpp>
#include <ramify/runtime/report.hpp>
#include <string>

namespace tests {

/// Where tests run kernels: RAMIFY_TEST_BACKEND, or the CPU.
[[nodiscard]] ramify::backend backend_under_test();

[[nodiscard]] inline bool runs_on_cpu() { return backend_under_test() == ramify::backend::cpu; }

/// Empty if that backend can run here, else why not.
[[nodiscard]] std::string why_backend_cannot_run();

/// Of tests that make something happen which is up to a GPU there: they are skipped.
[[nodiscard]] boost::test_tools::assertion_result on_the_executor(boost::unit_test::test_unit_id);

/// Of tests of what the executor has none of.
[[nodiscard]] boost::test_tools::assertion_result on_a_gpu(boost::unit_test::test_unit_id);

/// Of tests of arithmetic (accuracy, drift, error paths) whose kernels others run as well: slow under
/// ThreadSanitizer, and nothing there for it to see, so it skips them.
[[nodiscard]] boost::test_tools::assertion_result not_under_thread_sanitizer(
    boost::unit_test::test_unit_id);

/// How much of the work a test may cut its cases down to: 1, or less under a slow sanitizer. The
/// kinds of cases stay the same.
[[nodiscard]] constexpr double effort() {
#if RAMIFY_THREAD_SANITIZER
  return 0.01;
#elif RAMIFY_ADDRESS_SANITIZER
  return 0.2;
#else
  return 1.0;
#endif
}

/// `full` cut down, but not below `least`.
[[nodiscard]] constexpr int cut_down(int full, int least = 1) {
  const int cut = static_cast<int>(full * effort());
  return cut < least ? least : cut;
}

/// Random schedules of the executor to try: a few under a sanitizer, which sees the same code in all.
[[nodiscard]] constexpr int random_schedules() { return effort() < 1 ? 3 : 100; }

/// Whether to leave this one of many similar pieces of work out: a sanitizer sees the same code with
/// all of them, so one in `of` will do. `piece` counts them. `of` should have no factor in common
/// with the length of an inner loop, of which it would always choose the same pieces.
[[nodiscard]] inline bool left_out(int& piece, int of = effort() < 0.1 ? 23 : 7) {
  return effort() < 1 && piece++ % of != 0;
}

/// The same under ThreadSanitizer alone: of pieces that differ in sizes and limits, which matter to
/// other sanitizers. What it looks for, races, is in all of them.
[[nodiscard]] inline bool left_out_by_tsan(int& piece, int of) {
  return RAMIFY_THREAD_SANITIZER && piece++ % of != 0;
}

}  // namespace tests
