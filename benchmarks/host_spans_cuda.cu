// SPDX-License-Identifier: BSD-3-Clause
// Sorts of arrays in host memory on a GPU: the times of the copies and of the sort, with pageable,
// staged and pinned copies, and with copies that overlap with sorting. Results are checked before a
// time is reported.
//   benchmark_host_spans_cuda [log2 of a number of keys...]
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort.hpp>
#include <ramify/runtime/staging.cuh>
#include <stdexcept>
#include <string>

#if __has_include(<cub/device/device_merge.cuh>)  // since CUDA 12.8
#include <cub/device/device_merge.cuh>
#define HAS_DEVICE_MERGE 1
#else
#define HAS_DEVICE_MERGE 0
#endif

#include "measure_cuda.cuh"

namespace {

using namespace ramify;

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

template <class Key>
Key key_of(std::uint64_t bits) {
  if constexpr (std::is_floating_point_v<Key>) return static_cast<Key>(bits >> 11) * 0x1p-53;
  return static_cast<Key>(bits);
}

template <class Key>
std::uint64_t fingerprint(std::span<const Key> keys) {
  std::uint64_t sum = 0;
  for (const Key key : keys) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &key, sizeof key);
    sum += benchmark::scrambled(bits);
  }
  return sum;
}

/// The median times of one way to sort.
struct measured {
  benchmark::timing total;
  run_times parts;
};

/// One input, and its expected result.
template <class Key>
class bench {
 public:
  bench(benchmark::recorder& out, std::size_t n)
      : recorder_(out),
        n_(n),
        repeats_(n >= std::size_t{1} << 28 ? 3 : 7),
        input_(n),
        output_(n),
        pinned_input_(n),
        pinned_output_(n),
        device_(n, nullptr),
        scratch_(quicksort_scratch_bytes<Key>(n), nullptr) {
    for (std::size_t i = 0; i < n; ++i) input_[i] = key_of<Key>(benchmark::scrambled(i));
    std::ranges::copy(input_, pinned_input_.data());
  }

  void measure_all() {
    const auto direct = [](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
      check(cudaMemcpyAsync(to, from, bytes, kind, nullptr), "copying");
    };
    const auto plain = one_after_another(input_.data(), output_.data(), direct);
    if (n_ <= std::size_t{1} << 24) measure_std_sort();
    row("cudaMemcpy", plain, plain);
    const auto measure_staged = [&](const staging_shape& shape) {
      staging chunks(shape);
      const auto staged = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        kind == cudaMemcpyHostToDevice ? chunks.upload(to, from, bytes, nullptr)
                                       : chunks.download(to, from, bytes, nullptr);
      };
      row("staged: threads " + std::to_string(shape.threads) + ", chunks of " +
              std::to_string(shape.chunk_bytes >> 10) + " KiB",
          one_after_another(input_.data(), output_.data(), staged), plain);
    };
    for (const unsigned threads : {1u, 2u, 4u, 8u}) measure_staged({.threads = threads});
    for (const std::size_t kib : {512u, 1024u, 4096u, 8192u}) {
      measure_staged({.chunk_bytes = kib << 10});
    }
    row("pinned", one_after_another(pinned_input_.data(), pinned_output_.data(), direct), plain);
#if HAS_DEVICE_MERGE
    row("pinned; 4 parts, sorted while others are copied, and merged", in_parts(), plain);
#endif
    row("the facade", facade(output_.data()), plain);
    row("the facade, pinned", facade(pinned_output_.data()), plain);
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return n_ * sizeof(Key); }

  /// Returns the median times of run(), which is called after prepare() and returns all times but
  /// the total. run() must leave the sorted keys in `result`.
  template <class Prepare, class Run>
  measured measure(const Key* result, Prepare prepare, Run run) {
    std::vector<double> in, work, out, total;
    for (int i = -1; i < repeats_; ++i) {
      prepare();
      check(cudaDeviceSynchronize(), "waiting for the device");
      const auto begin = std::chrono::steady_clock::now();
      const run_times times = run();
      const double ms = ms_since(begin);
      if (i < 0) continue;
      total.push_back(ms);
      in.push_back(times.copy_in_ms);
      work.push_back(times.work_ms);
      out.push_back(times.copy_out_ms);
    }
    check_result(result);
    using benchmark::summarize;
    return {summarize(total),
            {summarize(in).median_ms, summarize(work).median_ms, summarize(out).median_ms}};
  }

  /// Measures: copy in, sort, copy out.
  template <class Copy>
  measured one_after_another(const Key* from, Key* to, Copy copy) {
    std::memset(to, 0xff, bytes());  // clears an earlier result
    return measure(
        to, [] {},
        [&]() -> run_times {
          host_event begun, arrived, sorted, copied;
          begun.record();
          copy(device_.data(), from, bytes(), cudaMemcpyHostToDevice);
          arrived.record();
          (void)quicksort(device_.data(), n_, ascending{}, {.memory = scratch_});
          sorted.record();
          copy(to, device_.data(), bytes(), cudaMemcpyDeviceToHost);
          copied.record();
          const double out_ms = copied.milliseconds_since(sorted);
          return {arrived.milliseconds_since(begun), sorted.milliseconds_since(arrived), out_ms};
        });
  }

