// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The amount of work that tests do, and decorators that skip tests. Tests whose sources are
/// compiled for each backend include this header; RAMIFY_ON_CUDA is their backend.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ramify/cpu/sanitizers.hpp>
#include <ramify/runtime/build.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>

namespace tests {

/// Returns the backend that tests run on: RAMIFY_TEST_BACKEND of the environment, or the CPU.
[[nodiscard]] ramify::backend backend_under_test();

/// Precondition of tests of behavior that only the CPU executor can be configured for.
[[nodiscard]] boost::test_tools::assertion_result on_the_executor(boost::unit_test::test_unit_id);

/// Precondition of tests of features that the CPU executor does not have.
[[nodiscard]] boost::test_tools::assertion_result on_a_gpu(boost::unit_test::test_unit_id);

/// Precondition of tests of arithmetic (accuracy, drift, error paths) whose kernels also run in
/// other tests. They are slow under ThreadSanitizer, which finds nothing in them.
[[nodiscard]] boost::test_tools::assertion_result not_under_thread_sanitizer(
    boost::unit_test::test_unit_id);

/// Returns the fraction of the work that a test must do: 1, or less under a slow sanitizer. All
/// kinds of cases remain, except for arithmetic.
[[nodiscard]] constexpr double effort() {
#if RAMIFY_THREAD_SANITIZER
  return 0.01;
#elif RAMIFY_ADDRESS_SANITIZER
  return 0.2;
#else
  return 1.0;
#endif
}

/// Returns the number in the environment variable RAMIFY_TEST_SIZES, above 0 and at most 1, or 1 if
/// it is not set: a factor of the sizes of inputs. \throws std::invalid_argument for another text
[[nodiscard]] inline double size_factor() {
  static const double factor = [] {
    const char* const given = std::getenv("RAMIFY_TEST_SIZES");
    if (given == nullptr) return 1.0;
    char* end = nullptr;
    const double number = std::strtod(given, &end);
    ramify::detail::check_field(end != given && *end == '\0' && number > 0 && number <= 1,
                                "RAMIFY_TEST_SIZES", given, "a number above 0 and at most 1");
    return number;
  }();
  return factor;
}

/// Returns `full` times effort() and size_factor(), but at least `least`.
[[nodiscard]] inline int cut_down(int full, int least = 1) {
  const int cut = static_cast<int>(full * effort() * size_factor());
  return cut < least ? least : cut;
}

/// Returns whether to run all cases of a test in full size. On the CPU executor this requires the
/// environment variable RAMIFY_ALL_CASES, which tests/run.sh --all sets; the other runs take a
/// sample of the cases.
[[nodiscard]] inline bool all_cases() {
  return effort() == 1 && (RAMIFY_ON_CUDA || backend_under_test() == ramify::backend::cuda ||
                           std::getenv("RAMIFY_ALL_CASES") != nullptr);
}

/// Returns `full` if all_cases(), else `sample`, or cut_down(full, least) if that is smaller.
[[nodiscard]] inline int sampled(int full, int sample, int least = 1) {
  return all_cases() ? full : std::min(sample, cut_down(full, least));
}

/// Returns the number of random schedules of the executor to test: 15, or what the environment
/// variable RAMIFY_RANDOM_SCHEDULES says. Tests that take another input with each schedule have as
/// many inputs. A sanitizer needs only a few, because it sees the same code in all of them.
[[nodiscard]] inline int random_schedules() {
  if (effort() < 1) return 3;
  const char* const given = std::getenv("RAMIFY_RANDOM_SCHEDULES");
  return given == nullptr ? 15 : std::atoi(given);
}

/// The end of a test of random cases, which have numbers from 0 on: after the first cases, whose
/// number is fixed, and after a time. The time is a share of the seconds in the environment
/// variable RAMIFY_FUZZ_SECONDS, or none. `tests/run.sh --all` sets it.
class random_cases {
 public:
  explicit random_cases(std::uint64_t first, double share = 1) : first_(first) {
    const char* const given = std::getenv("RAMIFY_FUZZ_SECONDS");
    end_ += std::chrono::duration_cast<clock::duration>(
        std::chrono::duration<double>(given == nullptr ? 0 : share * std::atof(given)));
  }
  /// Returns whether to test the case of this number.
  [[nodiscard]] bool has(std::uint64_t number) const {
    return number < first_ || clock::now() < end_;
  }

 private:
  using clock = std::chrono::steady_clock;
  std::uint64_t first_;
  clock::time_point end_ = clock::now();
};

/// Returns whether to skip this one of many similar pieces of work. A sanitizer sees the same code
/// in all of them, so one in `of` is enough. `piece` counts the pieces. `of` should be coprime to
/// the length of an inner loop, or it always selects the same pieces.
[[nodiscard]] inline bool left_out(int& piece, int of = effort() < 0.1 ? 23 : 7) {
  return effort() < 1 && piece++ % of != 0;
}

/// Like left_out(), but only under ThreadSanitizer. Use it for pieces that differ in sizes and
/// limits: these matter to other sanitizers, but races occur in all pieces.
[[nodiscard]] inline bool left_out_by_tsan(int& piece, int of) {
  return RAMIFY_THREAD_SANITIZER && piece++ % of != 0;
}

}  // namespace tests
