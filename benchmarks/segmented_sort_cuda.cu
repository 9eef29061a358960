// SPDX-License-Identifier: BSD-3-Clause
// Segmented sorts on the GPU, beside CUB's. Times are between events, with memory handed in. The
// keys of each result are compared with those of CUB, all of them.
//   benchmark_segmented_sort_cuda [--part u32,u64,f32,f64,record16] [--quick]
#include <algorithm>
#include <cmath>
#include <functional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/segmented_sort.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "measure_cuda.cuh"
#include "quicksort_inputs.hpp"
#include "segmented_peers.hpp"

namespace {

using namespace ramify;
using offset = std::uint32_t;
using lengths = std::vector<offset>;

constexpr int repeats = 5;
/// A row is measured once, after the run to warm up, if CUB takes longer than that.
constexpr double long_ms = 200;

// ---- lengths ------------------------------------------------------------------------------------

struct shape {
  std::string name;
  lengths segments;
};

/// Returns lengths with a sum of `total`, which `next` gives; the last one may be smaller.
lengths fill_total(offset total, const std::function<double()>& next) {
  lengths all;
  for (offset left = total; left > 0; left -= all.back()) {
    const double length = std::max(0.0, next());
    all.push_back(length < left ? static_cast<offset>(length) : left);
  }
  return all;
}

/// Returns all shapes with a total of 2^scale elements, and for the larger scale those that public
/// users name.
std::vector<shape> make_shapes(unsigned scale, bool quick) {
  const offset total = offset{1} << scale;
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<shape> shapes;
  for (const unsigned log : {4u, 6u, 8u, 10u, 12u, 14u, 16u, 18u, 20u}) {
    if (quick && log % 8 != 4) continue;
    shapes.push_back({"equal, 2^" + std::to_string(log), lengths(total >> log, 1u << log)});
  }
  shapes.push_back({"uniform, 0 to 2,000", fill_total(total, [&] { return uniform() * 2001; })});
  if (!quick) {
    shapes.push_back(
        {"uniform, 0 to 200,000", fill_total(total, [&] { return uniform() * 200'001; })});
  }
  // The share of a length x of [1, 10^6] is proportional to 1 / x.
  shapes.push_back(
      {"Zipf, 1 to 10^6", fill_total(total, [&] { return std::exp(uniform() * std::log(1e6)); })});
  lengths giant = fill_total(total / 2, [&] { return 1 + uniform() * 31; });
  giant.insert(giant.begin() + std::ptrdiff_t(giant.size() / 2), total / 2);
  shapes.push_back({"one of half, others 1 to 32", std::move(giant)});
  lengths one(100'000);
  one[50'000] = total;
  shapes.push_back({"one of 100,001 not empty", std::move(one)});
  if (scale >= 28) {
    lengths rows(100'000);
    for (offset& row : rows) row = static_cast<offset>(100 + uniform() * 4901);
    shapes.push_back({"10^5 rows of 100 to 5,000", std::move(rows)});
    shapes.push_back({"256 rows of 10^6", lengths(256, 1'000'000)});
  }
  return shapes;
}

std::vector<offset> offsets_of(const lengths& segments) {
  std::vector<offset> offsets(segments.size() + 1);
  for (std::size_t i = 0; i < segments.size(); ++i) offsets[i + 1] = offsets[i] + segments[i];
  return offsets;
}

// ---- measurement --------------------------------------------------------------------------------

__device__ bool same_key(const benchmark::record16& a, std::uint64_t b) { return a.key == b; }
template <class Key>
__device__ bool same_key(const Key& a, const Key& b) {
  return a == b;
}

/// Counts the elements that differ.
template <class Key, class Other>
__global__ void count_differences(const Key* keys, const Other* expected, std::size_t n,
                                  unsigned long long* count) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (!same_key(keys[i], expected[i])) atomicAdd(count, 1ull);
  }
}

/// Copies the keys and payloads of records to arrays, as CUB sorts them.
__global__ void split_records(const benchmark::record16* records, std::size_t n,
                              std::uint64_t* keys, std::uint64_t* payloads) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    keys[i] = records[i].key;
    payloads[i] = records[i].payload;
  }
}

/// The measurements of a type of keys. For records, CUB sorts pairs of 8 and 8 bytes.
template <class Key>
class segmented_bench {
  static constexpr bool is_record = std::is_same_v<Key, benchmark::record16>;
  using peer_key = std::conditional_t<is_record, std::uint64_t, Key>;
  using peer_value = std::conditional_t<
      is_record, std::uint64_t,
      std::conditional_t<std::is_same_v<Key, std::uint64_t>, std::uint64_t, std::uint32_t>>;
  using order = std::conditional_t<is_record, benchmark::by_key, ascending>;

 public:
  explicit segmented_bench(offset max)
      : input_(max, nullptr), keys_(max, nullptr), peer_(max, nullptr), other_(max, nullptr) {
    if constexpr (is_record) {
      values_ = device_buffer<peer_value>(max, nullptr);
      other_values_ = device_buffer<peer_value>(max, nullptr);
    }
    check(benchmark::fill(input_.data(), max, benchmark::distribution::uniform), "making keys");
  }

  /// Measures CUB and Ramify alternately, and adds a row. Returns CUB's time / Ramify's.
  double add_row(benchmark::recorder& out, const char* name, const shape& what) {
    const std::vector<offset> host = offsets_of(what.segments);
    const auto segments = static_cast<offset>(what.segments.size());
    const offset n = host.back();
    const device_buffer<offset> offsets = benchmark::upload(host);
    std::vector<double> cub;
    std::vector<double> ours;
    std::string took;
    for (int i = -1; i < repeats; ++i) {
      const double of_cub = time_of_peer(n, segments, offsets.data());
      const double of_ramify = time_of_ramify(n, segments, offsets.data(), took);
      require_equal(n, what.name);
      if (i < 0) continue;
      cub.push_back(of_cub);
      ours.push_back(of_ramify);
      if (of_cub > long_ms) break;
    }
    const auto a = benchmark::summarize(cub);
    const auto b = benchmark::summarize(ours);
    out.row({name, what.name, segments, a, b, a.median_ms / b.median_ms, n / (b.median_ms * 1e6),
             took});
    return a.median_ms / b.median_ms;
  }

  /// Adds a row for one sort of n elements, as a scale for large segments.
  void add_single_sort(benchmark::recorder& out, const char* name, offset n) {
    std::vector<double> times;
    const std::size_t bytes = quicksort_scratch_bytes<Key, no_value, order>(n);
    const device_buffer<std::byte> scratch(bytes, nullptr);
    for (int i = -1; i < repeats; ++i) {
      restore(n);
      host_event begin;
      host_event end;
      begin.record();
      auto run = quicksort_async(keys_.data(), n, order{}, {.memory = scratch});
      end.record();
      run.get();
      if (i >= 0) times.push_back(end.milliseconds_since(begin));
    }
    const auto t = benchmark::summarize(times);
    out.row({name, "one sort of all", 1, "", t, "", n / (t.median_ms * 1e6), ""});
  }

 private:
  void restore(offset n) {
    check(cudaMemcpyAsync(keys_.data(), input_.data(), n * sizeof(Key), cudaMemcpyDeviceToDevice,
                          nullptr),
          "restoring keys");
  }

  double time_of_peer(offset n, offset segments, const offset* offsets) {
    sorted_ = peer_.data();
    peer_key* other = other_.data();
    peer_value* values = values_.data();
    peer_value* other_values = other_values_.data();
    if constexpr (is_record) {
      split_records<<<4096, 256>>>(input_.data(), n, peer_.data(), values_.data());
    } else {
      check(cudaMemcpyAsync(peer_.data(), input_.data(), n * sizeof(Key), cudaMemcpyDeviceToDevice,
                            nullptr),
            "restoring keys");
    }
    std::size_t bytes = 0;
    const auto sort = [&](void* scratch) {
      check(benchmark::cub_segmented_sort(scratch, bytes, sorted_, other, values, other_values, n,
                                          segments, offsets),
            "sorting by CUB");
    };
    sort(nullptr);
    const device_buffer<std::byte> scratch(bytes, nullptr);
    sorted_ = peer_.data();
    other = other_.data();
    host_event begin;
    host_event end;
    begin.record();
    sort(scratch.data());
    end.record();
    return end.milliseconds_since(begin);
  }

  double time_of_ramify(offset n, offset segments, const offset* offsets, std::string& took) {
    restore(n);
    const std::size_t bytes = segmented_sort_scratch_bytes<Key, no_value, order>(n, segments);
    const device_buffer<std::byte> scratch(bytes, nullptr);
    host_event begin;
    host_event end;
    begin.record();
    auto run = segmented_sort_async(keys_.data(), n, offsets, offsets + 1, segments, order{},
                                    {.memory = scratch});
    end.record();
    took = to_string(run.get().taken);
    return end.milliseconds_since(begin);
  }

  void require_equal(offset n, const std::string& shape) {
    check(cudaMemsetAsync(differences_.data(), 0, sizeof(unsigned long long), nullptr),
          "clearing a count");
    count_differences<<<4096, 256>>>(keys_.data(), sorted_, n, differences_.data());
    const auto differences = benchmark::download(differences_.data(), 1)[0];
    if (differences == 0) return;
    throw std::runtime_error(shape + ": " + std::to_string(differences) +
                             " keys differ from CUB's");
  }

  device_buffer<Key> input_, keys_;
  device_buffer<peer_key> peer_, other_;
  device_buffer<peer_value> values_, other_values_;
  peer_key* sorted_ = nullptr;
  device_buffer<unsigned long long> differences_{1, nullptr};
};

template <class Key>
void measure(benchmark::recorder& out, const benchmark::command_line& line, const char* name,
             unsigned scale, std::vector<double>& ratios) {
  if (!line.has_part(name)) return;
  const offset total = offset{1} << scale;
  segmented_bench<Key> bench(total);
  for (const shape& what : make_shapes(scale, line.quick)) {
    ratios.push_back(bench.add_row(out, name, what));
  }
  bench.add_single_sort(out, name, total);
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& line) {
  std::vector<double> ratios;
  for (const unsigned scale : {24u, 28u}) {
    if (line.quick && scale == 28) continue;
    out.table("total_2^" + std::to_string(scale),
              {"keys", "segments", "number", "cub::DeviceSegmentedSort, ms", "segmented_sort, ms",
               "CUB / Ramify", "10^9 elements/s", "took"},
              "Random keys, at most 2^" + std::to_string(scale) + " in all; medians of " +
                  std::to_string(repeats) + " (least–most), of one if CUB takes " +
                  benchmark::number(long_ms) + " ms");
    measure<std::uint32_t>(out, line, "u32", scale, ratios);
    measure<std::uint64_t>(out, line, "u64", scale, ratios);
    measure<float>(out, line, "f32", scale, ratios);
    measure<double>(out, line, "f64", scale, ratios);
    measure<benchmark::record16>(out, line, "record16", scale, ratios);
  }
  double logs = 0;
  for (const double ratio : ratios) logs += std::log(ratio);
  out.table("geometric_mean", {"rows", "CUB / Ramify, geometric mean", "least"});
  out.row({ratios.size(), std::exp(logs / static_cast<double>(ratios.size())),
           *std::min_element(ratios.begin(), ratios.end())});
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "segmented_sort_cuda",
                         .about = "segmented sorts beside CUB's",
                         .machine = benchmark::this_gpu,
                         .parts = {"u32", "u64", "f32", "f64", "record16"},
                         .has_quick = true},
                        argc, argv, measure_all);
}
