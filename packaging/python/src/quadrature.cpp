// SPDX-License-Identifier: BSD-3-Clause
// Integrals of Genz's test functions.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <ramify/quadrature.hpp>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace ramify::python {

namespace {

/// Returns the integrand, of whose dimensions there is an `a` and a `u` each; at most 8.
genz_integrand integrand_of(const std::string& family, const std::vector<double>& a,
                            const std::vector<double>& u) {
  genz_integrand f;
  f.family = parse_genz_family(family);
  f.dimensions = static_cast<unsigned>(a.size());
  std::copy_n(a.begin(), std::min(a.size(), f.a.size()), f.a.begin());
  std::copy_n(u.begin(), std::min(u.size(), f.u.size()), f.u.begin());
  validate(f);
  return f;
}

nb::tuple random_integrand(const std::string& family, unsigned dimensions, std::uint64_t seed,
                           double difficulty) {
  const genz_integrand f = random_genz(parse_genz_family(family), dimensions, seed, difficulty);
  validate(f);
  return nb::make_tuple(std::vector<double>(f.a.begin(), f.a.begin() + f.dimensions),
                        std::vector<double>(f.u.begin(), f.u.begin() + f.dimensions));
}

nb::tuple integrate(const std::string& family, const std::vector<double>& a,
                    const std::vector<double>& u, double absolute_tolerance,
                    double relative_tolerance, std::size_t min_evaluations,
                    std::size_t max_evaluations, const environment& env) {
  const genz_integrand f = integrand_of(family, a, u);
  quadrature_options options;
  options.absolute_tolerance = absolute_tolerance;
  options.relative_tolerance = relative_tolerance;
  options.min_evaluations = min_evaluations;
  options.max_evaluations = max_evaluations;
  const auto found = without_lock([&] { return quadrature(f, options, env); });
  const std::string_view status = to_string(found.status);
  return nb::make_tuple(found.value, found.error, nb::str(status.data(), status.size()),
                        found.regions, found.evaluations, text_of(found.report));
}

}  // namespace

void add_quadrature(nb::module_& module) {
  module.def(
      "check_genz",
      [](const std::string& family, const std::vector<double>& a, const std::vector<double>& u) {
        return exact_integral(integrand_of(family, a, u));
      },
      nb::arg("family"), nb::arg("a"), nb::arg("u"));
  module.def("random_genz", &random_integrand, nb::arg("family"), nb::arg("dimensions"),
             nb::arg("seed"), nb::arg("difficulty"));
  module.def(
      "genz_difficulty",
      [](const std::string& family) { return genz_difficulty(parse_genz_family(family)); },
      nb::arg("family"));
  module.def("quadrature", &integrate, nb::arg("family"), nb::arg("a"), nb::arg("u"),
             nb::arg("absolute_tolerance"), nb::arg("relative_tolerance"),
             nb::arg("min_evaluations"), nb::arg("max_evaluations"), nb::arg("env"));
}

}  // namespace ramify::python
