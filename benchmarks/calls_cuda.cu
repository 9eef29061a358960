// SPDX-License-Identifier: BSD-3-Clause
// Sorts that kernels call, beside (a) a host that reads the lengths back and calls once for each
// sort, (b) one segmented sort, and (c) CUB's segmented sort. Times are by the clock of the host,
// from the first launch to the end of a wait for the stream. All keys of each result are compared
// with those of CUB.
//   benchmark_calls_cuda [--quick]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/call_arena.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/segmented_sort.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"
#include "quicksort_inputs.hpp"
#include "segmented_peers.hpp"

namespace {

using namespace ramify;
using key = std::uint32_t;
using offset = std::uint32_t;
using sorts = quicksort_calls<key>;
using clock_type = std::chrono::steady_clock;

constexpr int repeats = 5;
constexpr offset max_length = 1'000'000;
constexpr offset max_total = offset{1} << 28;

/// Thread i sorts row i by a call. Counts the calls that are refused.
__global__ void sort_rows(key* keys, const offset* offsets, unsigned rows,
                          kernel_environment<sorts> calls, unsigned* refused) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const offset begin = offsets[row];
  const call_status status = quicksort(keys + begin, offsets[row + 1] - begin, ascending{}, calls);
  if (status == call_status::refused) atomicAdd(refused, 1u);
}

/// Counts the keys that differ.
__global__ void count_differences(const key* keys, const key* expected, std::size_t n,
                                  unsigned* count) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (keys[i] != expected[i]) atomicAdd(count, 1u);
  }
}

/// Returns the offsets of rows. The share of a length x of [10, max] is proportional to 1 / x, and
/// max is 10^6, or smaller so that the total is expected to be at most 2^28.
std::vector<offset> make_offsets(unsigned rows) {
  double max = max_length;
  const auto expected_total = [&] { return rows * (max - 10) / std::log(max / 10); };
  while (expected_total() > 0.95 * max_total) max *= 0.99;
  std::mt19937_64 random(rows);
  std::vector<offset> offsets(rows + 1);
  for (unsigned i = 0; i < rows; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    offsets[i + 1] = offsets[i] + static_cast<offset>(10 * std::exp(u * std::log(max / 10)));
  }
  return offsets;
}

/// The rows of one number, in device memory.
class rows_bench {
 public:
  explicit rows_bench(unsigned rows)
      : rows_(rows),
        host_(make_offsets(rows)),
        n_(host_.back()),
        offsets_(benchmark::upload(host_)),
        input_(n_, nullptr),
        keys_(n_, nullptr),
        expected_(n_, nullptr),
        other_(n_, nullptr) {
    check(benchmark::fill(input_.data(), n_, benchmark::distribution::uniform), "making keys");
  }

  void add_row(benchmark::recorder& out) {
    // (c) first: the others are compared with it.
    const auto cub = measure_cub();
    const auto segmented = measure_segmented();
    const auto host = measure_host();
    call_report report;
    const auto calls = measure_calls(report);
    out.row({rows_, n_, calls, host, segmented, cub, host.median_ms / calls.median_ms,
             report.started, report.kept, report.child_grids});
  }

 private:
  /// Returns the times of `sort`, each after the input is restored, and checks each result.
  template <class Sort>
  benchmark::timing time_of(const char* name, const Sort& sort) {
    std::vector<double> times;
    for (int i = -1; i < repeats; ++i) {
      check(cudaMemcpy(keys_.data(), input_.data(), n_ * sizeof(key), cudaMemcpyDeviceToDevice),
            "restoring keys");
      check(cudaDeviceSynchronize(), "waiting for the device");
      const auto begin = clock_type::now();
      sort();
      check(cudaDeviceSynchronize(), "waiting for a sort");
      const std::chrono::duration<double, std::milli> elapsed = clock_type::now() - begin;
      if (i >= 0) times.push_back(elapsed.count());
      check(cudaMemset(count_.data(), 0, sizeof(unsigned)), "clearing a count");
      count_differences<<<4096, 256>>>(keys_.data(), sorted_, n_, count_.data());
      const unsigned differences = benchmark::download(count_.data(), 1)[0];
      if (differences != 0) {
        throw std::runtime_error(std::string(name) + ": " + std::to_string(differences) +
                                 " keys differ from CUB's");
      }
    }
    return benchmark::summarize(times);
  }

