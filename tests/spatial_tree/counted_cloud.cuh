// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points whose number only the device has, and the check of what is computed of them.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/runtime/device_count.hpp>
#include <vector>

#include "clouds.hpp"
#include "counts_on_device.cuh"
#include "query_runs.cuh"
#include "spatial_tree_checks.cuh"

namespace tests::queries {

/// A cloud of up to `most` points in device memory, of which a tree takes the first. The others are
/// not finite.
template <class Type>
class counted_cloud {
 public:
  using real = typename Type::real;
  using list = tests::point_list<real, Type::dim>;

  explicit counted_cloud(std::size_t most, tests::cloud kind = tests::cloud::filled_sphere,
                         real unit = 1)
      : all_(tests::make_cloud<real, Type::dim>(kind, most, 5)), points_(most, nullptr) {
    for (auto& p : all_) {
      for (auto& x : p) x *= unit;
    }
  }

  void prepare(std::size_t n) {
    list host = first(n);
    typename list::value_type none;
    none.fill(std::numeric_limits<real>::quiet_NaN());
    host.resize(all_.size(), none);
    ramify::check(cudaMemcpyAsync(points_.data(), host.data(), host.size() * sizeof(host[0]),
                                  cudaMemcpyHostToDevice, nullptr),
                  "copying points");
    ramify::check(cudaStreamSynchronize(nullptr), "copying points");
    number.write(static_cast<std::int32_t>(n));
  }
  /// Returns the first n points.
  [[nodiscard]] list first(std::size_t n) const {
    return {all_.begin(), all_.begin() + std::ptrdiff_t(n)};
  }
  [[nodiscard]] const ramify::point<real, Type::dim>* data() const { return points_.data(); }
  [[nodiscard]] ramify::device_count count() const { return number.up_to(all_.size()); }

  const device_number<> number;

 private:
  list all_;
  ramify::device_buffer<ramify::point<real, Type::dim>> points_;
};

/// Returns whether a tree is that over `points`, whose number the host has.
template <class Type>
bool is_tree_over(const ramify::spatial_tree<typename Type::real, Type::dim>& tree,
                  const typename counted_cloud<Type>::list& points,
                  const ramify::spatial_tree_options& options) {
  return same_tree(download_tree(tree),
                   build_tree<typename Type::real, Type::dim>(points, options));
}

/// Returns whether the first elements of an array are those of `expected`, and all others have the
/// value that no call writes.
template <class T>
bool begins_with(const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != (i < expected.size() ? expected[i] : static_cast<T>(12'345'678))) return false;
  }
  return true;
}

/// Returns whether results for queries are those of `expected`, for fewer queries, and unchanged
/// beyond.
template <class Real>
bool has_results(const results<Real>& found, const results<Real>& expected) {
  return begins_with(found.counts, expected.counts) &&
         begins_with(found.row_counts, expected.row_counts) &&
         begins_with(found.rows, expected.rows) && begins_with(found.ids, expected.ids) &&
         begins_with(found.distances2, expected.distances2);
}

}  // namespace tests::queries