#if HAS_DEVICE_MERGE
  /// Measures an upper bound for overlapping sorting with copying: the copies are from pinned
  /// memory and need no host thread. The reported work is the part after the last copy has arrived.
  measured in_parts() {
    constexpr std::size_t parts = 4;
    const std::size_t part = n_ / parts;  // n is a power of two
    const device_buffer<Key> merged(n_, nullptr);
    std::size_t merge_bytes = 0;
    const auto merge = [&](void* scratch, const Key* from, std::size_t each, Key* to) {
      check(cub::DeviceMerge::MergeKeys(scratch, merge_bytes, from, static_cast<int>(each),
                                        from + each, static_cast<int>(each), to, ascending{},
                                        nullptr),
            "merging");
    };
    merge(nullptr, device_.data(), n_ / 2, merged.data());
    const device_buffer<std::byte> merge_scratch(merge_bytes, nullptr);
    const host_stream copies;
    std::array<host_event, parts> arrived;

    Key* const keys = device_.data();
    std::memset(pinned_output_.data(), 0xff, bytes());
    return measure(
        pinned_output_.data(), [] {},
        [&]() -> run_times {
          host_event begun, all_arrived, sorted, copied;
          begun.record();
          const auto host_begin = std::chrono::steady_clock::now();
          for (std::size_t i = 0; i < parts; ++i) {
            check(cudaMemcpyAsync(keys + i * part, pinned_input_.data() + i * part,
                                  part * sizeof(Key), cudaMemcpyHostToDevice, copies.get()),
                  "copying a part");
            arrived[i].record(copies.get());
          }
          double in_ms = 0;
          for (std::size_t i = 0; i < parts; ++i) {
            arrived[i].synchronize();
            if (i == parts - 1) {
              in_ms = ms_since(host_begin);
              all_arrived.record();
            }
            (void)quicksort(keys + i * part, part, ascending{}, {.memory = scratch_});
            if (i % 2 == 0) continue;
            merge(merge_scratch.data(), keys + (i - 1) * part, part,
                  merged.data() + (i - 1) * part);
          }
          merge(merge_scratch.data(), merged.data(), n_ / 2, keys);
          sorted.record();
          check(cudaMemcpyAsync(pinned_output_.data(), keys, bytes(), cudaMemcpyDeviceToHost,
                                nullptr),
                "copying back");
          copied.record();
          const double out_ms = copied.milliseconds_since(sorted);
          return {in_ms, sorted.milliseconds_since(all_arrived), out_ms};
        });
  }
#endif

  /// Measures the facade, which sorts `keys` in place.
  measured facade(Key* keys) {
    return measure(
        keys, [&] { std::ranges::copy(input_, keys); },
        [&] {
          const quicksort_report report = ramify::quicksort(
              std::span(keys, n_), sort_order::ascending, {.backend = backend::cuda});
          return static_cast<const run_times&>(report);
        });
  }

  /// Checks the first result completely, and that later results are equal to it.
  void check_result(const Key* result) {
    const std::span<const Key> keys(result, n_);
    if (sorted_.empty()) {
      const std::span<const Key> input(input_);
      if (!std::ranges::is_sorted(keys) || fingerprint(keys) != fingerprint(input)) {
        throw std::runtime_error("wrong result at n = " + std::to_string(n_));
      }
      sorted_.assign(keys.begin(), keys.end());
    } else if (std::memcmp(result, sorted_.data(), bytes()) != 0) {
      throw std::runtime_error("another result at n = " + std::to_string(n_));
    }
  }

  void measure_std_sort() {
    std::vector<Key> keys = input_;
    const auto begin = std::chrono::steady_clock::now();
    std::ranges::sort(keys);
    const double ms = ms_since(begin);
    check_result(keys.data());
    recorder_.row({name(), n_, "std::sort, one core, once", ms, {}, {}, {}, {}, {}, {}});
  }

  void row(const std::string& how, const measured& m, const measured& plain) const {
    const auto speed = [&](double ms) { return double(bytes()) / ms / 1e6; };
    recorder_.row({name(), n_, how, m.total, m.parts.copy_in_ms, speed(m.parts.copy_in_ms),
                   m.parts.work_ms, m.parts.copy_out_ms, speed(m.parts.copy_out_ms),
                   plain.total.median_ms / m.total.median_ms});
  }

  static std::string name() { return std::is_floating_point_v<Key> ? "f64" : "u32"; }

  benchmark::recorder& recorder_;
  std::size_t n_;
  int repeats_;
  std::vector<Key> input_, output_, sorted_;
  pinned_buffer<Key> pinned_input_, pinned_output_;
  device_buffer<Key> device_;
  device_buffer<std::byte> scratch_;
};

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  std::vector<unsigned> exponents;
  for (const std::string& word : asked.words) exponents.push_back(unsigned(std::stoul(word)));
  if (exponents.empty()) exponents = {20, 24, 28};
  if (*std::ranges::min_element(exponents) < 2 || *std::ranges::max_element(exponents) > 30) {
    throw std::invalid_argument("log2 of a number of keys must be in [2, 30]");
  }
  out.table("spans",
            {"keys", "n", "how", "ms", "in, ms", "in, GB/s", "sort, ms", "out, ms", "out, GB/s",
             "speed / cudaMemcpy"},
            std::to_string(std::thread::hardware_concurrency()) +
                " cores; uniform keys, medians of 7, from 2^28 on of 3 (least–most)");
  for (const unsigned exponent : exponents) {
    bench<std::uint32_t>(out, std::size_t{1} << exponent).measure_all();
    bench<double>(out, std::size_t{1} << exponent).measure_all();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "host_spans_cuda",
                         .about = "Sorts of host memory on a GPU.",
                         .machine = benchmark::this_gpu,
                         .words = "log2 of numbers of keys; default: 20 24 28"},
                        argc, argv, measure_all);
}
