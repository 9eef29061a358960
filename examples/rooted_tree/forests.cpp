// SPDX-License-Identifier: BSD-3-Clause
#include "forests.hpp"

#include <numeric>
#include <ramify/runtime/report.hpp>
#include <random>
#include <utility>

namespace common {

std::string_view to_string(forest_kind kind) {
  return ramify::choice_name(kind, {"random", "path", "star", "caterpillar", "complete", "forest"});
}

forest_kind parse_forest_kind(std::string_view text) {
  return ramify::parse_choice<forest_kind>("tree", text);
}

std::vector<std::int32_t> make_parents(forest_kind kind, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> parents(n);
  const auto parent_of = [&](std::size_t v) -> std::size_t {
    switch (kind) {
      case forest_kind::random:
      case forest_kind::forest: return random() % v;
      case forest_kind::path: return v - 1;
      case forest_kind::star: return 0;
      case forest_kind::caterpillar: return v % 2 == 1 ? v - 1 : v - 2;
      case forest_kind::complete: return (v - 1) / 2;
    }
    return 0;
  };
  for (std::size_t v = 0; v < n; ++v) {
    const bool is_root = v == 0 || (kind == forest_kind::forest && random() % 100 == 0);
    parents[v] = is_root ? -1 : static_cast<std::int32_t>(parent_of(v));
  }
  return parents;
}

std::vector<std::int32_t> relabeled(std::span<const std::int32_t> parents, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> label(parents.size());
  std::iota(label.begin(), label.end(), 0);
  for (std::size_t i = label.size(); i > 1; --i) std::swap(label[i - 1], label[random() % i]);
  std::vector<std::int32_t> result(parents.size());
  for (std::size_t v = 0; v < parents.size(); ++v) {
    const std::int32_t parent = parents[v];
    result[static_cast<std::size_t>(label[v])] =
        parent == -1 ? -1 : label[static_cast<std::size_t>(parent)];
  }
  return result;
}

child_lists child_lists_of(std::span<const std::int32_t> parents) {
  child_lists lists{std::vector<std::int32_t>(parents.size() + 1), {}};
  for (const std::int32_t parent : parents) {
    if (parent != -1) ++lists.offsets[static_cast<std::size_t>(parent) + 1];
  }
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.children.resize(static_cast<std::size_t>(lists.offsets.back()));
  std::vector<std::int32_t> next(lists.offsets);
  for (std::size_t v = 0; v < parents.size(); ++v) {
    if (parents[v] == -1) continue;
    auto& index = next[static_cast<std::size_t>(parents[v])];
    lists.children[static_cast<std::size_t>(index++)] = static_cast<std::int32_t>(v);
  }
  return lists;
}

forest_numbers serial_numbers(const child_lists& lists, std::span<const std::int32_t> parents) {
  const std::vector<std::int32_t> none(parents.size());
  forest_numbers all{none, none, none, none};
  std::int32_t entered = 0;
  std::int32_t exited = 0;
  visit_depth_first(
      lists, parents,
      [&](std::size_t v) {
        all.levels[v] = entered - exited;
        all.preorder[v] = entered++;
      },
      [&](std::size_t v) {
        all.subtree_sizes[v] = entered - all.preorder[v];
        all.postorder[v] = exited++;
      });
  return all;
}

}  // namespace common
