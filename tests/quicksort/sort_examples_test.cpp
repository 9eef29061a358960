// SPDX-License-Identifier: BSD-3-Clause
// Two sorts as a user writes them: structs in the order of two fields, and the ten largest of many
// numbers with their places. They are compared with the standard library.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/quicksort.cuh>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "device_vectors.cuh"
#include "effort.hpp"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using tests::routes;

namespace {

struct city {
  std::uint16_t country;
  float people;
  std::uint32_t id;
};

/// By country, and in each country the city with the most people first. Other fields do not matter.
struct by_country_and_size {
  __host__ __device__ bool operator()(const city& a, const city& b) const {
    if (a.country != b.country) return a.country < b.country;
    return ramify::descending{}(a.people, b.people);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sort_examples)

BOOST_DATA_TEST_CASE(structs_in_the_order_of_two_fields, data::make(routes), taken) {
  std::mt19937 random(3);
  std::vector<city> cities(static_cast<std::size_t>(tests::cut_down(20'000, 2'000)));
  for (std::uint32_t i = 0; i < cities.size(); ++i) {
    cities[i] = {std::uint16_t(random() % 40), float(random() % 5'000) - 100, i};
    if (i % 1'000 == 0) cities[i].people = std::numeric_limits<float>::quiet_NaN();
    if (i % 1'000 == 1) cities[i].people = i % 2'000 == 1 ? -0.0f : 0.0f;
  }
  const auto on_device = tests::upload(cities);
  ramify::quicksort(on_device.data(), cities.size(), by_country_and_size{}, {.route = taken});

  const auto sorted = tests::download(on_device);
  const auto key_of = [](const city& c) {  // a NaN comes first, and -0 equals 0
    return std::tuple(c.country, !std::isnan(c.people), std::isnan(c.people) ? 0 : -c.people);
  };
  BOOST_TEST(std::ranges::is_sorted(sorted, {}, key_of));
  // No city is lost or changed.
  std::vector<bool> found(cities.size());
  for (const city& c : sorted) {
    BOOST_REQUIRE(c.id < cities.size());
    BOOST_TEST(!found[c.id]);
    found[c.id] = true;
    BOOST_TEST((key_of(c) == key_of(cities[c.id])));
  }
}

BOOST_DATA_TEST_CASE(ten_largest_of_many_numbers, data::make(routes), taken) {
  std::mt19937_64 random(5);
  std::vector<double> numbers(static_cast<std::size_t>(tests::cut_down(30'000, 3'000)));
  for (double& number : numbers) number = std::ldexp(double(random() >> 11), -53);
  std::vector<std::uint32_t> places(numbers.size());
  std::iota(places.begin(), places.end(), 0u);
  const auto keys = tests::upload(numbers);
  const auto values = tests::upload(places);
  ramify::quicksort_pairs(keys.data(), values.data(), numbers.size(), ramify::descending{},
                          {.route = taken});

  std::partial_sort(places.begin(), places.begin() + 10, places.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return numbers[a] > numbers[b]; });
  const auto largest = tests::download(keys);
  const auto of_largest = tests::download(values);
  for (std::size_t i = 0; i < 10; ++i) {
    BOOST_TEST(of_largest[i] == places[i]);
    BOOST_TEST(largest[i] == numbers[places[i]]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
