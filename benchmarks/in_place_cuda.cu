// SPDX-License-Identifier: BSD-3-Clause
// Sorts without a second array beside quicksort() and CUB's merge sort, on all inputs of the sort
// benchmark; and a sort of an array of 85 % of the device's memory.
//   benchmark_in_place_cuda [--part inputs,large] [--quick]
#include <algorithm>
#include <ramify/quicksort_in_place.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <stdexcept>
#include <string>
#include <string_view>

#include "large_arrays.cuh"
#include "measure_cuda.cuh"
#include "quicksort_bench.cuh"

namespace {

using namespace ramify;
using benchmark::distribution;
using benchmark::timing;

/// The bench of a kind of key, and its sort in place.
template <class Key, class Value>
class bench : public benchmark::quicksort_bench_of<Key, Value, benchmark::natural_order> {
 public:
  using benchmark::quicksort_bench_of<Key, Value, benchmark::natural_order>::quicksort_bench_of;

  [[nodiscard]] std::size_t scratch_bytes() const {
    return quicksort_in_place_scratch_bytes<Key, Value>(this->n_);
  }

  timing time_of_sort_in_place(int repeats, quicksort_report* report) {
    const std::size_t bytes = scratch_bytes();
    const environment env{.memory = {this->scratch_of(bytes), bytes}};
    const auto data = this->data();
    return this->time_of(repeats, [&](host_event& begin, host_event& end) {
      begin.record();
      if constexpr (std::is_same_v<Value, no_value>) {
        *report = quicksort_in_place(data.keys, this->n_, ascending{}, env);
      } else {
        *report = quicksort_pairs_in_place(data.keys, data.values, this->n_, ascending{}, env);
      }
      end.record();
      this->inspect_elements(data);
      return 0;
    });
  }
};

template <class Key, class Value = no_value>
void measure_inputs(benchmark::recorder& out, std::string_view name, std::uint32_t n, int repeats) {
  bench<Key, Value> times(n);
  for (const distribution how : benchmark::all_distributions) {
    times.choose(how);
    quicksort_report report;
    const timing merge = times.time_of_merge_sort(repeats);
    const timing fastest =
        times.time_of_quicksort(quicksort_strategy::sample_sort, route::flat, repeats, &report);
    const timing here = times.time_of_sort_in_place(repeats, &report);
    const std::size_t bytes = sizeof(Key) + (std::is_same_v<Value, no_value> ? 0 : sizeof(Value));
    out.row({name, n, to_string(how), merge, fastest, here, merge.median_ms / here.median_ms,
             here.median_ms / fastest.median_ms,
             100.0 * double(report.scratch_bytes) / double(n * bytes), report.host_grids});
  }
}

/// Sorts random keys that take 85 % of the device's memory.
template <class Key>
void measure_large(benchmark::recorder& out, std::string_view name, int repeats) {
  std::size_t free = 0;
  std::size_t all = 0;
  release_scratch();
  check(cudaMemGetInfo(&free, &all), "reading the size of the device's memory");
  const std::size_t n = std::size_t(0.85 * double(all)) / sizeof(Key);
  const device_buffer<Key> keys(n, nullptr);
  const device_buffer<benchmark::large_inspection> result(1, nullptr);
  std::vector<double> times;
  quicksort_report report;
  for (int i = 0; i < repeats; ++i) {
    detail::runtime::launch_each(benchmark::write_keys<Key>, n, nullptr, "writing keys",
                                 keys.data(), n, std::uint64_t{0});
    const auto before = benchmark::inspect_large(keys.data(), n, result.data());
    host_event begin;
    host_event end;
    begin.record();
    report = quicksort_in_place(keys.data(), n);
    end.record();
    times.push_back(end.milliseconds_since(begin));
    const auto after = benchmark::inspect_large(keys.data(), n, result.data());
    if (after.inversions != 0 || after.sum != before.sum) {
      throw std::runtime_error("a wrong result of " + std::to_string(n) + " keys");
    }
  }
  const timing total = benchmark::summarize(times);
  out.row({name, n, double(n * sizeof(Key)) / 1e9, 100.0 * double(n * sizeof(Key)) / double(all),
           100.0 * double(report.scratch_bytes) / double(n * sizeof(Key)), total,
           double(n) / total.median_ms / 1e6});
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("inputs")) {
    const std::uint32_t n = asked.quick ? 1u << 24 : 1u << 28;
    const int repeats = asked.quick ? 3 : 5;
    out.table(
        "in_place",
        {"keys", "n", "input", "CUB's merge sort, ms", "quicksort, ms", "in place, ms",
         "merge sort / in place", "in place / quicksort", "scratch, % of the array", "host grids"},
        "Sorts without a second array; medians of " + std::to_string(repeats) + " (least–most)");
    measure_inputs<std::uint32_t>(out, "u32", n, repeats);
    measure_inputs<double>(out, "f64", n / 2, repeats);
    measure_inputs<std::uint32_t, std::uint32_t>(out, "u32, u32 value", n / 2, repeats);
  }
  if (asked.has_part("large")) {
    out.table(
        "large",
        {"keys", "n", "GB", "% of the memory", "scratch, % of the array", "ms", "10^9 keys/s"},
        "Random keys in 85 % of the device's memory");
    measure_large<std::uint32_t>(out, "u32", asked.quick ? 1 : 3);
    measure_large<double>(out, "f64", asked.quick ? 1 : 3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "in_place_cuda",
                         .about = "Sorts of arrays without a second array.",
                         .machine = benchmark::this_gpu,
                         .parts = {"inputs", "large"},
                         .has_quick = true},
                        argc, argv, measure_all);
}
