// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The results of spatial queries by brute force, and comparisons with them.

#include <algorithm>
#include <limits>
#include <ramify/spatial_tree.hpp>
#include <set>
#include <string>
#include <utility>

#include "clouds.hpp"

namespace tests {

/// Adds the squares of the differences, axis by axis: the documented arithmetic.
template <class Real, int dim>
Real distance2(const coordinates<Real, dim>& a, const coordinates<Real, dim>& b) {
  Real sum = 0;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    const Real d = b[axis] - a[axis];
    const Real square = d * d;
    sum += square;
  }
  return sum;
}

/// Returns the ids of the points in a ball, sorted.
template <class Real, int dim>
std::vector<std::uint32_t> all_within(const point_list<Real, dim>& points,
                                      const coordinates<Real, dim>& query, Real radius) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (distance2<Real, dim>(query, points[i]) <= radius * radius) {
      ids.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return ids;
}

/// Returns k squared distances and ids, sorted.
template <class Real, int dim>
std::vector<std::pair<Real, std::uint32_t>> all_by_distance(const point_list<Real, dim>& points,
                                                            const coordinates<Real, dim>& query,
                                                            std::size_t k, std::uint32_t excluded) {
  std::vector<std::pair<Real, std::uint32_t>> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(i);
    if (id != excluded) found.emplace_back(distance2<Real, dim>(query, points[i]), id);
  }
  const std::size_t some = std::min(k, found.size());
  std::partial_sort(found.begin(), found.begin() + std::ptrdiff_t(some), found.end());
  found.resize(k, {std::numeric_limits<Real>::infinity(), ramify::no_neighbor});
  return found;
}

/// Compares rows of k nearest neighbors with brute force, to the bit. If `self_excluded`, query i
/// is point i. Returns the first difference, or "".
template <class Real, int dim>
std::string check_nearest(const point_list<Real, dim>& points, const point_list<Real, dim>& queries,
                          std::size_t k, bool self_excluded, const std::vector<std::uint32_t>& ids,
                          const std::vector<Real>& distances2) {
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto excluded = self_excluded ? static_cast<std::uint32_t>(q) : ramify::no_neighbor;
    const auto expected = all_by_distance<Real, dim>(points, queries[q], k, excluded);
    for (std::size_t i = 0; i < k; ++i) {
      if (ids[q * k + i] != expected[i].second || distances2[q * k + i] != expected[i].first) {
        return "neighbor " + std::to_string(i) + " of query " + std::to_string(q) + " is " +
               std::to_string(ids[q * k + i]) + ", not " + std::to_string(expected[i].second);
      }
    }
  }
  return {};
}

/// Compares counts and lists of the points in balls with brute force. Returns the first difference,
/// or "".
template <class Real, int dim>
std::string check_within(const point_list<Real, dim>& points, const point_list<Real, dim>& queries,
                         Real radius, const std::vector<std::uint32_t>& counts,
                         const ramify::neighbor_lists& lists) {
  if (lists.offsets.size() != queries.size() + 1 || lists.offsets.front() != 0) return "offsets";
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto expected = all_within<Real, dim>(points, queries[q], radius);
    if (counts[q] != expected.size()) return "the count of query " + std::to_string(q);
    if (lists.offsets[q + 1] - lists.offsets[q] != expected.size()) {
      return "the length of list " + std::to_string(q);
    }
    std::vector<std::uint32_t> found(lists.ids.begin() + std::ptrdiff_t(lists.offsets[q]),
                                     lists.ids.begin() + std::ptrdiff_t(lists.offsets[q + 1]));
    std::sort(found.begin(), found.end());
    if (found != expected) return "list " + std::to_string(q);
  }
  return lists.offsets.back() == lists.ids.size() ? "" : "the end of the lists";
}

/// Compares rows of the first points of lists with the lists. Returns the first difference, or "".
inline std::string check_rows(const ramify::neighbor_lists& lists, std::size_t capacity,
                              const std::vector<std::uint32_t>& ids,
                              const std::vector<std::uint32_t>& counts, std::uint64_t truncated) {
  std::uint64_t longer = 0;
  for (std::size_t q = 0; q < counts.size(); ++q) {
    const std::uint64_t length = lists.offsets[q + 1] - lists.offsets[q];
    if (counts[q] != length) return "the count of query " + std::to_string(q);
    longer += length > capacity;
    for (std::size_t i = 0; i < capacity; ++i) {
      const std::uint32_t expected =
          i < length ? lists.ids[lists.offsets[q] + i] : ramify::no_neighbor;
      if (ids[q * capacity + i] != expected) {
        return "element " + std::to_string(i) + " of row " + std::to_string(q);
      }
    }
  }
  return truncated == longer ? "" : "the number of truncated rows";
}

}  // namespace tests
