// SPDX-License-Identifier: BSD-3-Clause
#include "distributions.hpp"

#include <algorithm>
#include <cmath>
#include <ramify/runtime/report.hpp>
#include <random>
#include <utility>

namespace common {

std::string_view to_string(distribution d) {
  return ramify::choice_name(
      d, {"uniform", "sorted", "reversed", "organ-pipe", "all-equal", "few-distinct", "zipf",
          "almost-sorted", "median-of-three-killer"});
}

distribution parse_distribution(std::string_view text) {
  return ramify::parse_choice<distribution>("distribution", text);
}

std::vector<std::uint32_t> make_ranks(distribution d, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> ranks(n);
  const auto spread = [n](std::size_t i) {  // position i of n, scaled to all of [0, 2^32)
    return static_cast<std::uint32_t>((std::uint64_t{i} << 32) / std::max<std::size_t>(n, 1));
  };
  for (std::size_t i = 0; i < n; ++i) {
    switch (d) {
      case distribution::uniform: ranks[i] = static_cast<std::uint32_t>(random()); break;
      case distribution::sorted:
      case distribution::almost_sorted: ranks[i] = spread(i); break;
      case distribution::reversed: ranks[i] = spread(n - 1 - i); break;
      case distribution::organ_pipe: ranks[i] = spread(i < n / 2 ? i : n - 1 - i); break;
      case distribution::all_equal: ranks[i] = 0x9e3779b9u; break;
      case distribution::few_distinct: ranks[i] = std::uint32_t(random() % 16) << 28; break;
      case distribution::zipf: {
        // If the power is uniform in [0, 1), n to the power is k with a frequency of about
        // 1 / (k ln n). The product spreads the frequent values among the others.
        const double power = static_cast<double>(random() >> 11) * 0x1p-53;
        const auto k = static_cast<std::uint64_t>(std::pow(static_cast<double>(n), power));
        ranks[i] = static_cast<std::uint32_t>(k * 0x9e3779b1u);
        break;
      }
      case distribution::median_of_three_killer: {
        // For n = 2k: 1, k+1, 3, k+3, ..., then 2, 4, ..., 2k.
        const std::size_t k = n / 2;
        if (i >= k) {
          ranks[i] = spread(std::min(2 * (i - k) + 1, n - 1));
        } else {
          ranks[i] = spread(i % 2 == 0 ? i : k + i - 1);
        }
        break;
      }
    }
  }
  if (d == distribution::almost_sorted && n > 1) {
    for (std::size_t swaps = n / 100 + 1; swaps > 0; --swaps) {
      std::swap(ranks[random() % n], ranks[random() % n]);
    }
  }
  return ranks;
}

}  // namespace common