  benchmark::timing measure_cub() {
    std::vector<double> times;
    for (int i = -1; i < repeats; ++i) {
      check(cudaMemcpy(expected_.data(), input_.data(), n_ * sizeof(key), cudaMemcpyDeviceToDevice),
            "restoring keys");
      key* keys = expected_.data();
      key* other = other_.data();
      std::uint32_t* no_values = nullptr;
      std::uint32_t* no_others = nullptr;
      std::size_t bytes = 0;
      const auto sort = [&](void* scratch) {
        check(benchmark::cub_segmented_sort(scratch, bytes, keys, other, no_values, no_others, n_,
                                            rows_, offsets_.data()),
              "sorting by CUB");
      };
      sort(nullptr);
      const device_buffer<std::byte> scratch(bytes, nullptr);
      keys = expected_.data();
      other = other_.data();
      check(cudaDeviceSynchronize(), "waiting for the device");
      const auto begin = clock_type::now();
      sort(scratch.data());
      check(cudaDeviceSynchronize(), "waiting for CUB");
      const std::chrono::duration<double, std::milli> elapsed = clock_type::now() - begin;
      if (i >= 0) times.push_back(elapsed.count());
      sorted_ = keys;
    }
    return benchmark::summarize(times);
  }

  benchmark::timing measure_segmented() {
    const device_buffer<std::byte> scratch(segmented_sort_scratch_bytes<key>(n_, rows_), nullptr);
    return time_of("segmented_sort", [&] {
      segmented_sort(keys_.data(), n_, offsets_.data(), offsets_.data() + 1, rows_, ascending{},
                     {.memory = scratch});
    });
  }

  /// The host reads the lengths, and starts a sort of each row in one stream.
  benchmark::timing measure_host() {
    const device_buffer<std::byte> scratch(quicksort_scratch_bytes<key>(max_length), nullptr);
    return time_of("the host's calls", [&] {
      const std::vector<offset> offsets = benchmark::download(offsets_.data(), rows_ + 1);
      for (unsigned i = 0; i < rows_; ++i) {
        static_cast<void>(quicksort_async(keys_.data() + offsets[i], offsets[i + 1] - offsets[i],
                                          ascending{}, {.memory = scratch}));
      }
    });
  }

  benchmark::timing measure_calls(call_report& report) {
    call_arena arena(sorts(max_length), {.chunks = 256, .kept_calls = rows_ + 1000});
    device_buffer<unsigned> refused(1, nullptr);
    check(cudaMemset(refused.data(), 0, sizeof(unsigned)), "clearing a count");
    const auto times = time_of("calls from a kernel", [&] {
      sort_rows<<<(rows_ + 127) / 128, 128>>>(keys_.data(), offsets_.data(), rows_,
                                              arena.environment(), refused.data());
      arena.complete_async();
    });
    report = arena.get();
    if (benchmark::download(refused.data(), 1)[0] != 0) throw std::runtime_error("refused calls");
    return times;
  }

  unsigned rows_;
  std::vector<offset> host_;
  offset n_;
  device_buffer<offset> offsets_;
  device_buffer<key> input_, keys_, expected_, other_;
  device_buffer<unsigned> count_{1, nullptr};
  const key* sorted_ = nullptr;
};

void measure_all(benchmark::recorder& out, const benchmark::command_line& line) {
  out.table("sorts",
            {"calls", "keys", "calls from a kernel, ms", "host's calls, ms", "segmented_sort, ms",
             "cub::DeviceSegmentedSort, ms", "host / kernel", "started", "kept", "child grids"},
            "Sorts of u32 keys; the share of a length x is proportional to 1 / x, from 10 to 10^6, "
            "or less for a total of 2^28; medians of " +
                std::to_string(repeats) + " (least–most); counts are of " +
                std::to_string(repeats + 1) + " runs");
  for (const unsigned rows : {1u, 10u, 1000u, 10'000u, 100'000u}) {
    if (line.quick && rows > 1000) continue;
    rows_bench(rows).add_row(out);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "calls_cuda",
                         .about = "sorts that kernels call",
                         .machine = benchmark::this_gpu,
                         .has_quick = true},
                        argc, argv, measure_all);
}
