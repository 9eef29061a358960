// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Integrands, and quadratures with checks of their counts.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ramify/quadrature.cuh>
#include <ramify/quadrature/genz.cuh>
#include <type_traits>

#include "device_vectors.cuh"
#include "printing.hpp"
#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using ramify::environment;
using ramify::genz_family;
using ramify::genz_function;
using ramify::genz_integrand;
using ramify::quadrature_box;
using ramify::quadrature_options;
using ramify::quadrature_point;
using ramify::quadrature_result;
using ramify::quadrature_status;
using ramify::route;

template <unsigned d>
quadrature_box<d> unit_cube() {
  quadrature_box<d> cube{};
  std::fill(cube.high, cube.high + d, 1.0);
  return cube;
}

using ramify::detail::quadrature::round_bounds;

/// Bounds with which the rounds of a quadrature are small, all medium, all large, and each of the
/// three in turn. (Round 0 is always small.)
inline constexpr round_bounds all_small{.small_evaluations = 1u << 30, .block_regions = 1u << 13};
inline constexpr round_bounds all_medium{.small_evaluations = 0, .block_regions = 1u << 13};
inline constexpr round_bounds all_large{
    .small_evaluations = 0, .block_regions = 0, .block_splits = 0};
inline constexpr round_bounds in_turn{
    .small_evaluations = 2, .block_regions = 80, .block_splits = 20};
inline constexpr round_bounds sizes_of_rounds[] = {all_small, all_medium, all_large, in_turn};

#if RAMIFY_ON_CUDA
template <unsigned d, class Integrand>
const Integrand& shared_type(const Integrand& f) {
  return f;
}
#else
/// Any integrand of d variables. With it the C++ compiler instantiates a quadrature once for each
/// d, and not for each integrand. (On a GPU host code cannot get the address of device code.)
template <unsigned d>
class any_integrand {
 public:
  template <class Integrand>
  explicit any_integrand(const Integrand& f)
      : call_([](const std::byte* bytes, const quadrature_point<d>& p) {
          return double((*reinterpret_cast<const Integrand*>(bytes))(p));
        }) {
    static_assert(std::is_trivially_copyable_v<Integrand> && sizeof f <= sizeof bytes_ &&
                  alignof(Integrand) <= alignof(double));
    std::memcpy(bytes_, &f, sizeof f);
  }
  double operator()(const quadrature_point<d>& p) const { return call_(bytes_, p); }

 private:
  double (*call_)(const std::byte*, const quadrature_point<d>&);
  alignas(double) std::byte bytes_[256]{};
};

template <unsigned d, class Integrand>
any_integrand<d> shared_type(const Integrand& f) {
  return any_integrand<d>(f);
}
#endif

/// Integrates and checks the counts of the report.
template <unsigned d, class Integrand>
quadrature_result integrate(const quadrature_box<d>& box, const Integrand& f,
                            const quadrature_options& options, const environment& env = {},
                            const round_bounds& bounds = {}) {
  quadrature_result found;
  with_grids_counted([&] {
    found =
        ramify::detail::quadrature::start_quadrature(box, shared_type<d>(f), options, env, bounds)
            .get();
    return found.report;
  });
  BOOST_TEST(found.evaluations <= options.max_evaluations);
  // Each split adds a region and evaluates two. Checks evaluate other points.
  BOOST_TEST(found.evaluations == (2 * found.regions - 1) * ramify::quadrature_points(d) +
                                      found.report.check_evaluations);
  return found;
}

/// Checks that the true error of a converged result is within the tolerance. Another result must
/// have the status max_evaluations, and an error over the tolerance.
inline void expect_honest(const quadrature_result& found, double exact, double tolerance) {
  const double error = std::fabs(found.value - exact);
  if (found.converged()) {
    BOOST_TEST(error <= tolerance);
    // quadrature() computes the tolerance from the estimate, and this test from the integral.
    BOOST_TEST(found.error <= tolerance * 1.001);
  } else {
    BOOST_TEST(to_string(found.status) == "max_evaluations");
    BOOST_TEST(found.error > tolerance * 0.999);
  }
}

/// Integrates members of all families with three tolerances. Returns how many runs converged.
template <unsigned d>
unsigned integrate_families(std::size_t max_evaluations, std::uint64_t seeds) {
  unsigned converged = 0;
  for (const genz_family family : ramify::all_choices<genz_family>()) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const genz_integrand f = random_genz(family, d, seed, genz_difficulty(family));
      const double exact = exact_integral(f);
      for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
        BOOST_TEST_CONTEXT(to_string(family) << " in " << d << " dimensions, seed " << seed
                                             << ", tolerance " << tolerance) {
          const auto found =
              integrate(unit_cube<d>(), genz_function<d>(f),
                        {.relative_tolerance = tolerance, .max_evaluations = max_evaluations});
          expect_honest(found, exact, tolerance * std::fabs(exact));
          if (found.converged()) ++converged;
        }
      }
    }
  }
  return converged;
}

