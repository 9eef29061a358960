// SPDX-License-Identifier: BSD-3-Clause
// Quicksort on the GPU, strategy by strategy and route by route, against CUB, in one run. Prints a
// Markdown table. Times are of the device, between events; scratch memory is handed in.
#include <algorithm>
#include <iostream>
#include <numeric>
#include <ramify/quicksort.cuh>
#include <random>
#include <stdexcept>

#include "cub_peers.hpp"
#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using benchmark::event;
using key = std::uint32_t;

constexpr int repeats = 11;

/// One input on the device, and what its sorted form must be.
class bench {
 public:
  explicit bench(std::size_t n)
      : n_(n), input_(n, nullptr), keys_(n, nullptr), alternate_(n, nullptr) {
    std::mt19937_64 random(n);
    std::vector<key> host(n);
    for (key& k : host) k = static_cast<key>(random());
    sum_ = fingerprint(host);
    check(cudaMemcpy(input_.data(), host.data(), n * sizeof(key), cudaMemcpyHostToDevice),
          "uploading");
  }

  [[nodiscard]] key* keys() const { return keys_.data(); }
  [[nodiscard]] key* alternate() const { return alternate_.data(); }

  /// Times `sort`, which works on keys() in the default stream and may return a function that ends
  /// it, and checks what it leaves in keys() or, if it says so, in alternate().
  template <class Sort>
  benchmark::timing time_of(Sort sort) {
    std::vector<double> times;
    for (int i = -3; i < repeats; ++i) {  // three to warm up
      check(cudaMemcpy(keys_.data(), input_.data(), n_ * sizeof(key), cudaMemcpyDeviceToDevice),
            "copying the input");
      event begin;
      event end;
      sort(begin, end);
      if (i >= 0) times.push_back(end.milliseconds_since(begin));
    }
    check_result();
    return benchmark::summarize(times);
  }

 private:
  // Order, and a sum over the keys that tells whether one was lost.
  void check_result() const {
    std::vector<key> host(n_);
    check(cudaMemcpy(host.data(), keys_.data(), n_ * sizeof(key), cudaMemcpyDeviceToHost),
          "downloading");
    if (!std::ranges::is_sorted(host) || fingerprint(host) != sum_) {
      throw std::runtime_error("wrong result at n = " + std::to_string(n_));
    }
  }
  static std::uint64_t fingerprint(const std::vector<key>& keys) {
    return std::accumulate(keys.begin(), keys.end(), std::uint64_t{0},
                           [](std::uint64_t sum, key k) {
                             return sum + (k + 1) * (std::uint64_t{k} + 0x9e3779b97f4a7c15u);
                           });
  }

  std::size_t n_;
  device_buffer<key> input_, keys_, alternate_;
  std::uint64_t sum_ = 0;
};

void print_rows(std::size_t n) {
  bench b(n);
  const device_buffer<std::byte> peer_scratch(benchmark::peer_scratch_bytes(n), nullptr);
  const auto peer = [&](auto sort) {
    return b.time_of([&](event& begin, event& end) {
      begin.record();
      check(sort(), "CUB");
      end.record();
    });
  };
  // A radix sort of 32-bit keys takes four passes, so its result is back in the first buffer.
  const auto radix = peer([&] {
    return benchmark::cub_radix_sort(peer_scratch.data(), peer_scratch.size(), b.keys(),
                                     b.alternate(), n);
  });
  const auto merge = peer([&] {
    return benchmark::cub_merge_sort(peer_scratch.data(), peer_scratch.size(), b.keys(), n);
  });
  const auto copy = b.time_of([&](event& begin, event& end) {
    begin.record();
    check(cudaMemcpyAsync(b.alternate(), b.keys(), n * sizeof(key), cudaMemcpyDeviceToDevice),
          "copying");
    end.record();
    check(cudaDeviceSynchronize(), "waiting");
    (void)quicksort(b.keys(), n);  // so that there is a result to check
  });

  const auto row = [&](std::string name, std::string_view route, const benchmark::timing& t,
                       const quicksort_report* report) {
    benchmark::print_row({std::to_string(n), std::move(name), std::string(route),
                          benchmark::number(t.median_ms), benchmark::spread(t),
                          benchmark::number(double(n) / t.median_ms / 1e3),
                          benchmark::number(merge.median_ms / t.median_ms),
                          benchmark::number(radix.median_ms / t.median_ms),
                          report == nullptr ? "" : std::to_string(report->host_grids),
                          report == nullptr ? "" : std::to_string(report->child_grids),
                          report == nullptr ? "" : std::to_string(report->spilled_tasks)});
  };
  row("a copy", "", copy, nullptr);
  row("cub::DeviceRadixSort", "", radix, nullptr);
  row("cub::DeviceMergeSort", "", merge, nullptr);
  for (const auto strategy : {quicksort_strategy::multiway, quicksort_strategy::binary}) {
    for (const auto taken : {route::device, route::flat}) {
      const quicksort_config config{.strategy = strategy, .route = taken};
      const std::size_t bytes = quicksort_scratch_bytes<key>(n, config);
      const device_buffer<std::byte> scratch(bytes, nullptr);
      quicksort_report report;
      const auto t = b.time_of([&](event& begin, event& end) {
        begin.record();
        auto run =
            quicksort_async(b.keys(), n, ascending{}, nullptr, config, {scratch.data(), bytes});
        end.record();
        report = run.get();
      });
      row(std::string(to_string(strategy)), to_string(taken), t, &report);
    }
  }
}

}  // namespace

int main() {
  try {
    cudaDeviceProp device{};
    int driver = 0;
    int runtime = 0;
    check(cudaGetDeviceProperties(&device, 0), "asking for the device");
    check(cudaDriverGetVersion(&driver), "asking for the driver");
    check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
    std::cout << device.name << ", " << device.multiProcessorCount << " SMs, CUDA driver API "
              << driver << ", runtime " << runtime << "; uniform u32 keys, medians of " << repeats
              << "\n\n";
    benchmark::print_header({"n", "sort", "route", "ms", "least–most", "Mkeys/s",
                             "speed / merge sort", "speed / radix sort", "host grids",
                             "child grids", "spilled"});
    for (const std::size_t n :
         {100'000u, 1'000'000u, 1u << 20, 1u << 22, 1u << 24, 1u << 26, 1u << 28}) {
      print_rows(n);
    }
  } catch (const std::exception& e) {
    std::cerr << "sort_cuda: " << e.what() << '\n';
    return 1;
  }
}
