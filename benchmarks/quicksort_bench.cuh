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

template <class Key, class Order>
class quicksort_bench_of : public quicksort_bench {
  static constexpr bool natural = std::is_same_v<Order, natural_order>;
  /// Ramify's default order also orders NaN.
  using ramify_order = std::conditional_t<natural, ramify::ascending, Order>;

 public:
  explicit quicksort_bench_of(std::uint32_t n)
      : n_(n), keys_(n, nullptr), inspection_(1, nullptr) {}

  void choose(distribution how) override {
    how_ = how;
    ramify::check(fill(keys_.data(), n_, how_), "making an input");
    inspect_keys(keys_.data());
    input_ = inspection_result();
    if (how == distribution::uniform && n_ > 1000 && input_.disorder == 0) {
      throw std::runtime_error("random keys are in order: the check of results is broken");
    }
  }

  timing time_of_copy(int repeats) override {
    Key* const to = second_array_and(0).first;
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      begin.record();
      ramify::check(
          cudaMemcpyAsync(to, keys_.data(), n_ * sizeof(Key), cudaMemcpyDeviceToDevice, nullptr),
          "copying");
      end.record();
      inspect_keys(to);
      return input_.disorder;
    });
  }

  timing time_of_merge_sort(int repeats) override {
    std::size_t bytes = 0;
    ramify::check(cub_merge_sort(nullptr, bytes, keys_.data(), n_, Order{}),
                  "querying the scratch size of CUB");
    void* const scratch = scratch_of(bytes);
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      begin.record();
      ramify::check(cub_merge_sort(scratch, bytes, keys_.data(), n_, Order{}), "merge sort");
      end.record();
      inspect_keys(keys_.data());
      return 0;
    });
  }

  timing time_of_radix_sort(int repeats) override {
    if constexpr (natural) {
      std::size_t bytes = 0;
      Key* from = nullptr;
      Key* to = nullptr;
      ramify::check(cub_radix_sort(nullptr, bytes, from, to, n_),
                    "querying the scratch size of CUB");
      const auto [alternate, scratch] = second_array_and(bytes);
      return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
        from = keys_.data();
        to = alternate;
        begin.record();
        ramify::check(cub_radix_sort(scratch, bytes, from, to, n_), "radix sort");
        end.record();
        inspect_keys(from);
        return 0;
      });
    } else {
      throw std::logic_error("a radix sort supports only the natural order of numbers");
    }
  }

  timing time_of_quicksort(const ramify::quicksort_config& config, int repeats,
                           ramify::quicksort_report* report) override {
    using ramify::no_value;
    const std::size_t bytes =
        ramify::quicksort_scratch_bytes<Key, no_value, ramify_order>(n_, config);
    std::byte* const scratch = scratch_of(bytes);
    // The host launches the levels of this form one after another, in get().
    const bool launched_by_get = config.strategy == ramify::quicksort_strategy::binary &&
                                 config.route == ramify::route::flat;
    return time_of(repeats, [&](ramify::host_event& begin, ramify::host_event& end) {
      begin.record();
      auto run = ramify::quicksort_async(keys_.data(), n_, ramify_order{}, nullptr, config,
                                         {scratch, bytes});
      if (launched_by_get) *report = run.get();
      end.record();
      inspect_keys(keys_.data());  // also before get(), which may launch remaining work
      if (!launched_by_get) *report = run.get();
      return 0;
    });
  }

 private:
  /// Returns the median time of `sort`. It must sort the input in keys_, record both events,
  /// inspect its result, and return the expected number of neighbors that are out of order.
  template <class Sort>
  timing time_of(int repeats, Sort sort) {
    std::vector<double> times;
    for (int i = -2; i < repeats; ++i) {
      ramify::check(fill(keys_.data(), n_, how_), "making an input");
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

  void inspect_keys(const Key* keys) {
    ramify::check(cudaMemsetAsync(inspection_.data(), 0, sizeof(inspection), nullptr), "clearing");
    ramify::check(inspect(keys, n_, Order{}, inspection_.data()), "inspecting keys");
  }
  [[nodiscard]] inspection inspection_result() const { return download(inspection_.data(), 1)[0]; }

  std::byte* scratch_of(std::size_t bytes) {
    if (scratch_.size() < bytes) {
      scratch_ = {};  // freed before more is allocated
      scratch_ = ramify::device_buffer<std::byte>(bytes, nullptr);
    }
    return scratch_.data();
  }
  /// Returns an array of n keys and an array of `bytes` bytes in the scratch memory.
  std::pair<Key*, std::byte*> second_array_and(std::size_t bytes) {
    const auto lay_out = [&](ramify::memory_layout& memory) {
      Key* const keys = memory.take<Key>(n_);
      return std::pair(keys, memory.take<std::byte>(bytes));
    };
    ramify::memory_layout sizing(nullptr);
    lay_out(sizing);
    ramify::memory_layout memory(scratch_of(sizing.size()));
    return lay_out(memory);
  }

  std::uint32_t n_;
  distribution how_ = distribution::uniform;
  ramify::device_buffer<Key> keys_;
  ramify::device_buffer<inspection> inspection_;
  ramify::device_buffer<std::byte> scratch_;
  inspection input_{};
};

}  // namespace benchmark
