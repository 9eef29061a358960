// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Inputs of distributed sorts, and checks of the parts that the ranks get.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort/config.hpp>
#include <vector>

#include "key_types.hpp"
#include "quicksort/distributions.hpp"

namespace tests {

inline constexpr std::size_t all_keys = 14'000;

/// How the input is distributed over the ranks.
enum class placement { even, uneven, on_one_rank, every_second_empty };

/// Returns where the elements of a rank begin among n; `ranks` gives n.
inline std::size_t begin_of(placement how, std::size_t rank, std::size_t ranks, std::size_t n) {
  switch (how) {
    case placement::even: return n * rank / ranks;
    case placement::uneven: return n * rank * rank / (ranks * ranks);
    case placement::on_one_rank: return rank > ranks / 2 ? n : 0;
    default: return n * ((rank + 1) / 2) / ((ranks + 1) / 2);
  }
}

/// Returns the elements of this rank.
template <class T>
std::vector<T> own_part(const ramify::communicator& comm, placement how,
                        const std::vector<T>& all) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto place = [&](std::size_t r) {
    return all.begin() + static_cast<std::ptrdiff_t>(begin_of(how, r, ranks, all.size()));
  };
  return {place(rank), place(rank + 1)};
}

/// Checks that the parts have the sizes that the report states and `parts` allows.
inline void check_sizes(ramify::communicator& comm, const ramify::distributed_sort_report& report,
                        std::uint64_t own, std::uint64_t n, ramify::sorted_parts parts) {
  const std::vector<std::uint64_t> sizes = comm.all_gather(own);
  const std::uint64_t largest = std::ranges::max(sizes);
  const double mean = double(n) / comm.size();
  BOOST_TEST(report.keys == n);
  BOOST_TEST(report.part_keys == own);
  BOOST_TEST(report.first_key ==
             std::accumulate(sizes.begin(), sizes.begin() + comm.rank(), std::uint64_t{0}));
  if (n > 0) BOOST_TEST(report.part_imbalance == double(largest) * comm.size() / double(n));
  if (parts == ramify::sorted_parts::equal) {
    BOOST_TEST(largest - std::ranges::min(sizes) <= 1);
  } else {
    BOOST_TEST(double(largest) <= std::max(1.05 * mean, std::ceil(mean)));
  }
}

template <class Key>
std::vector<Key> make_keys(common::distribution shape, std::size_t n) {
  std::vector<Key> keys;
  for (const std::uint32_t rank : common::make_ranks(shape, n, 7)) {
    keys.push_back(make_key<Key>(rank, keys.size()));
  }
  return keys;
}

}  // namespace tests
