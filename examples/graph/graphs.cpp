// SPDX-License-Identifier: BSD-3-Clause
#include "graphs.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace common {
namespace {

/// A generator of 64 random bits, the same on every machine (splitmix64).
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, n).
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
  /// Returns a number in [0, 1).
  float length() { return static_cast<float>((*this)() >> 40) * 0x1p-24f; }

 private:
  std::uint64_t state_;
};

}  // namespace

std::string_view to_string(graph_kind kind) {
  return ramify::choice_name(kind, {"kronecker", "uniform", "grid"});
}

graph_kind parse_graph_kind(std::string_view text) {
  return ramify::parse_choice<graph_kind>("kind", text);
}

edge_list make_random_graph(graph_kind kind, unsigned scale, unsigned factor, std::uint64_t seed) {
  random_bits random(seed);
  const std::size_t n = std::size_t{1} << scale;
  std::vector<std::int32_t> names(n);
  std::iota(names.begin(), names.end(), 0);
  for (std::size_t v = n; v-- > 1;) std::swap(names[v], names[random.below(v + 1)]);
  // The first quadrants have 57, 19 and 19 percent of the edges.
  constexpr auto of_percent = [](unsigned percent) {
    return static_cast<std::uint32_t>(std::uint64_t{percent} * 0xffffffffu / 100);
  };
  constexpr std::array ends{of_percent(57), of_percent(76), of_percent(95)};
  edge_list made{n, true, std::vector<list_edge>(n * factor)};
  std::vector<float> lengths;
  lengths.reserve(made.edges.size());
  for (list_edge& edge : made.edges) {
    std::size_t from = 0;
    std::size_t to = 0;
    if (kind == graph_kind::uniform) {
      from = random.below(n);
      to = random.below(n);
    } else {
      std::uint64_t bits = 0;
      for (unsigned level = 0; level < scale; ++level) {
        bits = level % 2 == 0 ? random() : bits >> 32;
        const auto p = static_cast<std::uint32_t>(bits);
        from = 2 * from + (p >= ends[1] ? 1 : 0);
        to = 2 * to + ((p >= ends[0] && p < ends[1]) || p >= ends[2] ? 1 : 0);
      }
    }
    edge = {names[from], names[to]};
    lengths.push_back(random.length());
  }
  made.lengths = std::move(lengths);
  return made;
}

edge_list make_grid(std::size_t side, unsigned holes, std::uint64_t seed) {
  random_bits random(seed);
  std::vector<bool> is_hole(side * side);
  for (std::size_t v = 0; v < is_hole.size(); ++v) is_hole[v] = random.below(100) < holes;
  edge_list made{side * side, true};
  std::vector<float> lengths;
  const auto connect = [&](std::size_t u, std::size_t v) {
    if (is_hole[u] || is_hole[v]) return;
    made.edges.push_back({vertex(u), vertex(v)});
    lengths.push_back(random.length());
  };
  for (std::size_t v = 0; v < is_hole.size(); ++v) {
    if (v % side + 1 < side) connect(v, v + 1);
    if (v + side < is_hole.size()) connect(v, v + side);
  }
  made.lengths = std::move(lengths);
  return made;
}

edge_lengths in_type(const edge_lengths& lengths, length_type type) {
  const auto convert = [&]<class To>(To, double factor) -> edge_lengths {
    const auto each = [&](const auto& from) {
      std::vector<To> to(from.size());
      std::ranges::transform(from, to.begin(), [&](auto length) {
        return static_cast<To>(static_cast<double>(length) * factor);
      });
      return to;
    };
    return std::visit(each, lengths);
  };
  if (type == length_type::double_precision) return convert(0.0, 1);
  if (type == length_type::integer) return convert(std::uint64_t{0}, 0x1p24);
  return lengths;
}

}  // namespace common
