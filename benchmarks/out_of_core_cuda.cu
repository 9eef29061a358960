// SPDX-License-Identifier: BSD-3-Clause
// Sorts of host arrays that are twice as large as a budget of device memory: pinned and pageable
// memory. The GPU writes the keys and checks the results, before a time is reported.
//   benchmark_out_of_core_cuda [budget in MiB] [--part pinned]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <ramify/quicksort_out_of_core.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <stdexcept>
#include <string>

#include "large_arrays.cuh"
#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using benchmark::large_inspection;

/// Memory of the host, pinned or not.
class host_array {
 public:
  host_array(std::size_t bytes, bool is_pinned) {
    if (is_pinned) {
      pinned_ = pinned_buffer<std::byte>(bytes);
    } else {
      pageable_.reset(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
      if (pageable_ == nullptr) throw std::bad_alloc();
    }
  }
  [[nodiscard]] void* data() const {
    return pageable_ != nullptr ? pageable_.get() : static_cast<void*>(pinned_.data());
  }

 private:
  struct free_memory {
    void operator()(void* memory) const { std::free(memory); }
  };
  pinned_buffer<std::byte> pinned_;
  std::unique_ptr<void, free_memory> pageable_;
};

/// Sorts of keys of one type in host arrays.
template <class Key>
class bench {
 public:
  /// `budget` is in bytes. The arrays have twice that size, and the size that a sort needs.
  bench(benchmark::recorder& out, std::size_t budget, bool is_pinned, const host_array& keys,
        const host_array& temporary)
      : recorder_(out),
        budget_(budget),
        is_pinned_(is_pinned),
        n_(2 * budget / sizeof(Key)),
        keys_(keys),
        temporary_(temporary) {}

  void measure() {
    std::vector<double> times;
    quicksort_report report;
    for (int i = 0; i < 4; ++i) {
      write_input();
      const quicksort_options options{.device_memory = budget_, .temporary = temporary_.data()};
      const auto begin = std::chrono::steady_clock::now();
      report = quicksort_out_of_core(keys(), n_, ascending{}, options);
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - begin;
      if (i > 0) times.push_back(taken.count());
      const large_inspection after = look_at_keys();
      if (after.inversions > 0 || after.sum != before_.sum) {
        throw std::runtime_error("a wrong result of " + std::to_string(n_) + " keys");
      }
    }
    const auto total = benchmark::summarize(times);
    recorder_.row({std::is_floating_point_v<Key> ? "f64" : "u32", n_,
                   is_pinned_ ? "pinned" : "pageable", report.runs, report.buckets, total,
                   double(n_ * sizeof(Key)) / total.median_ms / 1e6});
  }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 26;  // keys

  [[nodiscard]] Key* keys() const { return static_cast<Key*>(keys_.data()); }

  void write_input() {
    const device_buffer<Key> on_device(chunk, nullptr);
    for (std::size_t first = 0; first < n_; first += chunk) {
      const std::size_t n = std::min(chunk, n_ - first);
      detail::runtime::launch_each(benchmark::write_keys<Key>, n, nullptr, "writing keys",
                                   on_device.data(), n, std::uint64_t{first});
      copy_to_host(keys() + first, on_device.data(), n * sizeof(Key), nullptr);
    }
    check(cudaDeviceSynchronize(), "writing the input");
    before_ = look_at_keys();
  }

  /// Chunks overlap by one key, so that all neighbors are compared; its hash counts once.
  large_inspection look_at_keys() {
    const device_buffer<Key> on_device(chunk + 1, nullptr);
    const device_buffer<large_inspection> result(1, nullptr);
    large_inspection all{};
    for (std::size_t first = 0; first < n_; first += chunk) {
      const std::size_t n = std::min(chunk, n_ - first);
      const std::size_t extra = first > 0 ? 1 : 0;
      copy_to_device(on_device.data(), keys() + first - extra, (n + extra) * sizeof(Key), nullptr);
      const large_inspection part =
          benchmark::inspect_large(on_device.data(), n + extra, result.data());
      all.inversions += part.inversions;
      all.sum += part.sum;
      if (extra == 0) continue;
      std::uint64_t bits = 0;
      std::memcpy(&bits, keys() + first - 1, sizeof(Key));
      all.sum -= benchmark::scrambled(bits);
    }
    return all;
  }

  benchmark::recorder& recorder_;
  std::size_t budget_;
  bool is_pinned_;
  std::size_t n_;
  const host_array& keys_;
  const host_array& temporary_;
  large_inspection before_{};
};

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  const std::size_t mebibytes = asked.number_or(std::size_t{16} << 10);
  out.table("out_of_core", {"keys", "n", "memory", "runs", "buckets", "ms", "GB/s of keys"},
            "random keys, twice the budget of " + std::to_string(mebibytes) +
                " MiB for pinned memory and of " + std::to_string(mebibytes / 4) +
                " MiB for pageable memory; medians of 3 (least–most); each key crosses the link "
                "twice in each "
                "direction, so 27.5 GB/s is the limit of a link of 55 GB/s");
  for (const bool is_pinned : {true, false}) {
    if (!asked.has_part(is_pinned ? "pinned" : "pageable")) continue;
    const std::size_t budget = (is_pinned ? mebibytes : mebibytes / 4) << 20;
    const host_array keys(2 * budget, is_pinned);
    const host_array temporary(
        std::max(quicksort_out_of_core_temporary_bytes<std::uint32_t>(budget / 2),
                 quicksort_out_of_core_temporary_bytes<double>(budget / 4)),
        is_pinned);
    bench<std::uint32_t>(out, budget, is_pinned, keys, temporary).measure();
    bench<double>(out, budget, is_pinned, keys, temporary).measure();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "out_of_core_cuda",
       .about = "Sorts of host arrays larger than device memory.",
       .machine = benchmark::this_gpu,
       .parts = {"pinned", "pageable"},
       .words =
           "budget of device memory in MiB, for pageable memory a quarter of it; default: 16384"},
      argc, argv, measure_all);
}
