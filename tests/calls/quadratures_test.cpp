// SPDX-License-Identifier: BSD-3-Clause
// Quadratures that kernels call: all sizes of rounds, many calls at small limits, refused calls,
// launches that fail, schedules, and a pipeline with sorts.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/quadrature.cuh>
#include <ramify/quicksort.cuh>

#include "printing.hpp"
#include "value_calls.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

BOOST_AUTO_TEST_SUITE(calls_of_quadratures)

namespace {

enum class shape : unsigned { wave, kink, jump, pole };
constexpr double special = 0.3;  ///< where a kink, a jump or a pole is

/// Functions on [0, 1] with known integrals.
struct curve {
  shape kind;
  double frequency;

  __device__ double operator()(const quadrature_point<1>& p) const {
    const double x = p[0] - special;
    switch (kind) {
      case shape::wave: return cos(frequency * p[0]);
      case shape::kink: return fabs(x) * frequency;
      case shape::jump: return x < 0 ? frequency : 0;
      case shape::pole: return x < 0 ? frequency : 1 / (x - x);
    }
    return 0;
  }
  [[nodiscard]] double integral() const {
    constexpr double rest = 1 - special;
    switch (kind) {
      case shape::wave: return std::sin(frequency) / frequency;
      case shape::kink: return (special * special + rest * rest) / 2 * frequency;
      case shape::jump: return special * frequency;
      case shape::pole: break;
    }
    return NAN;
  }
};

__host__ __device__ quadrature_box<1> unit_interval() { return {{0}, {1}}; }
using integrals = quadrature_calls<1, curve>;
constexpr std::size_t max_points = 1'000'000;

/// A call, and what the host finds.
struct integral {
  using result_type = quadrature_estimate;

  curve f;
  quadrature_options options;
  quadrature_estimate expected;

  integral(const curve& of, const quadrature_options& o) : f(of), options(o) {
    expected = quadrature(unit_interval(), f, options);
    if (f.kind == shape::pole) return;
    const double error = std::fabs(expected.value - f.integral());
    BOOST_TEST(error <= std::fmax(expected.error, 1e-15));
  }

