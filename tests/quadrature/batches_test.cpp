// SPDX-License-Identifier: BSD-3-Clause
// Batches of integrals, compared with closed forms and with quadrature() for each.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <ramify/quadrature.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "counts_on_device.cuh"
#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "printing.hpp"
#include "run_checks.cuh"

using namespace tests;
using ramify::quadrature_batch_report;
using ramify::quadrature_box;
using ramify::quadrature_estimate;
using ramify::quadrature_options;
using ramify::quadrature_point;
using ramify::quadrature_status;

namespace {

constexpr quadrature_box<1> unit{{0}, {1}};
constexpr quadrature_box<3> cube{{0, 0, 0}, {1, 1, 1}};

/// 1 + the product of sin(w x), for the parameter w.
struct waves {
  template <unsigned d>
  __device__ double operator()(const quadrature_point<d>& p, double w) const {
    double product = 1;
    for (unsigned i = 0; i < d; ++i) product *= sin(w * p[i]);
    return 1 + product;
  }
};
double exact_waves(unsigned d, double w) { return 1 + std::pow((1 - std::cos(w)) / w, d); }

/// The same for one parameter, as quadrature() takes it.
struct one_wave {
  double w;
  template <unsigned d>
  __device__ double operator()(const quadrature_point<d>& p) const {
    return waves{}(p, w);
  }
};

template <unsigned d>
quadrature_batch_report integrate(const quadrature_box<d>& box, const std::vector<double>& w,
                                  std::vector<quadrature_estimate>& found,
                                  const quadrature_options& options = {}) {
  found.assign(w.size(), {});
  return with_grids_counted(
      [&] { return ramify::quadrature(box, waves{}, w.data(), w.size(), found.data(), options); });
}

bool are_equal(const quadrature_estimate& a, const quadrature_estimate& b) {
  return a.value == b.value && a.error == b.error && a.status == b.status &&
         a.regions == b.regions && a.evaluations == b.evaluations;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quadrature)

BOOST_AUTO_TEST_CASE(each_integral_of_a_batch_is_right) {
  std::vector<double> w;
  for (int i = 0; i < (RAMIFY_ON_CUDA ? 1'000 : cut_down(100, 10)); ++i)
    w.push_back(0.5 + 0.37 * i);
  std::vector<quadrature_estimate> found;
  const auto report = integrate(unit, w, found);
  BOOST_TEST(report.integrals == w.size());
  BOOST_TEST(report.continued == 0u);
  for (std::size_t i = 0; i < w.size(); ++i) {
    BOOST_TEST(found[i].converged());
    BOOST_TEST(std::fabs(found[i].value - exact_waves(1, w[i])) <= 1e-6 * found[i].value);
    if (i % 10 != 0) continue;
    const auto alone = ramify::quadrature(unit, one_wave{w[i]});
    BOOST_TEST(found[i].evaluations == alone.evaluations);
    BOOST_TEST(std::fabs(found[i].value - alone.value) <= 1e-14 * alone.value);
  }
}

// The points of a region have two warps here.
BOOST_AUTO_TEST_CASE(each_integral_of_a_batch_in_three_dimensions_is_right) {
  const std::vector<double> w{0.5, 3, 9};
  std::vector<quadrature_estimate> found;
  (void)integrate(cube, w, found);
  for (std::size_t i = 0; i < w.size(); ++i) {
    BOOST_TEST(found[i].converged());
    BOOST_TEST(std::fabs(found[i].value - exact_waves(3, w[i])) <= 1e-6 * found[i].value);
  }
}

BOOST_AUTO_TEST_CASE(integrals_of_a_batch_end_for_their_own_reasons) {
  // The second one has no finite value, the third needs more regions than a block has memory for,
  // and the last one more evaluations than allowed.
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> w{1, none, RAMIFY_THREAD_SANITIZER ? 1 : 22'000.0, 2, 1e9};
  std::vector<quadrature_estimate> found;
  const auto report = integrate(unit, w, found, {.max_evaluations = 100'000});
  BOOST_TEST(found[0].converged());
  BOOST_TEST(found[1].status == quadrature_status::not_finite);
  BOOST_TEST((found[1].not_finite_at[0] > 0 && found[1].not_finite_at[0] < 1));
  BOOST_TEST(found[2].converged());
  BOOST_TEST(found[3].converged());
  BOOST_TEST(found[4].status == quadrature_status::max_evaluations);
  BOOST_TEST(report.continued == (RAMIFY_THREAD_SANITIZER ? 1u : 2u));
  // The integrals that quadrature() continues have scratch memory of their own, one after another.
  std::size_t largest = 0;
  for (const double parameter : {w[2], w[4]}) {
    const auto alone = ramify::quadrature(unit, one_wave{parameter}, {.max_evaluations = 100'000});
    largest = std::max(largest, alone.report.scratch_bytes);
  }
  const std::size_t of_batch =
      ramify::quadrature_scratch_bytes<1, waves, double>(w.size(), {.max_evaluations = 100'000});
  BOOST_TEST(report.scratch_bytes == of_batch + largest);
  for (const unsigned i : {0u, 2u, 3u}) {
    BOOST_TEST(std::fabs(found[i].value - exact_waves(1, w[i])) <= 1e-6 * found[i].value);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_has_the_same_bits_in_each_run,
                     *boost::unit_test::precondition(on_the_executor)) {
  const std::vector<double> w{30, 1, 20, 3};
  std::vector<quadrature_estimate> first;
  (void)integrate(unit, w, first);
  for (const char* schedule : {"eager", "late", "random:3"}) {
    auto config = ramify::cpu::parse_executor_config(schedule);
    config.workers = 3;
    const ramify::cpu::scoped_executor_config scope(config);
    std::vector<quadrature_estimate> found;
    (void)integrate(unit, w, found);
    BOOST_TEST(std::ranges::equal(first, found, are_equal));
  }
}

BOOST_AUTO_TEST_CASE(a_batch_has_its_size_in_device_memory) {
  const auto parameters = upload(std::vector<double>{1, 2, 3});
  const device_number<> n(2);
  const auto estimates = zeros<quadrature_estimate>(3);
  const device_buffer<std::byte> memory(ramify::quadrature_scratch_bytes<1, waves, double>(3),
                                        nullptr);
  const auto report = ramify::quadrature(unit, waves{}, parameters.data(), n.up_to(3),
                                         estimates.data(), {.memory = memory});
  BOOST_TEST(report.integrals == 2u);
  const auto found = download(estimates);
  BOOST_TEST(std::fabs(found[1].value - exact_waves(1, 2)) <= 1e-6 * found[1].value);
  BOOST_TEST(found[2].evaluations == 0u);  // not written
  for (const int wrong : {4, -1}) {
    const device_number<> number(wrong);
    BOOST_CHECK_EXCEPTION(
        (void)ramify::quadrature(unit, waves{}, parameters.data(), number.up_to(3),
                                 estimates.data()),
        std::length_error,
        names("quadrature: the number of elements in device memory is " + std::to_string(wrong)));
  }
}

BOOST_AUTO_TEST_CASE(bad_batches_are_named) {
  const std::vector<double> w{1, 2};
  std::vector<quadrature_estimate> found(2);
  BOOST_TEST(ramify::quadrature(unit, waves{}, w.data(), 0, found.data()).integrals == 0u);
  const auto expect = [&](const double* parameters, std::size_t n, quadrature_estimate* estimates,
                          const quadrature_options& options, const char* text) {
    BOOST_CHECK_EXCEPTION(
        (void)ramify::quadrature(unit, waves{}, parameters, n, estimates, options),
        std::invalid_argument, names(text));
  };
  expect(nullptr, 2, found.data(), {}, "quadrature: parameters is null");
  expect(w.data(), 2, nullptr, {}, "quadrature: estimates is null");
  expect(w.data(), std::size_t{1} << 31, found.data(), {},
         "quadrature: the number of integrals is 2147483648; it must be less than 2^31");
  expect(w.data(), 2, found.data(), {.relative_tolerance = 2},
         "quadrature_options.relative_tolerance");
  expect(w.data(), 2, found.data(), {.max_evaluations = 1}, "quadrature_options.max_evaluations");
  BOOST_CHECK_EXCEPTION(
      (void)ramify::quadrature(quadrature_box<1>{{1}, {0}}, waves{}, w.data(), 2, found.data()),
      std::invalid_argument, names("quadrature_box: axis 0"));
}

BOOST_AUTO_TEST_SUITE_END()
