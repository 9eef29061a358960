// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The quicksort_bench of a key type and an order.

#include <ramify/quicksort.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "measure_cuda.cuh"
#include "quicksort_bench.hpp"
#include "quicksort_inputs.hpp"
#include "quicksort_peers.hpp"

namespace benchmark {

template <class Key, class Value, class Order>
class quicksort_bench_of : public quicksort_bench {
  static constexpr bool has_values = !std::is_same_v<Value, ramify::no_value>;
  static constexpr bool natural = std::is_same_v<Order, natural_order>;
  using arrays = element_arrays<Key, Value>;
  /// Ramify's default order also orders NaN.
  using ramify_order = std::conditional_t<natural, ramify::ascending, Order>;

 public:
  explicit quicksort_bench_of(std::uint32_t n)
      : n_(n), keys_(n, nullptr), values_(has_values ? n : 0, nullptr), inspection_(1, nullptr) {}

  void choose(distribution how) override {
    how_ = how;
    make_input();
    inspect_elements(data());
    input_ = inspection_result();
    if (how == distribution::uniform && n_ > 1000 && input_.disorder == 0) {
      throw std::runtime_error("random keys are in order: the check of results is broken");
    }
  }

  timing time_of_copy(int repeats) override {
    const arrays to = second_arrays_and(0).first;
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      begin.record();
      copy(to.keys, keys_.data());
      if constexpr (has_values) copy(to.values, values_.data());
      end.record();
      inspect_elements(to);
      return input_.disorder;
    });
  }

  timing time_of_merge_sort(int repeats) override {
    std::size_t bytes = 0;
    ramify::check(cub_merge_sort(nullptr, bytes, data(), n_, Order{}),
                  "querying the scratch size of CUB");
    void* const scratch = scratch_of(bytes);
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      begin.record();
      ramify::check(cub_merge_sort(scratch, bytes, data(), n_, Order{}), "merge sort");
      end.record();
      inspect_elements(data());
      return 0;
    });
  }

  timing time_of_radix_sort(int repeats) override {
    if constexpr (natural) {
      const timing with_32_bits = time_of_radix_sort_with<std::uint32_t>(repeats);
      const timing with_64_bits = time_of_radix_sort_with<std::uint64_t>(repeats);
      return with_64_bits.median_ms < with_32_bits.median_ms ? with_64_bits : with_32_bits;
    } else {
      throw std::logic_error("a radix sort supports only the natural order of numbers");
    }
  }

  timing time_of_quicksort(ramify::quicksort_strategy strategy, ramify::route route, int repeats,
                           ramify::quicksort_report* report) override {
    const ramify::quicksort_options options{.strategy = strategy};
    const std::size_t bytes =
        ramify::quicksort_scratch_bytes<Key, Value, ramify_order>(n_, options);
    const ramify::environment env{.memory = {scratch_of(bytes), bytes}, .route = route};
    // The host launches the levels of this form one after another, in get().
    const bool launched_by_get =
        strategy == ramify::quicksort_strategy::binary && route == ramify::route::flat;
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      begin.record();
      auto run = start_quicksort(options, env);
      if (launched_by_get) *report = run.get();
      end.record();
      inspect_elements(data());  // also before get(), which may launch remaining work
      if (!launched_by_get) *report = run.get();
      return 0;
    });
  }

 protected:
  [[nodiscard]] arrays data() const { return {keys_.data(), values_.data()}; }

  void make_input() {
    ramify::check(fill(keys_.data(), n_, how_), "making an input");
    if constexpr (has_values) ramify::check(fill_values(values_.data(), n_), "making an input");
  }

  template <class T>
  void copy(T* to, const T* from) const {
    ramify::check(cudaMemcpyAsync(to, from, n_ * sizeof(T), cudaMemcpyDeviceToDevice, nullptr),
                  "copying");
  }

  template <class Count>
  timing time_of_radix_sort_with(int repeats) {
    std::size_t bytes = 0;
    arrays from{};
    arrays to{};
    ramify::check(cub_radix_sort<Count>(nullptr, bytes, from, to, n_),
                  "querying the scratch size of CUB");
    const auto [alternate, scratch] = second_arrays_and(bytes);
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      from = data();
      to = alternate;
      begin.record();
      ramify::check(cub_radix_sort<Count>(scratch, bytes, from, to, n_), "radix sort");
      end.record();
      inspect_elements(from);
      return 0;
    });
  }

  auto start_quicksort(const ramify::quicksort_options& options, const ramify::environment& env) {
    if constexpr (has_values) {
      return ramify::quicksort_pairs_async(keys_.data(), values_.data(), n_, ramify_order{},
                                           options, env);
    } else {
      return ramify::quicksort_async(keys_.data(), n_, ramify_order{}, options, env);
    }
  }

  /// Returns the median time of `sort`. It must sort the input in keys_, record both events,
  /// inspect its result, and return the expected number of neighbors that are out of order.
  template <class Sort>
  timing time_of(int repeats, Sort sort) {
    std::vector<double> times;
    for (int i = -2; i < repeats; ++i) {
      make_input();
      ramify::host_event begin;
      ramify::host_event end;
      const unsigned long long disorder = sort(begin, end);
      if (i >= 0) times.push_back(end.milliseconds_since(begin));
      const inspection left = inspection_result();
      if (left.fingerprint != input_.fingerprint || left.disorder != disorder) {
        throw std::runtime_error(
            "wrong result: " + std::to_string(n_) + " keys, " + std::string(to_string(how_)) +
            ", " + std::to_string(left.disorder) + " neighbors out of order, " +
            (left.fingerprint == input_.fingerprint ? "the same" : "other") + " keys");
      }
    }
    return summarize(times);
  }

  void inspect_elements(const arrays& elements) {
    const std::uint32_t* values = nullptr;
    if constexpr (has_values) values = elements.values;
    ramify::check(cudaMemsetAsync(inspection_.data(), 0, sizeof(inspection), nullptr), "clearing");
    ramify::check(inspect(elements.keys, values, n_, Order{}, inspection_.data()),
                  "inspecting keys");
  }
  [[nodiscard]] inspection inspection_result() const { return download(inspection_.data(), 1)[0]; }

  std::byte* scratch_of(std::size_t bytes) {
    if (scratch_.size() < bytes) {
      scratch_ = {};  // freed before more is allocated
      scratch_ = ramify::device_buffer<std::byte>(bytes, nullptr);
    }
    return scratch_.data();
  }
  /// Returns arrays of n elements and an array of `bytes` bytes in the scratch memory.
  std::pair<arrays, std::byte*> second_arrays_and(std::size_t bytes) {
    const auto lay_out = [&](ramify::memory_layout& memory) {
      Key* const keys = memory.take<Key>(n_);
      Value* const values = memory.take<Value>(has_values ? n_ : 0);
      return std::pair(arrays{keys, values}, memory.take<std::byte>(bytes));
    };
    ramify::memory_layout sizing(nullptr);
    lay_out(sizing);
    ramify::memory_layout memory(scratch_of(sizing.size()));
    return lay_out(memory);
  }

  std::uint32_t n_;
  distribution how_ = distribution::uniform;
  ramify::device_buffer<Key> keys_;
  ramify::device_buffer<Value> values_;
  ramify::device_buffer<inspection> inspection_;
  ramify::device_buffer<std::byte> scratch_;
  inspection input_{};
};

}  // namespace benchmark
