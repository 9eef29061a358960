// SPDX-License-Identifier: BSD-3-Clause
// The grids of small roots: any number of chunks, passes, ways and searchers; sizes around the
// bounds between the forms; comparators that are not consistent.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <set>

#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::quicksort_strategy;
using tests::call_for;
using tests::make_input;
using tests::particle;
using tests::routes;

namespace tests {

/// The order of the differences modulo 3, which is not transitive.
struct by_difference {
  __host__ __device__ bool operator()(unsigned a, unsigned b) const { return (a - b) % 3 == 1; }
};

}  // namespace tests

namespace {

using ramify::detail::quicksort::small_root_plan;
using value = std::uint32_t;

template <class Key, class Compare>
using order_of = ramify::detail::quicksort::sort_order<Key, Compare>;
template <class Key, class Compare>
using context_of =
    ramify::detail::quicksort::sample_sort_context<Key, value, order_of<Key, Compare>>;

/// Sorts pairs as a small root in a given way. Returns the number of passes whose elements have
/// claimed the same place.
template <class Key, class Compare>
unsigned sort_small(std::vector<Key>& keys, std::vector<value>& values, const small_root_plan& plan,
                    Compare compare) {
  using ramify::detail::quicksort::place_claims;
  const std::size_t n = keys.size();
  const auto device_keys = tests::upload(keys);
  const auto device_values = tests::upload(values);
  const ramify::device_buffer<Key> scratch_keys(n, nullptr);
  const ramify::device_buffer<value> scratch_values(n, nullptr);
  const ramify::device_buffer<unsigned> claims(3 * place_claims::words(n), nullptr);
  context_of<Key, Compare> context{};
  context.root = {0, n};
  context.sizes.small = plan;
  context.claims = claims.data();
  context.buffers = {{device_keys.data(), device_values.data()},
                     {scratch_keys.data(), scratch_values.data()}};
  context.compare = {compare};
  ramify::detail::runtime::round_launcher grids(nullptr);
  launch_small_root(context, grids);
  ramify::check(grids.error(), "launching the grids of a small root");
  BOOST_TEST(grids.launched() == 1 + plan.passes);
  tests::download(device_keys, keys);
  tests::download(device_values, values);
  unsigned collided = 0;
  const auto claimed = tests::download(claims);
  for (unsigned pass = 1; pass <= plan.passes && !order_of<Key, Compare>::known_strict_weak;
       ++pass) {
    if (claimed[pass * place_claims::words(n) - 2] != 0) ++collided;
  }
  return collided;
}

/// Checks a plan on inputs with few and with many equal keys. The claims of a consistent order
/// never collide.
template <class Key, class Compare>
void expect_sorted_by(const small_root_plan& plan, std::size_t n, Compare compare) {
  BOOST_TEST_CONTEXT(n << " elements, chunks of " << plan.chunk << ", passes " << plan.passes
                       << ", ways " << plan.ways << ", searchers " << plan.searchers) {
    for (const auto d : {distribution::uniform, distribution::few_distinct}) {
      const auto input = make_input<Key>(d, n, n);
      auto keys = input.input();
      auto values = tests::count_up<value>(n);
      BOOST_TEST(sort_small(keys, values, plan, compare) == 0u);
      BOOST_TEST(input.check(keys, values) == "");
    }
  }
}

/// Checks all shapes of up to three passes, with the least and the greatest number of chunks.
template <class Key, class Compare>
void expect_any_plan_sorts(Compare compare) {
  using tuning = typename context_of<Key, Compare>::tuning;
  for (const unsigned chunk :
       std::set<unsigned>{tuning::short_chunk.size(), tuning::long_chunk.size()}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{chunk} - 1, std::size_t{chunk}}) {
      expect_sorted_by<Key>({.chunk = chunk, .passes = 0, .ways = 1, .searchers = 1}, n, compare);
    }
    for (const unsigned ways : {2u, 3u, 4u}) {
      std::size_t reach = chunk;
      for (unsigned passes = 1; passes <= 3; ++passes) {
        reach *= ways;
        if (passes == 3 && ways > 2 && tests::effort() < 1) break;
        for (const unsigned searchers : {1u, unsigned{tuning::max_searchers}}) {
          const small_root_plan plan{chunk, passes, ways, searchers};
          for (const std::size_t n : {std::size_t{chunk} + 1, reach - chunk + 1, reach}) {
            expect_sorted_by<Key>(plan, n, compare);
          }
        }
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_AUTO_TEST_CASE(chunks_are_merged_in_any_number_of_passes_and_ways) {
  expect_any_plan_sorts<std::uint32_t>(ramify::ascending{});
  expect_any_plan_sorts<double>(ramify::ascending{});
  expect_any_plan_sorts<particle>(tests::by_cell_then_mass{});
}

BOOST_AUTO_TEST_CASE(the_plan_reaches_all_elements) {
  using tuning = ramify::detail::quicksort::sample_sort_tuning<std::uint32_t, ramify::no_value>;
  const auto expect = [](std::size_t n) {
    const auto plan = ramify::detail::quicksort::plan_small_root<tuning>(n);
    std::size_t reach = plan.chunk;
    for (unsigned pass = 0; pass < plan.passes; ++pass) reach *= plan.ways;
    BOOST_REQUIRE_GE(reach, n);
    BOOST_REQUIRE_LE(plan.passes, 3u);
    BOOST_REQUIRE_GE(plan.searchers, 1u);
    BOOST_REQUIRE_LE(plan.searchers, unsigned(tuning::max_searchers));
  };
  for (std::size_t n = 1; n <= tuning::small_root_size; n += n < 2'000 ? 1 : 97) expect(n);
  expect(tuning::small_root_size);
  BOOST_TEST(
      ramify::detail::quicksort::plan_small_root<tuning>(tuning::small_root_size + 1).chunk == 0u);
}

BOOST_DATA_TEST_CASE(sizes_around_the_bounds_of_the_forms, data::make(routes), taken) {
  using tuning = ramify::detail::quicksort::sample_sort_tuning<std::uint32_t, value>;
  std::set<std::size_t> sizes;
  for (const std::size_t bound :
       {std::size_t{tuning::short_chunk.size()}, std::size_t{tuning::long_chunk.size()},
        std::size_t{16 * tuning::short_chunk.size()}, std::size_t{16 * tuning::long_chunk.size()},
        std::size_t{100 * tuning::long_chunk.size()}, std::size_t{tuning::small_root_size}}) {
    for (const std::size_t n : {bound - 1, bound, bound + 1}) {
      if (n <= tuning::small_root_size + 1) sizes.insert(n);
    }
  }
  for (const std::size_t n : sizes) {
    for (const auto d : {distribution::uniform, distribution::all_equal, distribution::reversed}) {
      const auto call = call_for(quicksort_strategy::sample_sort, taken);
      tests::expect_sorted(make_input<std::uint32_t>(d, n, 1), call);
      tests::expect_sorted(make_input<double>(d, n, 1), call);
    }
  }
}

BOOST_DATA_TEST_CASE(the_host_launches_all_grids_of_a_small_root, data::make(routes), taken) {
  using tuning = ramify::detail::quicksort::sample_sort_tuning<std::uint32_t, ramify::no_value>;
  const auto report_of = [&](std::size_t n) {
    auto keys = make_input<std::uint32_t>(distribution::uniform, n, 1).input();
    auto report = tests::sort_keys(keys, call_for(quicksort_strategy::sample_sort, taken));
    BOOST_TEST(std::ranges::is_sorted(keys));
    BOOST_TEST(report.deepest_level == (n > tuning::small_root_size ? 1u : 0u));
    return report;
  };
  for (const std::size_t n : {std::size_t{2}, std::size_t{tuning::long_chunk.size()} + 1,
                              std::size_t{tuning::small_root_size}}) {
    const auto report = report_of(n);
    BOOST_TEST(report.child_grids == 0u);
    BOOST_TEST(report.host_grids ==
               1 + ramify::detail::quicksort::plan_small_root<tuning>(n).passes);
  }
  BOOST_TEST(report_of(tuning::small_root_size + 1).host_grids >= 3u);
}

// Negative control: without the claims, merges in this order would lose keys.
BOOST_AUTO_TEST_CASE(an_inconsistent_order_is_noticed_and_loses_no_key) {
  using tuning = context_of<std::uint32_t, tests::by_difference>::tuning;
  const unsigned chunk = tuning::short_chunk.size();
  unsigned collided = 0;
  for (const unsigned passes : {1u, 2u, 3u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::size_t n = std::size_t{chunk} * (1u << passes) - 5 * seed;
      const auto input = make_input<std::uint32_t>(distribution::uniform, n, seed);
      auto keys = input.input();
      auto values = tests::count_up<value>(n);
      collided += sort_small(keys, values, {chunk, passes, 2, 1}, tests::by_difference{});
      std::vector<bool> seen(n);
      for (std::size_t i = 0; i < n; ++i) {
        BOOST_REQUIRE_LT(values[i], n);
        BOOST_REQUIRE(!seen[values[i]]);
        seen[values[i]] = true;
        BOOST_REQUIRE_EQUAL(keys[i], input.input()[values[i]]);
      }
    }
  }
  BOOST_TEST(collided > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
