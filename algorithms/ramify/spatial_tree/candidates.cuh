// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The k best candidates of a query for neighbors: sorted lists in registers, and heaps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/morton.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// A candidate for a query's neighbors. Candidates are ordered by distance, then by index, so the k
/// nearest do not depend on the order of the traversal.
template <class Real>
struct neighbor {
  Real distance2 = infinite<Real>;
  std::uint32_t id = no_neighbor;

  __device__ bool operator<(const neighbor& other) const {
    if constexpr (std::is_same_v<Real, float>) {
      return key() < other.key();
    } else {
      return distance2 < other.distance2 || (distance2 == other.distance2 && id < other.id);
    }
  }
  /// Returns a number that orders candidates. A distance is not negative, so its bits are ordered
  /// as its values. One comparison of 64 bits takes fewer instructions than three.
  [[nodiscard]] __device__ std::uint64_t key() const {
    return std::uint64_t{__float_as_uint(distance2)} << 32 | id;
  }
};

/// The output of one query: arrays of k elements.
template <class Real>
struct neighbor_row {
  std::uint32_t* ids;
  Real* distances2;
  unsigned k;

  [[nodiscard]] __device__ neighbor<Real> get(unsigned i) const { return {distances2[i], ids[i]}; }
  __device__ void set(unsigned i, const neighbor<Real>& n) const {
    distances2[i] = n.distance2;
    ids[i] = n.id;
  }
};

/// The k best candidates in sorted order, for k <= capacity. All indices are compile-time
/// constants, so the array is in registers. If k < capacity, the first elements hold values that
/// no candidate precedes.
template <class Real, unsigned capacity>
class candidate_list {
 public:
  static constexpr unsigned max_k = capacity;

  __device__ explicit candidate_list(const neighbor_row<Real>& row) : row_(row) {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      if (i + row.k < capacity) best_[i] = {Real{0}, 0};
    }
  }
  [[nodiscard]] __device__ const neighbor<Real>& worst() const { return best_[capacity - 1]; }

  /// Replaces the worst candidate by one that precedes it, at its sorted position: the candidates
  /// after that position move back by one.
  __device__ void replace_worst(const neighbor<Real>& better) {
    bool precedes = true;  // whether `better` precedes element i
    RAMIFY_UNROLL
    for (unsigned i = capacity - 1; i > 0; --i) {
      const bool precedes_previous = better < best_[i - 1];
      const neighbor<Real> moved = select(precedes_previous, best_[i - 1], better);
      best_[i] = select(precedes, moved, best_[i]);
      precedes = precedes_previous;
    }
    best_[0] = select(precedes, better, best_[0]);
  }
  /// Calls use(candidate) for the k candidates in order, until it returns false. Then the list is
  /// used up.
  template <class Use>
  __device__ void take_each(const Use& use) {
    // An index must be a compile-time constant, so the list moves, and use() gets its first one.
    RAMIFY_NO_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      const neighbor<Real> next = best_[0];
      RAMIFY_UNROLL
      for (unsigned j = 1; j < capacity; ++j) best_[j - 1] = best_[j];
      if (i + row_.k >= capacity && !use(next)) return;
    }
  }
  /// Writes the row.
  __device__ void finish() const {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      if (i + row_.k >= capacity) row_.set(i + row_.k - capacity, best_[i]);
    }
  }

 private:
  /// Returns `a` if `condition`, else `b`, each member on its own: a conditional expression of two
  /// structs would select an address, and would keep a list of doubles in local memory.
  [[nodiscard]] __device__ static neighbor<Real> select(bool condition, const neighbor<Real>& a,
                                                        const neighbor<Real>& b) {
    return {condition ? a.distance2 : b.distance2, condition ? a.id : b.id};
  }

  neighbor_row<Real> row_;
  neighbor<Real> best_[capacity];
};

/// The sizes of the lists for which there are kernels, in ascending order. An insertion takes time
/// for each element of a list.
template <unsigned least, unsigned... larger>
struct list_sizes {
  static constexpr unsigned largest = std::max({least, larger...});
  static_assert(((least < larger) && ...), "the sizes are in ascending order");

  /// Calls use() with the least size that is not less than k, as a std::integral_constant, and
  /// returns its result. Requires k <= largest.
  template <class Use>
  [[nodiscard]] static auto with_least(std::size_t k, const Use& use) {
    if constexpr (sizeof...(larger) > 0) {
      if (k > least) return list_sizes<larger...>::with_least(k, use);
    }
    return use(std::integral_constant<unsigned, least>());
  }
};

/// The k least of some distances, for k <= capacity, in sorted order. If k < capacity, the first
/// elements are less than any distance.
template <class Real, unsigned capacity>
class distance_list {
 public:
  __device__ explicit distance_list(unsigned k) {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      least_[i] = i + k < capacity ? Real{-1} : infinite<Real>;
    }
  }
  __device__ void insert(Real distance2) {
    RAMIFY_UNROLL
    for (unsigned i = capacity - 1; i > 0; --i) {
      least_[i] = max(least_[i - 1], min(distance2, least_[i]));
    }
    least_[0] = min(distance2, least_[0]);
  }
  [[nodiscard]] __device__ Real greatest() const { return least_[capacity - 1]; }

 private:
  Real least_[capacity];
};

/// The k best candidates, for any k: a binary heap with the worst at its root, in the output row.
template <class Real>
class candidate_heap {
 public:
  static constexpr unsigned max_k = 0;  ///< of a distance_list for these candidates: there is none

  __device__ explicit candidate_heap(const neighbor_row<Real>& row) : row_(row) {
    for (unsigned i = 0; i < row.k; ++i) row_.set(i, {});
  }
  [[nodiscard]] __device__ const neighbor<Real>& worst() const { return worst_; }

  /// Replaces the worst candidate.
  __device__ void replace_worst(const neighbor<Real>& better) {
    sift_down(better, row_.k);
    worst_ = row_.get(0);
  }
  /// Sorts the row (heap sort): moves the worst remaining candidate to the end, k times.
  __device__ void finish() {
    for (unsigned count = row_.k; count-- > 0;) {
      const neighbor<Real> last = row_.get(count);
      row_.set(count, row_.get(0));
      if (count > 0) sift_down(last, count);
    }
  }
  /// As candidate_list::take_each().
  template <class Use>
  __device__ void take_each(const Use& use) {
    finish();
    for (unsigned i = 0; i < row_.k && use(row_.get(i)); ++i) {
    }
  }

 private:
  /// Inserts `n` into the heap of `count` elements, whose root is free.
  __device__ void sift_down(const neighbor<Real>& n, unsigned count) {
    unsigned at = 0;
    for (;;) {
      // Compare with count / 2: 2 * at + 1 may overflow for a large k.
      if (at >= count / 2) break;
      unsigned child = 2 * at + 1;
      neighbor<Real> larger = row_.get(child);
      if (child + 1 < count) {
        const neighbor<Real> right = row_.get(child + 1);
        if (larger < right) {
          larger = right;
          ++child;
        }
      }
      if (!(n < larger)) break;
      row_.set(at, larger);
      at = child;
    }
    row_.set(at, n);
  }

  neighbor_row<Real> row_;
  neighbor<Real> worst_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
