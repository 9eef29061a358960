// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Many sorts of ranges of one array, which the threads of a kernel call, and their check.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/call_arena.cuh>
#include <random>
#include <vector>

#include "backend_under_test.hpp"
#include "call_statuses.cuh"
#include "device_vectors.cuh"
#include "effort.hpp"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace calls {

using key = std::uint32_t;
using sorts = ramify::quicksort_calls<key>;
using sort_environment = ramify::kernel_environment<sorts>;

/// How the kernel calls.
struct call_mode {
  bool continues = true;
  bool refuses = false;
};

/// What happened to a call, in device memory.
struct call_log {
  unsigned status;  ///< call_status + 1
  unsigned runs;    ///< of the continuation
  unsigned faults;  ///< keys that the continuation has found in the wrong order
};

/// Checks a range. The continuation of a call, with any number of threads.
template <class Key>
__global__ void check_range(const Key* keys, std::size_t n, call_log* log) {
  unsigned faults = 0;
  for (std::size_t i = 1 + threadIdx.x; i < n; i += blockDim.x) {
    if (keys[i] < keys[i - 1]) ++faults;
  }
  if (faults != 0) atomicAdd(&log->faults, faults);
  if (threadIdx.x == 0) atomicAdd(&log->runs, 1u);
}

/// Calls a sort for each range [begins[i], begins[i + 1]); a thread calls every so many.
template <class Environment>
__global__ void call_sorts(key* keys, const std::size_t* begins, unsigned count, call_log* logs,
                           call_mode mode, Environment calls) {
  const ramify::traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    key* const first = keys + begins[i];
    const std::size_t n = begins[i + 1] - begins[i];
    const auto call = [&](const auto& how) {
      return ramify::quicksort(first, n, ramify::ascending{}, how);
    };
    const auto how = mode.refuses ? calls.or_refuse() : calls;
    const ramify::call_status status =
        mode.continues ? call(how.then(check_range<key>, {1, 32}, first, n, &logs[i])) : call(how);
    logs[i].status = static_cast<unsigned>(status) + 1;
  }
}

/// Lengths at the boundaries of the kinds of calls, and random ones.
inline std::vector<std::size_t> mixed_lengths(unsigned count, std::size_t longest,
                                              std::uint64_t seed) {
  using call = ramify::detail::quicksort::sort_call<key, ramify::no_value, ramify::ascending>;
  const std::size_t leaf = call::leaf_sorter::capacity;
  const std::size_t long_leaf = call::long_leaf_sorter::capacity;
  const std::size_t small_root = call::tuning::small_root_size;
  std::vector<std::size_t> lengths{0,
                                   1,
                                   2,
                                   leaf - 1,
                                   leaf,
                                   leaf + 1,
                                   long_leaf - 1,
                                   long_leaf,
                                   long_leaf + 1,
                                   small_root + 1,
                                   longest};
  std::mt19937_64 random(seed);
  std::shuffle(lengths.begin(), lengths.end(), random);
  while (lengths.size() < count) {
    lengths.push_back(random() % (random() % 20 == 0 ? longest : leaf / 2));
  }
  lengths.resize(count);
  // On a GPU some of the boundaries are beyond a small plan.
  for (std::size_t& n : lengths) n = std::min(n, longest);
  return lengths;
}

/// The ranges of called sorts, in device memory.
class called_sorts {
 public:
  called_sorts(const std::vector<std::size_t>& lengths, std::uint64_t seed)
      : begins_{0}, longest_(*std::ranges::max_element(lengths)) {
    for (const std::size_t n : lengths) begins_.push_back(begins_.back() + n);
    std::mt19937 random(static_cast<unsigned>(seed));
    input_.resize(begins_.back() + 1);
    for (key& k : input_) k = static_cast<key>(random() % (seed % 3 == 0 ? 7 : ~0u));
    keys = upload(input_);
    device_begins_ = upload(begins_);
    logs = zeros<call_log>(lengths.size());
  }

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(begins_.size()) - 1; }
  [[nodiscard]] std::size_t longest() const { return longest_; }

  /// Launches a kernel whose threads call.
  template <class Environment>
  void call(const Environment& environment, const call_mode& mode = {}, unsigned blocks = 4,
            cudaStream_t stream = nullptr) const {
    check(launch(call_sorts<Environment>, {blocks, 32}, stream, keys.data(), device_begins_.data(),
                 count(), logs.data(), mode, environment)
              .code(),
          "launching the kernel that calls");
  }

  /// Puts the input into the arrays again, in the order of the stream.
  void reset(std::uint64_t seed, cudaStream_t stream) {
    std::mt19937 random(static_cast<unsigned>(seed));
    for (key& k : input_) k = static_cast<key>(random());
    check(cudaMemcpyAsync(keys.data(), input_.data(), input_.size() * sizeof(key),
                          cudaMemcpyHostToDevice, stream),
          "copying the input");
    check(cudaMemsetAsync(logs.data(), 0, logs.size() * sizeof(call_log), stream), "clearing");
    check(cudaStreamSynchronize(stream), "copying the input");
  }

  /// Returns how many calls have each status, after a check that all other calls were done once:
  /// their ranges are sorted, and the continuation has seen that.
  std::vector<unsigned> check_all(const call_mode& mode = {}) const {
    const std::vector<key> output = download(keys);
    const std::vector<call_log> log = download(logs);
    std::vector<unsigned> statuses(3);
    unsigned wrong = 0;
    for (unsigned i = 0; i < count(); ++i) {
      const bool refused = count_status(log[i], statuses);
      std::vector<key> expected(input_.begin() + std::ptrdiff_t(begins_[i]),
                                input_.begin() + std::ptrdiff_t(begins_[i + 1]));
      if (!refused) std::ranges::sort(expected);
      const bool right =
          std::equal(expected.begin(), expected.end(), output.begin() + std::ptrdiff_t(begins_[i]));
      const unsigned runs = mode.continues && !refused ? 1 : 0;
      if (!right || log[i].runs != runs || log[i].faults != 0) ++wrong;
    }
    BOOST_TEST(wrong == 0u);
    return statuses;
  }

  device_buffer<key> keys;
  device_buffer<call_log> logs;

 private:
  std::vector<std::size_t> begins_;
  std::size_t longest_;
  std::vector<key> input_;
  device_buffer<std::size_t> device_begins_;
};

/// Calls all sorts, completes and checks them. Returns the report, whose counts it compares with
/// the statuses that the callers have read.
template <class Arena>
ramify::call_report expect_called_sorts(const called_sorts& calls, Arena& arena,
                                        const call_mode& mode = {}, unsigned blocks = 4) {
  calls.call(arena.environment(), mode, blocks);
  arena.complete_async();
  const std::vector<unsigned> statuses = calls.check_all(mode);
  return expect_report(arena, statuses);
}

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
