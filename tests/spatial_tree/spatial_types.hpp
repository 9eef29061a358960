// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the tests of spatial trees have in common: their types, and the backend under test.

#include <boost/mpl/list.hpp>
#include <string>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "exceptions.hpp"
#include "printing.hpp"

namespace tests {

inline const spatial_cases& cases() {
  return runs_on_cpu() ? *spatial_cases_on_cpu() : *spatial_cases_on_cuda();
}

template <class Real, int dimensions, tree_builder<Real, dimensions> spatial_cases::*member>
struct spatial_type {
  using real = Real;
  static constexpr int dim = dimensions;
  static const tree_builder<Real, dimensions>& builder() { return cases().*member; }
};
using f2 = spatial_type<float, 2, &spatial_cases::f2>;
using f3 = spatial_type<float, 3, &spatial_cases::f3>;
using d2 = spatial_type<double, 2, &spatial_cases::d2>;
using d3 = spatial_type<double, 3, &spatial_cases::d3>;
using spatial_types = boost::mpl::list<f2, f3, d2, d3>;

}  // namespace tests
