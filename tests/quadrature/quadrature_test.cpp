// SPDX-License-Identifier: BSD-3-Clause
// Compares quadrature() with closed forms: Genz's families and singular functions; and tests its
// failures.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ramify/cpu/executor.hpp>
#include <ramify/quadrature.cuh>
#include <ramify/quadrature.hpp>
#include <ramify/quadrature/genz.cuh>
#include <stdexcept>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "printing.hpp"
#include "quadrature_checks.cuh"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;

BOOST_AUTO_TEST_SUITE(quadratures)

BOOST_AUTO_TEST_CASE(families_of_genz_are_right_or_honest,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const auto expect = [](unsigned converged, unsigned least, unsigned end) {
    BOOST_TEST(converged >= least);
    BOOST_TEST(converged < end);
  };
  expect(integrate_families<1>(10'000, 4), 72, 73);  // all
  // In more dimensions some runs do not converge within so few evaluations.
  expect(integrate_families<2>(20'000, 2), 26, 36);
  expect(integrate_families<3>(20'000, 1), 13, 18);
  expect(integrate_families<5>(20'000, 1), 7, 18);
  expect(integrate_families<8>(20'000, 1), 4, 18);
}

// In the first region the differences of the rules are small by accident.
BOOST_AUTO_TEST_CASE(a_first_region_does_not_converge_by_accident) {
  for (const std::uint64_t seed : {41, 104, 132}) {
    const auto f = random_genz(genz_family::gaussian, 3, seed, 7.03);
    const auto found = integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 1e-3});
    BOOST_TEST(found.converged());
    expect_honest(found, exact_integral(f), 1e-3 * exact_integral(f));
  }
}

// No weighted point of the first region is beyond these jumps; only those near the faces are.
BOOST_AUTO_TEST_CASE(a_jump_next_to_a_face_is_found) {
  const auto expect = [](const auto& box, const auto& f, double exact) {
    const auto found = integrate(box, f, {.relative_tolerance = 1e-3});
    BOOST_TEST(found.regions > 1u);
    BOOST_TEST(found.converged());
    expect_honest(found, exact, 1e-3 * exact);
  };
  const genz_integrand line{genz_family::discontinuous, 1, {0.1}, {0.998}};
  expect(unit_cube<1>(), genz_function<1>(line), exact_integral(line));
  const genz_integrand plane{genz_family::discontinuous, 2, {0.1, 0.1}, {0.99, 1}};
  expect(unit_cube<2>(), genz_function<2>(plane), exact_integral(plane));
  const genz_integrand space{genz_family::discontinuous, 3, {0.1, 0.1, 0.1}, {1, 0.99}};
  expect(unit_cube<3>(), genz_function<3>(space), exact_integral(space));
}

// More members and evaluations: takes minutes.
BOOST_AUTO_TEST_CASE(many_members_of_genz_families_are_right_or_honest,
                     *boost::unit_test::precondition(seeds_are_given)) {
  const std::uint64_t seeds = std::stoull(std::getenv("RAMIFY_QUADRATURE_SEEDS"));
  integrate_families<1>(100'000, seeds);
  integrate_families<2>(200'000, seeds);
  integrate_families<3>(200'000, seeds);
  integrate_families<5>(200'000, seeds);
  integrate_families<8>(200'000, seeds);
}

BOOST_AUTO_TEST_CASE(min_evaluations_find_a_hidden_peak) {
  const auto missed = integrate(unit_cube<2>(), hidden_peak{1e6}, {});
  BOOST_TEST(missed.converged());
  BOOST_TEST(missed.value < 1.5);
  const auto found = integrate(unit_cube<2>(), hidden_peak{1e6}, {.min_evaluations = 60'000});
  BOOST_TEST(found.converged());
  BOOST_TEST(std::fabs(found.value - 2) < 2e-6);
}

BOOST_AUTO_TEST_CASE(a_singularity_at_the_boundary_converges) {
  const auto found =
      integrate(quadrature_box<1>{{0}, {1}}, inverse_root{}, {.relative_tolerance = 1e-9});
  BOOST_TEST(found.converged());
  BOOST_TEST(std::fabs(found.value - 2) < 2e-9);
}

// Next to a coordinate of 1, half a region's length times 2^-14 is lost in round-off long before a
// region has no middle.
BOOST_DATA_TEST_CASE(no_point_is_on_the_boundary, data::make(routes), taken) {
  for (const auto& f : {root_at_end{0, 1}, root_at_end{1, 1}, root_at_end{-1, -1}}) {
    const quadrature_box<1> box{{f.low}, {f.low + 1}};
    const auto coarse = integrate(box, f, {.relative_tolerance = 1e-4}, {.route = taken});
    BOOST_TEST(coarse.converged());
    BOOST_TEST(std::fabs(coarse.value - 2) <= 2e-4);
    const auto fine = integrate(box, f, {}, {.route = taken});
    BOOST_TEST(to_string(fine.status) == "round_off");
    BOOST_TEST(std::fabs(fine.value - 2) <= fine.error);
  }
  // The second axis is about as short as the box allows, and at a coordinate with round-off.
  for (const double low : {1.0, -0.7, 1e300, 0.0}) {
    const double length = low == 0 ? 0x1p-1057 : std::fabs(low) * 1.1 * 0x1p-36;
    const quadrature_box<2> box{{0, low}, {0.1, low + length}};
    const auto found = integrate(box, inside{box}, {.min_evaluations = 2'000}, {.route = taken});
    BOOST_TEST(to_string(found.status) != "not_finite");
  }
}

BOOST_AUTO_TEST_CASE(either_tolerance_is_enough) {
  const auto f = random_genz(genz_family::gaussian, 2, 5, 7.0);
  const auto run = [&](double absolute, double relative) {
    const auto found = integrate(unit_cube<2>(), genz_function<2>(f),
                                 {.absolute_tolerance = absolute, .relative_tolerance = relative});
    return found.evaluations - found.report.check_evaluations;
  };
  BOOST_TEST(run(1e-3, 0) < run(1e-5, 0));
  BOOST_TEST(run(1e-3, 1e-9) == run(1e-3, 0));
  BOOST_TEST(run(1e-30, 1e-3) == run(0, 1e-3));
  // An integral of 0 has only an absolute tolerance.
  const auto zero = integrate(quadrature_box<1>{{-1}, {1}}, monomial<1>{{33}},
                              {.absolute_tolerance = 1e-12, .relative_tolerance = 0});
  BOOST_TEST(zero.converged());
  BOOST_TEST(std::fabs(zero.value) < 1e-12);
}

BOOST_DATA_TEST_CASE(a_point_that_is_not_finite_ends_with_its_coordinates,
                     data::make(routes) * data::xrange(4), taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const quadrature_box<2> box{{0, 0}, {1, 2}};
  for (const double limit : {0.5, 0.999, 1 - 0x1p-17}) {
    // With the second limit, only points near a face of the first region are beyond it. With the
    // third one, only points of smaller regions are.
    const auto found =
        integrate(box, root_below{limit}, {.relative_tolerance = 1e-9}, {.route = taken}, bounds);
    BOOST_TEST(to_string(found.status) == "not_finite");
    BOOST_TEST(!found.converged());
    BOOST_TEST((found.report.rounds > 1) == (limit > 0.999));
    BOOST_TEST(found.not_finite_at[0] > limit);
    BOOST_TEST(found.not_finite_at[0] < 1);
    BOOST_TEST((found.not_finite_at[1] > 0 && found.not_finite_at[1] < 2));
    BOOST_TEST(std::isinf(found.error));
    BOOST_TEST(std::isfinite(found.value));
  }
  const auto infinite = integrate(box, constant{HUGE_VAL}, {}, {.route = taken});
  BOOST_TEST(to_string(infinite.status) == "not_finite");
}

BOOST_DATA_TEST_CASE(an_unreachable_tolerance_ends_with_the_best_estimate,
                     data::make(routes) * data::xrange(4), taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const auto few =
      integrate(quadrature_box<1>{{0}, {1}}, noisy{},
                {.relative_tolerance = 1e-9, .max_evaluations = 999}, {.route = taken}, bounds);
  BOOST_TEST(to_string(few.status) == "max_evaluations");
  BOOST_TEST(std::fabs(few.value - 1) <= few.error);
  BOOST_TEST(few.error < 1e-5);
  // The error cannot be less than the round-off.
  const auto exact = integrate(quadrature_box<1>{{0}, {1}}, monomial<1>{{2}},
                               {.relative_tolerance = 1e-16}, {.route = taken}, bounds);
  BOOST_TEST(to_string(exact.status) == "round_off");
  BOOST_TEST(std::fabs(exact.value - 1.0 / 3) <= exact.error);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_any_launch) {
  const auto before = ramify::cpu::grids_begun();
  const auto expect = [&](const quadrature_options& options, const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(unit_cube<2>(), constant{1}, options),
                          std::invalid_argument, names(text));
    BOOST_CHECK_EXCEPTION((void)(ramify::quadrature_scratch_bytes<2, constant>(options)),
                          std::invalid_argument, names(text));
  };
  expect({.absolute_tolerance = -1}, "quadrature_options.absolute_tolerance is -1");
  expect({.absolute_tolerance = -1e-9}, "quadrature_options.absolute_tolerance is -1e-09;");
  expect({.absolute_tolerance = NAN}, "absolute_tolerance");
  expect({.relative_tolerance = 1}, "quadrature_options.relative_tolerance is 1");
  expect({.relative_tolerance = NAN}, "relative_tolerance");
  expect({.relative_tolerance = 0}, "greater than 0 if absolute_tolerance is 0");
  expect({.min_evaluations = 100, .max_evaluations = 99}, "min_evaluations is 100; it must be at");
  expect({.max_evaluations = 20}, "max_evaluations is 20; in 2 dimensions it must be at least 21");
  expect({.max_evaluations = std::size_t{1} << 62}, "in 2 dimensions it must be less than");
  // The message states the exact bound.
  expect({.max_evaluations = 45'097'156'587}, "it must be less than 45097156587");
  BOOST_TEST((ramify::quadrature_scratch_bytes<2, constant>({.max_evaluations = 45'097'156'586})) >
             (std::size_t{1} << 30));
  for (const auto& box :
       {quadrature_box<2>{{0, 1}, {1, 1}}, quadrature_box<2>{{0, 2}, {1, 1}},
        quadrature_box<2>{{0, NAN}, {1, 1}}, quadrature_box<2>{{0, 0}, {1, HUGE_VAL}}}) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(box, constant{1}), std::invalid_argument,
                          names("quadrature_box: axis 1 is from"));
  }
  for (const auto& box :
       {quadrature_box<2>{{0, 1}, {1, 1 + 0x1p-37}}, quadrature_box<2>{{0, 0}, {1, 0x1p-1059}}}) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(box, constant{1}), std::invalid_argument,
                          names("it must be longer than 2^-36 times its larger coordinate"));
  }
  BOOST_CHECK_EXCEPTION((void)ramify::quadrature(unit_cube<2>(), constant{1}, {.route = route(9)}),
                        std::invalid_argument, names("environment.route"));
  const quadrature_options options{.max_evaluations = 1'000};
  const std::size_t bytes = ramify::quadrature_scratch_bytes<2, constant>(options);
  const ramify::device_buffer<std::byte> memory(bytes, nullptr);
  BOOST_CHECK_EXCEPTION((void)ramify::quadrature(unit_cube<2>(), constant{1}, options,
                                                 {.memory = {memory.data(), bytes - 1}}),
                        std::invalid_argument, names("quadrature: environment.memory has"));
  BOOST_TEST(ramify::cpu::grids_begun() == before);
  const auto found = ramify::quadrature(unit_cube<2>(), constant{1}, options, {.memory = memory});
  BOOST_TEST(found.value == 1, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(found.report.scratch_bytes == bytes);
}

BOOST_AUTO_TEST_CASE(the_facade_integrates_in_all_dimensions) {
  for (unsigned d = 1; d <= ramify::max_quadrature_dimensions; ++d) {
    const auto f = random_genz(genz_family::gaussian, d, d, 2.0);
    const auto found =
        ramify::quadrature(f, {.relative_tolerance = 1e-4},
                           {.backend = tests::backend_under_test(), .pending_launches = 64});
    BOOST_TEST(found.converged());
    BOOST_TEST(found.report.pending_launch_limit == 64u);
    expect_honest(found, exact_integral(f), 1e-4 * exact_integral(f));
  }
  const auto refused = [](const genz_integrand& f, const ramify::quadrature_options& options,
                          const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(f, options), std::invalid_argument, names(text));
  };
  const auto good = random_genz(genz_family::c0, 2, 1, 1.0);
  refused({genz_family(9), 2, {1, 1}, {}}, {}, "genz_integrand.family");
  refused({genz_family::c0, 0, {}, {}}, {}, "genz_integrand.dimensions is 0");
  refused({genz_family::c0, 9, {}, {}}, {}, "genz_integrand.dimensions is 9");
  refused({genz_family::c0, 2, {1, 0}, {}}, {}, "genz_integrand.a[1] is 0");
  refused({genz_family::c0, 2, {1, 1}, {0, 2}}, {}, "genz_integrand.u[1] is 2");
  BOOST_CHECK_EXCEPTION((void)ramify::quadrature(good, {.backend = ramify::backend(7)}),
                        std::invalid_argument, names("environment.backend"));
  refused(good, {.relative_tolerance = 2}, "quadrature_options.relative_tolerance");
  BOOST_CHECK_EXCEPTION((void)ramify::parse_genz_family("cubic"), std::invalid_argument,
                        names("family 'cubic' is none of oscillatory"));
}

BOOST_AUTO_TEST_SUITE_END()