/// Precondition of the long test. tests/run.sh --all sets the variable.
inline boost::test_tools::assertion_result seeds_are_given(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result given(std::getenv("RAMIFY_QUADRATURE_SEEDS") != nullptr &&
                                            effort() == 1);
  given.message() << "RAMIFY_QUADRATURE_SEEDS is not set, or a sanitizer is on";
  return given;
}

/// The product of x_i^exponents_i over all axes, and its integral over a box.
template <unsigned d>
struct monomial {
  int exponents[d];
  __device__ double operator()(const quadrature_point<d>& p) const {
    double value = 1;
    for (unsigned i = 0; i < d; ++i) {
      for (int k = 0; k < exponents[i]; ++k) value *= p[i];
    }
    return value;
  }
  [[nodiscard]] double integral(const quadrature_box<d>& box) const {
    double value = 1;
    for (unsigned i = 0; i < d; ++i) {
      const int k = exponents[i] + 1;
      value *= (std::pow(box.high[i], k) - std::pow(box.low[i], k)) / k;
    }
    return value;
  }
};

/// A monomial plus a multiple of the fourth power of the first coordinate.
struct with_fourth_power {
  monomial<3> f;
  double factor;
  __device__ double operator()(const quadrature_point<3>& p) const {
    return f(p) + factor * p[0] * p[0] * p[0] * p[0];
  }
};

/// 1 / sqrt(x): infinite at 0, where no point lies.
struct inverse_root {
  __device__ double operator()(const quadrature_point<1>& p) const { return 1 / std::sqrt(p[0]); }
};

/// 1 / sqrt(|x - pole|), and infinite on and beyond both ends of [low, low + 1].
struct root_at_end {
  double low;
  double pole;
  __device__ double operator()(const quadrature_point<1>& p) const {
    return p[0] > low && p[0] < low + 1 ? 1 / std::sqrt(std::fabs(p[0] - pole)) : HUGE_VAL;
  }
};

/// 1 inside a box, and infinite on its boundary and outside of it.
struct inside {
  quadrature_box<2> box;
  __device__ double operator()(const quadrature_point<2>& p) const {
    for (unsigned i = 0; i < 2; ++i) {
      if (!(p[i] > box.low[i] && p[i] < box.high[i])) return HUGE_VAL;
    }
    return 1;
  }
};

/// sqrt(limit - x) + y, which is NaN where x is greater than `limit`.
struct root_below {
  double limit;
  __device__ double operator()(const quadrature_point<2>& p) const {
    return std::sqrt(limit - p[0]) + p[1];
  }
};

/// A constant, in any number of dimensions.
struct constant {
  double value;
  template <unsigned d>
  __device__ double operator()(const quadrature_point<d>&) const {
    return value;
  }
};

/// 1, and a narrow peak of volume 1, which the points of one region miss.
struct hidden_peak {
  double sharpness;
  __device__ double operator()(const quadrature_point<2>& p) const {
    const double x = p[0] - 0.73;
    const double y = p[1] - 0.57;
    return 1 + sharpness / 3.14159265358979324 * std::exp(-sharpness * (x * x + y * y));
  }
};

/// exp(-(k n x)^2 / 2), a ridge along the plane n x = 0.
template <unsigned d>
struct ridge {
  double k;
  int normal[d];
  __device__ double operator()(const quadrature_point<d>& p) const {
    double u = 0;
    for (unsigned i = 0; i < d; ++i) u += normal[i] * p[i];
    return std::exp(-k * u * (k * u) / 2);
  }
};

/// max(x, y, (1 - x)(1 - y)).
struct largest_of_three {
  __device__ double operator()(const quadrature_point<2>& p) const {
    return std::fmax(std::fmax(p[0], p[1]), (1 - p[0]) * (1 - p[1]));
  }
};

/// 1, and NaN in a square that no point of the first region is in.
struct hidden_hole {
  __host__ __device__ double operator()(const quadrature_point<2>& p) const {
    return std::fabs(p[0] - 0.73) < 0.05 && std::fabs(p[1] - 0.57) < 0.05 ? NAN : 1;
  }
};

/// 1 with noise of relative size 1e-6, whose period is far less than a region of these tests.
struct noisy {
  __device__ double operator()(const quadrature_point<1>& p) const {
    return 1 + 1e-6 * std::sin(1e9 * p[0]);
  }
};

}  // namespace tests::inline RAMIFY_BUILD
