// SPDX-License-Identifier: BSD-3-Clause
// The examples of docs/own_data.md compute what plain loops compute.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <ramify/quadrature.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/traverse.cuh>
#include <span>
#include <vector>

#include "device_vectors.cuh"
#include "own_data_examples.hpp"  // the examples of the page
#if RAMIFY_ON_CUDA
#include "own_data_cuda_examples.hpp"  // those with Thrust and CCCL
#endif

namespace {

using namespace tests;

std::vector<std::uint32_t> numbers_of(std::size_t n) {
  std::vector<std::uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

/// Whole numbers below 65537, all different, in no order.
std::vector<float> scattered(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i * 7919 % 65'537);
  return values;
}

/// Keys that are not stored.
struct negated {
  const float* values;
  __host__ __device__ float operator[](std::size_t i) const { return -values[i]; }
};

/// Checks that `numbers` are those of all n elements, in the order of key(i).
template <class Key>
void expect_sorted_by(std::size_t n, const device_buffer<std::uint32_t>& numbers, const Key& key) {
  auto expected = numbers_of(n);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  BOOST_TEST(download(numbers) == expected, boost::test_tools::per_element());
}

std::uint64_t count_large(unsigned n, unsigned least) {
  return (n >= least ? 1u : 0u) +
         (n < 2 ? 0 : count_large(n / 2, least) + count_large((n + 1) / 2, least));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_data)

BOOST_AUTO_TEST_CASE(keys_of_an_iterator) {
  const auto values = scattered(3'000);
  const auto on_device = upload(values);
  const auto numbers = upload(numbers_of(values.size()));
  sort_by(numbers.data(), numbers.size(), on_device.data());
  expect_sorted_by(values.size(), numbers, [&](std::uint32_t i) { return values[i]; });
  sort_by(numbers.data(), numbers.size(), negated{on_device.data()});
  expect_sorted_by(values.size(), numbers, [&](std::uint32_t i) { return -values[i]; });
}

BOOST_AUTO_TEST_CASE(lambdas_of_a_traversal) {
  for (const unsigned least : {0u, 1u, 17u, 3'000u}) {
    BOOST_TEST(large_nodes(2'500, least) == count_large(2'500, least));
  }
}

BOOST_AUTO_TEST_CASE(lambda_as_an_integrand) {
  for (const double a : {0.5, 3.0}) {
    const double of_one_axis = (1 - std::exp(-a)) / a;
    BOOST_TEST(decay(a) == of_one_axis * of_one_axis, boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(lambda_as_a_callback) {
  std::vector<ramify::point<float, 3>> points;
  for (unsigned i = 0; i < 500; ++i) {
    points.push_back(
        {{static_cast<float>(i % 8), static_cast<float>(i / 8 % 8), static_cast<float>(i / 64)}});
  }
  const std::vector<float> masses = scattered(points.size());
  const std::vector<ramify::point<float, 3>> centers{{{1, 1, 1}}, {{4.5f, 3, 2}}, {{90, 0, 0}}};
  const auto points_there = upload(points);
  const auto masses_there = upload(masses);
  const auto centers_there = upload(centers);
  const auto sums = zeros<float>(centers.size());
  const ramify::spatial_tree<float, 3> tree(points_there.data(), points.size());
  masses_in_balls(tree.view(), centers_there.data(), centers.size(), 2.25f, masses_there.data(),
                  sums.data());
  std::vector<float> expected;  // sums of few whole numbers are exact in any order
  for (const auto& center : centers) {
    float sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      float square = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const float d = points[i].x[axis] - center.x[axis];
        square += d * d;
      }
      if (square <= 2.25f * 2.25f) sum += masses[i];
    }
    expected.push_back(sum);
  }
  BOOST_TEST(expected[0] > 0);
  BOOST_TEST(download(sums) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lambda_as_the_operator_of_folds) {
  const std::vector<std::int32_t> parents{-1, 0, 0, 1, 1, 2, 5};
  const std::vector<int> values{3, 1, 4, 1, 5, 9, 2};
  const std::vector<int> expected{9, 5, 9, 1, 5, 9, 2};  // by hand
  const auto parents_there = upload(parents);
  const auto values_there = upload(values);
  const auto largest = zeros<int>(values.size());
  largest_below({parents_there.data(), parents.size()}, values_there.data(), largest.data());
  BOOST_TEST(download(largest) == expected, boost::test_tools::per_element());
}

#if RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(containers_and_views_of_cccl) {
  const auto values = scattered(3'000);
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto check_keys = [&](const auto& keys) {
    BOOST_TEST(keys == sorted, boost::test_tools::per_element());
  };
  thrust::device_vector<float> vector(values.begin(), values.end());
  sort_vector(vector);
  std::vector<float> found(vector.size());
  thrust::copy(vector.begin(), vector.end(), found.begin());
  check_keys(found);
  const auto keys = upload(values);
  sort_span({keys.data(), keys.size()}, nullptr);
  check_keys(download(keys));

  const auto on_device = upload(values);
  const auto numbers = upload(numbers_of(values.size()));
  sort_by_distance(numbers.data(), numbers.size(), on_device.data(), 100.25f);
  expect_sorted_by(values.size(), numbers,
                   [&](std::uint32_t i) { return std::fabs(values[i] - 100.25f); });
  const auto rows = upload(numbers_of(values.size() / 3));
  sort_rows(rows.data(), matrix(on_device.data(), rows.size(), 3), 2);
  expect_sorted_by(rows.size(), rows, [&](std::uint32_t i) { return values[3 * i + 2]; });
}
#endif

BOOST_AUTO_TEST_SUITE_END()
