// SPDX-License-Identifier: BSD-3-Clause
#include "distributions.hpp"

#include <algorithm>
#include <cmath>
#include <ramify/runtime/report.hpp>
#include <random>
#include <unordered_map>
#include <utility>

namespace common {

namespace {

/// Returns a random rank with the frequencies of Zipf's law for n values.
std::uint32_t zipf_rank(std::mt19937_64& random, std::size_t n) {
  // If the power is uniform in [0, 1), n to the power is k with a frequency of about
  // 1 / (k ln n). The product spreads the frequent values among the others.
  const double power = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto k = static_cast<std::uint64_t>(std::pow(static_cast<double>(n), power));
  return static_cast<std::uint32_t>(k * 0x9e3779b1u);
}

/// Returns the rank of element i of Musser's permutation, counted from 0. The elements of n = 2k
/// numbers are 1, k+1, 3, k+3, ..., then 2, 4, ..., 2k.
std::size_t killer_rank(std::size_t i, std::size_t n) {
  const std::size_t k = n / 2;
  if (i >= k) return std::min(2 * (i - k) + 1, n - 1);
  return i % 2 == 0 ? i : k + i - 1;
}

/// Returns position i of n, scaled to all of [0, 2^32).
std::uint32_t spread(std::size_t i, std::size_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{i} << 32) / std::max<std::size_t>(n, 1));
}

/// Swaps pairs of random positions among n sorted ranks, of which `ranks` has those from `begin`
/// on.
void swap_one_in_a_hundred(std::vector<std::uint32_t>& ranks, std::size_t begin, std::size_t n,
                           std::mt19937_64& random) {
  // The swaps may concern any positions. For a part, only the changed positions are kept.
  std::unordered_map<std::size_t, std::size_t> origins;  // of the number at a position
  const auto origin_of = [&](std::size_t position) -> std::size_t& {
    return origins.try_emplace(position, position).first->second;
  };
  for (std::size_t swaps = n / 100 + 1; swaps > 0; --swaps) {
    const std::size_t a = random() % n;
    const std::size_t b = random() % n;
    if (ranks.size() == n) {
      std::swap(ranks[a], ranks[b]);
    } else {
      std::swap(origin_of(a), origin_of(b));
    }
  }
  for (const auto& [position, origin] : origins) {
    const bool is_in_part = position >= begin && position < begin + ranks.size();
    if (is_in_part) ranks[position - begin] = spread(origin, n);
  }
}

}  // namespace

std::string_view to_string(distribution d) {
  return ramify::choice_name(
      d, {"uniform", "sorted", "reversed", "organ-pipe", "all-equal", "few-distinct", "zipf",
          "almost-sorted", "median-of-three-killer"});
}

distribution parse_distribution(std::string_view text) {
  return ramify::parse_choice<distribution>("distribution", text);
}

std::vector<std::uint32_t> make_ranks(distribution d, std::size_t n, std::uint64_t seed) {
  return make_ranks(d, n, seed, 0, n);
}

std::vector<std::uint32_t> make_ranks(distribution d, std::size_t n, std::uint64_t seed,
                                      std::size_t begin, std::size_t end) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> ranks(end - begin);
  const bool is_random =
      d == distribution::uniform || d == distribution::few_distinct || d == distribution::zipf;
  if (is_random) random.discard(begin);  // one number for each position
  for (std::size_t i = begin; i < end; ++i) {
    std::uint32_t& rank = ranks[i - begin];
    switch (d) {
      case distribution::uniform: rank = static_cast<std::uint32_t>(random()); break;
      case distribution::sorted:
      case distribution::almost_sorted: rank = spread(i, n); break;
      case distribution::reversed: rank = spread(n - 1 - i, n); break;
      case distribution::organ_pipe: rank = spread(i < n / 2 ? i : n - 1 - i, n); break;
      case distribution::all_equal: rank = 0x9e3779b9u; break;
      case distribution::few_distinct: rank = std::uint32_t(random() % 16) << 28; break;
      case distribution::zipf: rank = zipf_rank(random, n); break;
      case distribution::median_of_three_killer: rank = spread(killer_rank(i, n), n); break;
    }
  }
  if (d == distribution::almost_sorted && n > 1) swap_one_in_a_hundred(ranks, begin, n, random);
  return ranks;
}

}  // namespace common
