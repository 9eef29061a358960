// SPDX-License-Identifier: BSD-3-Clause
// The example at the head of <ramify/amr.cuh>.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr.cuh>

BOOST_AUTO_TEST_SUITE(header_example)

BOOST_AUTO_TEST_CASE(the_example_runs) {
  using namespace ramify;
  const cudaStream_t s = nullptr;
  const double end = 0.002;  // of 0.2

  using gas = euler<double, 2>;
  amr_options options;
  options.mesh.max_level = 2;  // of 4
  options.mesh.sides.fill({boundary::outflow, boundary::outflow});
  amr_run run(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, options, {.stream = s});
  run.advance_to(end);
  BOOST_TEST(run.time() == end);
  BOOST_TEST(std::abs(run.totals()[0] - 0.5625) < 1e-13);  // mass
  BOOST_TEST(run.snapshot().leaves.size() == run.report().leaves);
}

/// A criterion without samples, which gets all values.
template <class Physics>
struct gradient_of_all_values {
  using real = typename Physics::real;
  static constexpr int dim = Physics::dimensions;
  int variable;

  __device__ real operator()(const ramify::cell_stencil<typename Physics::values, dim>& u,
                             const ramify::block_place<dim>& place,
                             const real (&where)[dim]) const {
    return ramify::gradient_criterion<Physics>{variable}(u, place, where);
  }
};

BOOST_AUTO_TEST_CASE(samples_and_all_values_give_the_same_mesh) {
  using namespace ramify;
  using gas = euler<double, 2>;
  amr_options options;
  options.mesh.max_level = 2;
  options.mesh.sides.fill({boundary::outflow, boundary::outflow});
  constexpr int pressure = gas::pressure;
  amr_run sampled(gas{}, gradient_criterion<gas>{pressure}, sod<double, 2>{}, options);
  amr_run all(gas{}, gradient_of_all_values<gas>{pressure}, sod<double, 2>{}, options);
  sampled.advance(5);
  all.advance(5);
  BOOST_TEST(sampled.report().leaves > 4u);
  BOOST_TEST((sampled.snapshot().leaves == all.snapshot().leaves));
  BOOST_TEST((sampled.snapshot().values == all.snapshot().values));
}

BOOST_AUTO_TEST_CASE(another_backend_is_rejected) {
  using namespace ramify;
  using gas = euler<double, 2>;
  const environment other{.backend = RAMIFY_ON_CUDA ? backend::cpu : backend::cuda};
  BOOST_CHECK_THROW((amr_run(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, {}, other)),
                    unavailable);
}

BOOST_AUTO_TEST_SUITE_END()
