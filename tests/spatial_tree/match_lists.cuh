// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Callbacks of query() that record their calls, trees that are asked, and the matches by brute
/// force.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "brute_force.hpp"
#include "spatial_tree_checks.cuh"

namespace tests::matches {

using ramify::environment;
using ramify::spatial_match;
using ramify::spatial_query_options;

/// A match: the query, the point, and the squared distance.
template <class Real>
using entry = std::tuple<std::uint32_t, std::uint32_t, Real>;
template <class Real>
using match_list = std::vector<entry<Real>>;

/// Records each call.
template <class Real>
struct recorder {
  spatial_match<Real>* calls;
  unsigned* count;
  unsigned capacity;

  __device__ void operator()(const spatial_match<Real>& m) const {
    const unsigned to = atomicAdd(count, 1u);
    if (to < capacity) calls[to] = m;
  }
};

/// Records the first calls for each query in its row, in the order of the calls, and then stops.
template <class Real>
struct first_few {
  std::uint32_t* rows;
  unsigned* counts;
  unsigned few;

  __device__ unsigned begin(std::uint32_t) const { return 0; }
  __device__ ramify::query_control operator()(unsigned& count, const spatial_match<Real>& m) const {
    rows[m.query * few + count++] = m.point;
    return count < few ? ramify::query_control::proceed : ramify::query_control::stop;
  }
  __device__ void end(std::uint32_t query, unsigned count) const {
    atomicAdd(&counts[query], count + 1);  // one more, so that each call of end() is seen
  }
};

/// The memory of a recorder.
template <class Real>
class recording {
 public:
  explicit recording(std::size_t capacity)
      : calls_(capacity, nullptr), count_(tests::zeros<unsigned>(1)) {}

  [[nodiscard]] recorder<Real> callback() const {
    return {calls_.data(), count_.data(), static_cast<unsigned>(calls_.size())};
  }
  /// Returns the calls in the order of a stream, sorted, and clears them. Waits for the stream.
  [[nodiscard]] match_list<Real> take(cudaStream_t stream = nullptr) const {
    std::vector<unsigned> count(1);
    tests::download(count_, count, stream);
    BOOST_TEST_REQUIRE(count[0] <= calls_.size());
    std::vector<spatial_match<Real>> calls(count[0]);
    tests::download_to(calls, static_cast<const spatial_match<Real>*>(calls_.data()), stream);
    ramify::clear_memory(count_.data(), 1, stream, "clearing a count");
    match_list<Real> sorted;
    for (const auto& m : calls) sorted.emplace_back(m.query, m.point, m.distance2);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  ramify::device_buffer<spatial_match<Real>> calls_;
  ramify::device_buffer<unsigned> count_;
};

/// Returns the matches by brute force, sorted. distance2_of(query, point) returns the squared
/// distance of a match.
template <class Real>
match_list<Real> all_matches(
    std::size_t queries, std::size_t points,
    const std::function<std::optional<Real>(std::size_t, std::size_t)>& distance2_of) {
  match_list<Real> found;
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t p = 0; p < points; ++p) {
      const std::optional<Real> d = distance2_of(q, p);
      if (d) found.emplace_back(std::uint32_t(q), std::uint32_t(p), *d);
    }
  }
  return found;
}

/// Accepts a point for a query if their sum is even.
struct even_sum {
  __device__ bool operator()(std::uint32_t query, std::uint32_t point) const {
    return (query + point) % 2 == 0;
  }
};

/// A tree and queries, in host and device memory.
template <class Type>
struct scene {
  using real = typename Type::real;
  static constexpr int dim = Type::dim;
  using list = tests::point_list<real, dim>;

  scene(list all, list asked)
      : points(std::move(all)),
        queries(std::move(asked)),
        on_device(tests::upload_points<real, dim>(points)),
        tree(on_device.data(), points.size(), {.leaf_size = 6}),
        asked_on_device(tests::upload_points<real, dim>(queries)),
        calls(std::max(points.size(), queries.size()) * (points.size() + 1)) {}

  [[nodiscard]] std::size_t n() const { return queries.size(); }

  /// Runs a query, and returns its calls.
  template <class Predicates>
  [[nodiscard]] match_list<real> run(const Predicates& predicates,
                                     const spatial_query_options& options = {},
                                     const environment& env = {}) const {
    (void)ramify::query(tree.view(), predicates, calls.callback(), options, env);
    return calls.take();
  }
  [[nodiscard]] match_list<real> by_brute_force(
      const std::function<std::optional<real>(std::size_t, std::size_t)>& distance2_of) const {
    return all_matches<real>(n(), points.size(), distance2_of);
  }

  list points, queries;
  ramify::device_buffer<ramify::point<real, dim>> on_device;
  ramify::spatial_tree<real, dim> tree;
  ramify::device_buffer<ramify::point<real, dim>> asked_on_device;
  recording<real> calls;
};

/// Returns pairs with the lower index first, sorted.
template <class Real>
match_list<Real> ordered_pairs(match_list<Real> found) {
  for (auto& [a, b, d] : found) {
    if (b < a) std::swap(a, b);
  }
  std::sort(found.begin(), found.end());
  return found;
}

template <class Real>
std::optional<Real> if_within(Real d, Real radius) {
  return d <= radius * radius ? std::optional(d) : std::nullopt;
}

/// Returns the squared distance of a point from the line from + t * d, for t in [0, greatest], in
/// the documented arithmetic.
template <class Real, int dim>
Real distance2_of_line(const coordinates<Real, dim>& from, const coordinates<Real, dim>& d,
                       Real greatest, const coordinates<Real, dim>& p) {
  Real along = 0;
  Real length2 = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    const Real product = (p[i] - from[i]) * d[i];
    along += product;
    const Real square = d[i] * d[i];
    length2 += square;
  }
  const Real t = length2 > 0 ? std::clamp(along / length2, Real{0}, greatest) : Real{0};
  coordinates<Real, dim> nearest;
  for (std::size_t i = 0; i < dim; ++i) {
    const Real step = t * d[i];
    nearest[i] = from[i] + step;
  }
  return tests::distance2<Real, dim>(p, nearest);
}

}  // namespace tests::matches
