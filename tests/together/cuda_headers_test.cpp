// SPDX-License-Identifier: BSD-3-Clause
// Five families in one source, through the headers for CUDA code: the gravity of a cloud, the
// distance of each body to its nearest neighbor, the bodies in order of this distance, a count of
// the near ones by a traversal, and a shock tube on a mesh. The source compiles by the C++ compiler
// for the CPU executor and by nvcc for a GPU.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <ramify/amr.cuh>
#include <ramify/nbody.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/traverse.cuh>
#include <random>

#include "../spatial_tree/spatial_types.hpp"
#include "device_vectors.cuh"

using namespace ramify;
using namespace std;

namespace {

constexpr uint32_t bodies = 700;

/// Tree over the positions in [first, last) of an array. A node is split in the middle.
struct range_node {
  uint32_t first, last;
};
struct two_halves {
  __host__ __device__ unsigned degree(range_node n) const { return n.last - n.first > 1 ? 2 : 0; }
  __host__ __device__ range_node child(range_node n, unsigned i) const {
    const uint32_t middle = n.first + (n.last - n.first) / 2;
    return i == 0 ? range_node{n.first, middle} : range_node{middle, n.last};
  }
};
/// Counts the values of at most `limit` at the leaves.
struct is_small {
  const float* values;
  float limit;
  __host__ __device__ unsigned operator()(range_node n, unsigned degree) const {
    return degree == 0 && values[n.first] <= limit ? 1 : 0;
  }
};
struct add {
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

struct cloud {
  vector<point<float, 3>> positions;
  vector<float> masses;
};

cloud random_cloud() {
  mt19937 engine(7);
  uniform_real_distribution<float> coordinate(-1, 1);
  cloud made;
  for (uint32_t i = 0; i < bodies; ++i) {
    made.positions.push_back({{coordinate(engine), coordinate(engine), coordinate(engine)}});
    made.masses.push_back(1.0f + 0.001f * static_cast<float>(i));
  }
  return made;
}

/// Squared distances to the nearest neighbor, by comparison of all pairs.
vector<float> neighbor_distances(const cloud& all) {
  vector<float> least(bodies, numeric_limits<float>::infinity());
  for (uint32_t i = 0; i < bodies; ++i) {
    for (uint32_t j = 0; j < bodies; ++j) {
      if (i == j) continue;
      least[i] = min(least[i], distance2(all.positions[i], all.positions[j]));
    }
  }
  return least;
}

}  // namespace

BOOST_AUTO_TEST_CASE(five_families_work_on_the_same_device_memory) {
  const cloud all = random_cloud();
  const auto positions = tests::upload(all.positions);
  const auto masses = tests::upload(all.masses);

  // Gravity: forces between two bodies are opposite, so the tree code's sum of forces is small.
  device_buffer<point<float, 3>> accelerations(bodies, nullptr);
  barnes_hut<float> gravity({.theta = 0.3, .softening = 0.05});
  gravity.accelerations(positions.data(), masses.data(), bodies, accelerations.data());
  const auto pulled = tests::download(accelerations);
  for (int axis = 0; axis < 3; ++axis) {
    double sum = 0, magnitude = 0;
    for (uint32_t i = 0; i < bodies; ++i) {
      sum += static_cast<double>(all.masses[i]) * pulled[i].x[axis];
      magnitude += abs(static_cast<double>(all.masses[i]) * pulled[i].x[axis]);
    }
    BOOST_TEST(magnitude > 0.0);
    BOOST_TEST(abs(sum) < 0.001 * magnitude);
  }

  // Spatial tree: the nearest neighbor of every body.
  const ramify::spatial_tree tree(positions.data(), bodies);
  device_buffer<uint32_t> neighbors(bodies, nullptr);
  device_buffer<float> distances(bodies, nullptr);
  all_nearest_neighbors(tree.view(), 1, true, neighbors.data(), distances.data());
  vector<float> expected = neighbor_distances(all);
  BOOST_TEST(tests::download(distances) == expected, boost::test_tools::per_element());

  // Quicksort: the bodies in order of this distance.
  vector<uint32_t> ids(bodies);
  iota(ids.begin(), ids.end(), 0u);
  const auto order = tests::upload(ids);
  ramify::quicksort_pairs(distances.data(), order.data(), bodies);
  const auto order_found = tests::download(order);
  for (uint32_t i = 1; i < bodies; ++i) {
    BOOST_TEST(expected[order_found[i - 1]] <= expected[order_found[i]]);
  }
  sort(expected.begin(), expected.end());
  BOOST_TEST(tests::download(distances) == expected, boost::test_tools::per_element());

  // Traversal: the number of bodies that are no farther from a neighbor than body number 99.
  const auto found = ramify::traverse(range_node{0, bodies}, two_halves{},
                                      is_small{distances.data(), expected[99]}, add{}, 0u);
  const auto small = upper_bound(expected.begin(), expected.end(), expected[99]);
  BOOST_TEST(found.value == static_cast<unsigned>(small - expected.begin()));

  // Mesh: a shock tube keeps its mass until a wave reaches a wall.
  using gas = euler<double, 2>;
  amr_options options;
  options.mesh.max_level = 2;
  amr_run run(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, options);
  const double mass = run.totals()[0];
  run.advance_to(0.02);
  BOOST_TEST(run.time() == 0.02);
  BOOST_TEST(run.totals()[0] == mass, boost::test_tools::tolerance(1e-12));
}
