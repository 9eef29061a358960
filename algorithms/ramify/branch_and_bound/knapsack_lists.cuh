// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Dynamic programming for knapsacks on which the bound of the search fails: profits that equal the
/// weights or differ from them by a constant. Runs on the host.
///
/// A list has the choices among some items that no other choice dominates, in the order of their
/// weights. One list begins with the first item, the other with the last one; the shorter one takes
/// the next item until they meet. So n items need lists of at most 2^(n/2) choices, and never more
/// than one for each weight. A choice that cannot reach the best known profit is left out.
///
/// Source: G. L. Nemhauser, Z. Ullmann: Discrete dynamic programming and capital allocation, 1969;
/// E. Horowitz, S. Sahni: Computing partitions with applications to the knapsack problem, 1974.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ramify/branch_and_bound/knapsack.cuh>
#include <tuple>
#include <vector>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// A choice among some items.
struct knapsack_state {
  std::int64_t weight, profit;
  /// Bit 63 - i: item i is taken. Of choices with equal profits, a depth-first search reaches that
  /// of the largest number first.
  std::uint64_t order;

  /// Returns whether this choice is better than another one that is not lighter.
  [[nodiscard]] bool is_better_than(const knapsack_state& other) const {
    return std::tie(profit, order) > std::tie(other.profit, other.order);
  }
};

/// Two lists of choices, which divide the items among them.
class knapsack_lists {
 public:
  /// `least` is a profit that a choice is known to have; `problem` must outlive the object.
  knapsack_lists(const knapsack_problem& problem, std::int64_t capacity, std::int64_t least)
      : problem_(problem), capacity_(capacity), least_(least), end_(problem.items) {}

  /// Adds all items to the lists. Returns false if one had more than `most` choices, or if
  /// `must_stop()` returned true after an item.
  [[nodiscard]] bool add_items(std::size_t most, const std::function<bool()>& must_stop) {
    while (begin_ < end_) {
      if (front_.size() <= back_.size()) {
        const unsigned item = begin_++;
        extend(front_, item, [&](const knapsack_state& s) { return profit_with_later(s); });
      } else {
        const unsigned item = --end_;
        extend(back_, item, [&](const knapsack_state& s) { return profit_with_earlier(s); });
      }
      states_ += std::max(front_.size(), back_.size());
      if (std::max(front_.size(), back_.size()) > most || must_stop()) return false;
    }
    return true;
  }

  /// Returns the leaf of the best choice; of several, the first one of a depth-first search.
  /// Requires that all items have been added.
  [[nodiscard]] knapsack_node best() const {
    knapsack_state best{0, -1, 0};
    auto partner = back_.end();
    for (const knapsack_state& first : front_) {
      while (partner != back_.begin() && std::prev(partner)->weight > capacity_ - first.weight) {
        --partner;
      }
      if (partner == back_.begin()) break;
      const knapsack_state& second = *std::prev(partner);
      const knapsack_state both{first.weight + second.weight, first.profit + second.profit,
                                first.order | second.order};
      if (both.is_better_than(best)) best = both;
    }
    knapsack_node leaf{problem_.items, capacity_ - best.weight,
                       problem_.profits[problem_.items] - best.profit, 0};
    for (unsigned i = 0; i < problem_.items; ++i) {
      leaf.taken |= (best.order >> (63 - i) & 1) << i;
    }
    return leaf;
  }

  /// Returns the number of choices that were considered: the sum of the lengths of the longer list.
  [[nodiscard]] std::uint64_t states() const { return states_; }

 private:
  using state_list = std::vector<knapsack_state>;

  /// Adds an item to a list. Leaves out each choice for which limit(choice), the largest profit
  /// with the items of the other list, is less than the known one.
  template <class Limit>
  void extend(state_list& list, unsigned item, Limit limit) const {
    state_list next;
    next.reserve(2 * list.size());
    const auto add = [&](const knapsack_state& s) {
      if (s.weight > capacity_ || (!next.empty() && !s.is_better_than(next.back()))) return;
      if (limit(s) < least_) return;
      if (!next.empty() && next.back().weight == s.weight) next.pop_back();
      next.push_back(s);
    };
    std::size_t taking = 0;  // the choices before it have been added with the item, too
    const auto with_item = [&] {
      const knapsack_state& s = list[taking];
      return knapsack_state{s.weight + problem_.weight(item), s.profit + problem_.profit(item),
                            s.order | std::uint64_t{1} << (63 - item)};
    };
    for (const knapsack_state& s : list) {
      for (; taking < list.size() && with_item().weight < s.weight; ++taking) add(with_item());
      add(s);
    }
    for (; taking < list.size(); ++taking) add(with_item());
    list.swap(next);
  }

  /// Returns a bound of the profit of a choice among the items before begin_ with all later ones.
  [[nodiscard]] std::int64_t profit_with_later(const knapsack_state& s) const {
    const std::int64_t lost = problem_.profits[begin_] - s.profit;
    const knapsack_node node{begin_, capacity_ - s.weight, lost, 0};
    const bool all_fit = begin_ == problem_.items || problem_.degree(node) == 0;
    return problem_.profits[problem_.items] - (all_fit ? lost : problem_.bound(node));
  }
  /// Returns a bound of the profit of a choice among the items from end_ on with all earlier ones:
  /// the first of them, and a part of one.
  [[nodiscard]] std::int64_t profit_with_earlier(const knapsack_state& s) const {
    const std::int64_t left = capacity_ - s.weight;
    const auto* const sums = problem_.weights;
    const auto fits = std::upper_bound(sums, sums + end_ + 1, left) - sums - 1;
    const auto cut = static_cast<unsigned>(fits);
    std::int64_t profit = s.profit + problem_.profits[cut];
    if (cut < end_) profit += (left - sums[cut]) * problem_.profit(cut) / problem_.weight(cut);
    return profit;
  }

  const knapsack_problem& problem_;
  std::int64_t capacity_;
  std::int64_t least_;
  unsigned begin_ = 0;  ///< the items before it are in front_
  unsigned end_;        ///< the items from it on are in back_
  state_list front_{{0, 0, 0}};
  state_list back_{{0, 0, 0}};
  std::uint64_t states_ = 0;
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
