// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts the numbers of all ranks of a communicator, for plain C++.
///
///     ramify::mpi_session session;
///     ramify::communicator comm;
///     std::vector<float> keys = ...;          // those of this rank
///     comm.run([&] { ramify::distributed_sort(comm, keys); });
///
/// Keys      Integers of 32 or 64 bits, float or double; values are unsigned integers of 64 bits.
///           For other types and other orders use <ramify/distributed_sort.cuh>, which also states
///           the algorithm and its cost.
/// Memory    Vectors in host memory, which get the rank's part of the result. On the CUDA backend
///           they are copied to the GPU and back.
/// Order     Ascending or descending; a NaN counts as greater than every number. Not stable.
/// Backend   That of the communicator.
/// Stream    The sort is ordered after earlier work in environment::stream. The functions return
///           after the vectors have their parts.
/// Errors    std::invalid_argument, on all ranks, for a bad option, and if a rank has other options
///           or another type of keys than rank 0; else cluster_error, on all ranks. The vectors
///           change only after all ranks have sorted.
/// Link      ramify::facade_distributed_sort

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort/config.hpp>
#include <ramify/quicksort.hpp>
#include <ramify/version.hpp>
#include <span>
#include <vector>

namespace ramify::detail::distributed_sort::inline RAMIFY_ABI {

/// The vectors of this rank, whose type of keys is known at run time.
class rank_vectors {
 public:
  virtual ~rank_vectors() = default;
  [[nodiscard]] virtual quicksort::number_array keys() = 0;
  [[nodiscard]] virtual std::uint64_t* values() = 0;  ///< null if there are none
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// \throws std::invalid_argument if there is not one value for each key
  virtual void check_values() const = 0;
  virtual void resize(std::size_t n) = 0;
};

template <class Key>
class typed_vectors final : public rank_vectors {
 public:
  typed_vectors(std::vector<Key>& keys, std::vector<std::uint64_t>* values)
      : keys_(&keys), values_(values) {}

  quicksort::number_array keys() override {
    return quicksort::numbers_of<std::vector<Key>&>(*keys_);
  }
  std::uint64_t* values() override { return values_ == nullptr ? nullptr : values_->data(); }
  [[nodiscard]] std::size_t size() const override { return keys_->size(); }
  void check_values() const override {
    if (values_ == nullptr) return;
    detail::required_count{"distributed_sort_pairs", keys_->size(), "keys"}.check(values_->size(),
                                                                                  "values");
  }
  void resize(std::size_t n) override {
    keys_->resize(n);
    if (values_ != nullptr) values_->resize(n);
  }

 private:
  std::vector<Key>* keys_;
  std::vector<std::uint64_t>* values_;
};

/// Sorts the vectors of all ranks. Collective.
distributed_sort_report sort_vectors(communicator&, rank_vectors&, bool has_values,
                                     ramify::sort_order, sorted_parts, const quicksort_options&,
                                     const environment&);

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Sorts the keys of all ranks; `keys` becomes the part of this rank. Collective.
///
/// \param options  of the sorts on each rank
/// \param env      its memory must be empty
/// \throws std::invalid_argument, cluster_error
template <quicksort_facade_key Key>
distributed_sort_report distributed_sort(communicator& comm, std::vector<Key>& keys,
                                         sort_order order, sorted_parts parts,
                                         const quicksort_options& options,
                                         const environment& env = {}) {
  detail::distributed_sort::typed_vectors<Key> vectors(keys, nullptr);
  return detail::distributed_sort::sort_vectors(comm, vectors, false, order, parts, options, env);
}
/// Overload with the default options.
template <quicksort_facade_key Key>
distributed_sort_report distributed_sort(communicator& comm, std::vector<Key>& keys,
                                         sort_order order = sort_order::ascending,
                                         sorted_parts parts = sorted_parts::sampled,
                                         const environment& env = {}) {
  return distributed_sort(comm, keys, order, parts, quicksort_options{}, env);
}

/// Sorts the keys of all ranks and moves each value with its key. There must be one value for each
/// key. Collective.
///
/// \param options  of the sorts on each rank
/// \param env      its memory must be empty
/// \throws std::invalid_argument, cluster_error
template <quicksort_facade_key Key>
distributed_sort_report distributed_sort_pairs(communicator& comm, std::vector<Key>& keys,
                                               std::vector<std::uint64_t>& values, sort_order order,
                                               sorted_parts parts, const quicksort_options& options,
                                               const environment& env = {}) {
  detail::distributed_sort::typed_vectors<Key> vectors(keys, &values);
  return detail::distributed_sort::sort_vectors(comm, vectors, true, order, parts, options, env);
}
/// Overload with the default options.
template <quicksort_facade_key Key>
distributed_sort_report distributed_sort_pairs(communicator& comm, std::vector<Key>& keys,
                                               std::vector<std::uint64_t>& values,
                                               sort_order order = sort_order::ascending,
                                               sorted_parts parts = sorted_parts::sampled,
                                               const environment& env = {}) {
  return distributed_sort_pairs(comm, keys, values, order, parts, quicksort_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