  template <class Environment>
  __device__ call_status call(quadrature_estimate* result, const Environment& calls) const {
    return ramify::quadrature(unit_interval(), f, options, result, calls);
  }
  /// On a GPU the compiler may round the operations of two kernels in different ways.
  [[nodiscard]] bool expects(const quadrature_estimate& found) const {
    const double allowed = RAMIFY_ON_CUDA ? found.error + expected.error : 0;
    if (found.status != expected.status) return false;
    if (found.status == quadrature_status::not_finite) return found.not_finite_at[0] > special;
    if (!RAMIFY_ON_CUDA && found.evaluations != expected.evaluations) return false;
    return found.regions > 0 && std::isfinite(found.error) &&
           std::fabs(found.value - expected.value) <= allowed;
  }
};

/// Returns calls whose rounds are small, medium and large (rounds.cuh). The host computes each kind
/// of them once. If there are many calls, all are cheap.
std::vector<integral> mixed_integrals(std::size_t count) {
  static const std::vector<integral> kinds{
      {{shape::wave, 3}, {}},
      {{shape::wave, 400}, {.relative_tolerance = 1e-9}},
      {{shape::kink, 2}, {.relative_tolerance = 1e-10}},
      {{shape::jump, 5}, {.relative_tolerance = 1e-7}},
      {{shape::wave, 3'000}, {.absolute_tolerance = 1e-9, .relative_tolerance = 0}},
      {{shape::pole, 1}, {}},
      {{shape::wave, 40'000}, {.absolute_tolerance = 1e-8, .relative_tolerance = 0}},
      {{shape::wave, 40'000}, {.absolute_tolerance = 1e-8, .max_evaluations = 20'000}},
  };
  std::vector<integral> all;
  constexpr std::size_t cheap = 4;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(kinds[count <= kinds.size() ? i : i % cheap]);
  }
  return all;
}

constexpr auto make_arena = [] {
  return call_arena(integrals(max_points), {.chunks = 3, .kept_calls = 1'000});
};

}  // namespace

BOOST_DATA_TEST_CASE(results_are_those_of_the_host,
                     data::make({1, 8, 50}) * data::make({32, 128, 2048}) *
                         data::make({false, true}),
                     count, limit, continues) {
  static int piece = 0;
  if (left_out(piece, 5)) return;
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  {
    auto arena = make_arena();
    const auto works = mixed_integrals(std::size_t(count));
    const call_report report = expect_values(arena, works, {.continues = continues});
    BOOST_TEST(report.refused == 0u);
    if (count == 50) BOOST_TEST(report.kept > 0u);  // there are more calls than chunks
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(a_smooth_integrand_takes_one_grid) {
  call_arena arena(integrals(10'000), {.chunks = 100});
  const std::vector<integral> works(30, mixed_integrals(1)[0]);
  const call_report report = expect_values(arena, works, {.continues = false});
  BOOST_TEST(report.started + report.kept == 30u);
  if (report.kept == 0) BOOST_TEST(report.child_grids == 30u);  // else with drains
}

BOOST_AUTO_TEST_CASE(a_call_has_the_rounds_of_large_quadratures) {
  auto arena = make_arena();
  const auto works = mixed_integrals(7);
  BOOST_TEST(works[6].expected.regions > 4'096u);  // negative control: the rounds are large
  const call_report report = expect_values(arena, std::vector{works[6]}, {.continues = false});
  BOOST_TEST(report.child_grids > 10u);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  integral good = mixed_integrals(1)[0];
  std::vector<integral> works(6, good);
  works[0].options.relative_tolerance = 1;
  works[1].options.relative_tolerance = 0;
  works[2].options.absolute_tolerance = -1;
  works[3].options.absolute_tolerance = HUGE_VAL;
  works[4].options.max_evaluations = 22;
  works[5].options.min_evaluations = max_points + 1;
  auto arena = make_arena();
  BOOST_TEST(expect_values(arena, works).refused == 6u);
  BOOST_CHECK_THROW(integrals(22), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_plan_limits_the_evaluations) {
  call_arena arena(integrals(20'000));
  integral limited = mixed_integrals(8)[7];
  BOOST_TEST(limited.expected.status == quadrature_status::max_evaluations);
  limited.options.max_evaluations = max_points;
  BOOST_TEST(expect_values(arena, std::vector{limited}).refused == 0u);
}

BOOST_AUTO_TEST_CASE(calls_without_a_chunk_may_be_refused) {
  const launch_limits limits({.pending_launches = 128});
  auto arena = make_arena();
  const call_report report = expect_values(arena, mixed_integrals(50), {.refuses = true});
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.kept == 0u);
  BOOST_TEST(report.started > 0u);
}

BOOST_AUTO_TEST_CASE(no_quadrature_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_no_call_lost(mixed_integrals(3), make_arena);
}

BOOST_AUTO_TEST_CASE(every_schedule_integrates, *boost::unit_test::precondition(on_the_executor)) {
  expect_in_every_schedule(mixed_integrals(4), make_arena);
}

// ---- a pipeline with sorts ----------------------------------------------------------------------

namespace {

using sorts = quicksort_calls<unsigned>;
using both = call_plans<sorts, integrals>;

struct pipeline {
  unsigned* keys;
  std::size_t n;
  quadrature_estimate* estimate;
  unsigned* done;  ///< pipelines that are complete and right
};
__global__ void check_keys(pipeline p) {
  bool right = p.estimate->status == quadrature_status::converged;
  for (std::size_t i = 0; i < p.n; ++i) right = right && p.keys[i] == i;
  if (right) atomicAdd(p.done, 1u);
}
/// Writes keys in the opposite order, and sorts them.
__global__ void sort_after_quadrature(pipeline p, kernel_environment<both> calls) {
  const traced here(calls.trace, __func__);
  for (std::size_t i = 0; i < p.n; ++i) p.keys[i] = static_cast<unsigned>(p.n - 1 - i);
  const call_status status =
      ramify::quicksort(p.keys, p.n, ascending{}, calls.then(check_keys, {1, 1}, p));
  if (status == call_status::refused) atomicAdd(p.done + 1, 1u);
}
__global__ void begin_pipelines(pipeline first, unsigned count, kernel_environment<both> calls) {
  const traced here(calls.trace, __func__);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const pipeline p{first.keys + i * first.n, first.n, first.estimate + i, first.done};
    const call_status status =
        ramify::quadrature(unit_interval(), curve{shape::kink, 1.0 + i}, p.estimate,
                           calls.then(sort_after_quadrature, {1, 1}, p, calls));
    if (status == call_status::refused) atomicAdd(p.done + 1, 1u);
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(quadratures_and_sorts_share_an_arena,
                     data::make({32, 128, 2048}) * data::make({20, 10'000}), limit, n) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  constexpr unsigned count = 40;
  const auto length = static_cast<std::size_t>(n);
  const device_buffer<unsigned> keys(count * length, nullptr);
  const auto estimates = zeros<quadrature_estimate>(count);
  const auto done = zeros<unsigned>(2);
  call_arena arena(call_plans{sorts(length), integrals(100'000)}, {.chunks = 4});
  check(launch(begin_pipelines, {1, 32}, nullptr,
               pipeline{keys.data(), length, estimates.data(), done.data()}, count,
               arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  BOOST_TEST(download(done)[0] == count);
  BOOST_TEST(download(done)[1] == 0u);
  BOOST_TEST(arena.get().refused == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
