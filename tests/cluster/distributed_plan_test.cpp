// SPDX-License-Identifier: BSD-3-Clause
// Which nodes the ranks of a traversal exchange between rounds. The plans are of single lists of
// counts, so each rank checks the same ones.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <ramify/distributed_traverse.cuh>
#include <set>
#include <string>
#include <vector>

namespace tests::distributed {
namespace {

using ramify::detail::distributed_traverse::node_transfer;
using ramify::detail::distributed_traverse::plan_equal_parts;
using ramify::detail::distributed_traverse::plan_transfers;
using ramify::detail::distributed_traverse::transfer_planner;

/// Returns "", or how a plan breaks its rules.
std::string fault_of(const std::vector<std::uint64_t>& counts,
                     const std::vector<node_transfer>& plan, std::uint64_t most) {
  std::vector<std::uint64_t> after = counts;
  std::set<int> senders;
  std::set<int> receivers;
  for (const auto& [from, to, n] : plan) {
    if (n == 0) return "an empty transfer";
    if (after[std::size_t(from)] < n) return "more nodes than the sender has";
    after[std::size_t(from)] -= n;
    after[std::size_t(to)] += n;
    senders.insert(from);
    receivers.insert(to);
  }
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::uint64_t mean = total / counts.size();
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (senders.contains(int(r)) && receivers.contains(int(r))) return "sends and receives";
    if (after[r] > std::max(counts[r], most)) return "too many nodes on a rank";
  }
  const bool is_limited = most <= mean;
  if (!is_limited && (std::ranges::min(after) < mean || std::ranges::max(after) > mean + 1)) {
    return "not the mean";
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distributed_plan)

BOOST_AUTO_TEST_CASE(a_plan_balances_the_ranks) {
  constexpr std::uint64_t unlimited = 1'000'000;
  const std::vector<std::vector<std::uint64_t>> uneven{
      {9, 0, 0},       {0, 0, 9},  {10, 0, 0, 1}, {7, 7, 0}, {0, 2}, {100, 1, 99, 2, 98, 3, 97},
      {0, 0, 1, 1, 3}, {1000, 400}};
  for (const auto& counts : uneven) {
    const auto plan = plan_transfers(counts, unlimited);
    const bool is_even =
        counts == std::vector<std::uint64_t>{1000, 400};  // more than half the mean
    BOOST_TEST(plan.empty() == is_even);
    if (!is_even) BOOST_TEST(fault_of(counts, plan, unlimited) == "");
    BOOST_TEST(fault_of(counts, plan_transfers(counts, 2), 2) == "");
  }
  // One node stays where it is.
  for (const auto& counts : std::vector<std::vector<std::uint64_t>>{
           {1}, {5}, {0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0, 1}}) {
    BOOST_TEST(plan_transfers(counts, unlimited).empty());
  }
}

// The negative control: the check finds plans that drop, double or misplace nodes.
BOOST_AUTO_TEST_CASE(the_check_finds_wrong_plans) {
  const std::vector<std::uint64_t> counts{9, 0, 0};
  auto plan = plan_transfers(counts, 100);
  BOOST_TEST((plan == std::vector<node_transfer>{{0, 1, 3}, {0, 2, 3}}));
  plan[1].count = 2;
  BOOST_TEST(fault_of(counts, plan, 100) == "not the mean");
  plan[1].count = 7;
  BOOST_TEST(fault_of(counts, plan, 100) == "more nodes than the sender has");
  plan[1] = {1, 2, 3};
  BOOST_TEST(fault_of(counts, plan, 100) == "sends and receives");
  BOOST_TEST(fault_of(counts, {{0, 1, 3}, {0, 2, 3}}, 2) == "too many nodes on a rank");
}

BOOST_AUTO_TEST_CASE(each_rank_gets_an_equal_part_of_each_list) {
  for (const auto& counts : std::vector<std::vector<std::uint64_t>>{
           {9, 0, 3}, {1, 1, 1, 1}, {100, 1}, {7}, {5, 6, 7, 8, 9, 10, 11}}) {
    const std::size_t ranks = counts.size();
    // Nodes of the list of `from` that `to` has after the transfers.
    std::vector<std::vector<std::uint64_t>> parts(ranks, std::vector<std::uint64_t>(ranks));
    for (std::size_t r = 0; r < ranks; ++r) parts[r][r] = counts[r];
    for (const auto& [from, to, n] : plan_equal_parts(counts)) {
      BOOST_TEST(n > 0u);
      parts[std::size_t(from)][std::size_t(from)] -= n;
      parts[std::size_t(from)][std::size_t(to)] += n;
    }
    for (std::size_t from = 0; from < ranks; ++from) {
      BOOST_TEST(std::ranges::max(parts[from]) <= counts[from] / ranks + 1);
      BOOST_TEST(std::ranges::min(parts[from]) >= counts[from] / ranks);
    }
  }
}

BOOST_AUTO_TEST_CASE(long_lists_are_kept_equal) {
  using counts = std::vector<std::uint64_t>;
  constexpr std::uint64_t warps = 10;
  transfer_planner planner(warps, 1000);
  const auto moves = [&](const counts& lists) { return planner.plan(lists).size(); };
  // Short lists: as by plan_transfers().
  BOOST_TEST(moves({159, 120}) == 0u);
  BOOST_TEST((planner.plan(counts{19, 2}) == std::vector<node_transfer>{{0, 1, 8}}));
  // Long lists: at first, and if one has less than 90 % of the mean.
  BOOST_TEST(moves({160, 160}) == 2u);
  BOOST_TEST(moves({160, 160}) == 0u);
  BOOST_TEST(moves({220, 180}) == 0u);
  BOOST_TEST(moves({221, 179}) == 2u);
  // The mean is more than a rank may have.
  BOOST_TEST(moves({1900, 1500}) == 0u);
  // One rank has no partners.
  BOOST_TEST(transfer_planner(warps, 1000).plan(counts{500}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::distributed
