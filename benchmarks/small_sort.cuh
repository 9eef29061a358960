// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The elements of a small sort, the sort, and the check of its result.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "measure_cuda.cuh"
#include "quicksort_inputs.hpp"

namespace benchmark {

inline void require(bool valid, const std::string& what) {
  if (!valid) throw std::runtime_error(what);
}

template <class T>
void copy_on_device(T* to, const T* from, std::size_t n, cudaStream_t stream) {
  ramify::check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                "copying");
}

/// n elements in device memory, of which a sort is measured: keys and, unless Value is no_value, a
/// value for each.
template <class Key, class Value = ramify::no_value>
class small_sort {
  static constexpr bool has_values = !std::is_same_v<Value, ramify::no_value>;

 public:
  explicit small_sort(std::uint32_t n)
      : n_(n),
        input_(n, nullptr),
        input_values_(has_values ? n : 0, nullptr),
        keys_(n, nullptr),
        values_(has_values ? n : 0, nullptr),
        inspection_(1, nullptr) {
    ramify::check(fill(input_.data(), n, distribution::uniform), "making keys");
    if constexpr (has_values) ramify::check(fill_values(input_values_.data(), n), "numbering");
    restore(nullptr);
    expected_ = inspected();
    require(expected_.disorder > 0, "random keys are in order: the check of results is broken");
    sorted_ = download(input_.data(), n);
    std::sort(sorted_.begin(), sorted_.end());
  }

  [[nodiscard]] element_arrays<Key, Value> arrays() const { return {keys_.data(), values_.data()}; }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return ramify::quicksort_scratch_bytes<Key, Value>(n_);
  }

  /// Overwrites the elements with the unsorted ones.
  void restore(cudaStream_t stream) const {
    copy_on_device(keys_.data(), input_.data(), n_, stream);
    if constexpr (has_values) {
      copy_on_device(values_.data(), input_values_.data(), n_, stream);
    }
  }
  [[nodiscard]] ramify::async_run<ramify::quicksort_report> start(
      const ramify::environment& env) const {
    if constexpr (has_values) {
      return ramify::quicksort_pairs_async(keys_.data(), values_.data(), n_, ramify::ascending{},
                                           env);
    } else {
      return ramify::quicksort_async(keys_.data(), n_, ramify::ascending{}, env);
    }
  }
  [[nodiscard]] ramify::quicksort_report run(const ramify::environment& env) const {
    if constexpr (has_values) {
      return ramify::quicksort_pairs(keys_.data(), values_.data(), n_, ramify::ascending{}, env);
    } else {
      return ramify::quicksort(keys_.data(), n_, ramify::ascending{}, env);
    }
  }

  /// Checks the elements, which are sorted. No work in another stream may use them.
  /// \throws std::runtime_error if they are out of order, or not the elements of the input
  void check_sorted() const {
    const inspection found = inspected();
    require(found.disorder == 0 && found.fingerprint == expected_.fingerprint,
            "wrong result of a sort of " + std::to_string(n_) + " elements");
  }
  /// Compares the keys with a sort by the host. \throws std::runtime_error
  void compare_with_host() const {
    require(download(keys_.data(), n_) == sorted_,
            "the host sorts " + std::to_string(n_) + " keys differently");
  }

 private:
  [[nodiscard]] inspection inspected() const {
    const std::uint32_t* values = nullptr;
    if constexpr (has_values) values = values_.data();
    ramify::check(cudaMemsetAsync(inspection_.data(), 0, sizeof(inspection), nullptr), "clearing");
    ramify::check(inspect(keys_.data(), values, n_, natural_order{}, inspection_.data()),
                  "inspecting keys");
    return download(inspection_.data(), 1)[0];
  }

  std::uint32_t n_;
  ramify::device_buffer<Key> input_;
  ramify::device_buffer<Value> input_values_;
  ramify::device_buffer<Key> keys_;
  ramify::device_buffer<Value> values_;
  ramify::device_buffer<inspection> inspection_;
  inspection expected_{};
  std::vector<Key> sorted_;
};

}  // namespace benchmark
