// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A table of _async calls whose results are in device memory, with inputs that need many grids.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/environment.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "any_run.cuh"
#include "device_vectors.cuh"
#include "effort.hpp"

namespace stream_completion {

using namespace ramify;
using tests::any_run;
using tests::any_run_of;

using word = std::uint32_t;
using word_array = device_buffer<word>;

struct plus {
  __host__ __device__ word operator()(word a, word b) const { return a + b; }
};

/// Returns the elements of an array of words as a type of the same size, or of twice the size.
template <class T>
[[nodiscard]] T* elements(const word_array& array) {
  return reinterpret_cast<T*>(array.data());
}

/// Returns an array for `n` results of type T.
template <class T>
[[nodiscard]] word_array results_of(std::size_t n) {
  static_assert(sizeof(T) % sizeof(word) == 0);
  return {n * sizeof(T) / sizeof(word), nullptr};
}

/// Returns a copy of `values` in device memory. Waits for it.
[[nodiscard]] word_array upload_words(const auto& values) {
  const std::size_t bytes = std::span(values).size_bytes();
  word_array array(bytes / sizeof(word), nullptr);
  check(cudaMemcpy(array.data(), values.data(), bytes, cudaMemcpyHostToDevice), "uploading");
  return array;
}

/// An array that a call reads, and its contents before each of two calls.
struct input_array {
  input_array(const auto& first, const auto& second)
      : contents{upload_words(first), upload_words(second)}, data(contents[0].size(), nullptr) {}
  explicit input_array(const auto& always) : input_array(always, always) {}

  std::array<word_array, 2> contents;
  word_array data;
};

/// Returns a vector of arrays, which cannot be copied.
template <class Array>
std::vector<Array> list_of(Array first, auto... others) {
  std::vector<Array> all;
  all.push_back(std::move(first));
  (all.push_back(std::move(others)), ...);
  return all;
}

/// An _async call with arrays in device memory.
struct stream_call {
  std::string name;
  std::vector<input_array> inputs;
  std::vector<word_array> results;  ///< empty for a sort, whose results are in its inputs
  std::size_t scratch_bytes;        ///< of handed-in memory
  std::function<any_run(const stream_call&, const environment&)> start;
  /// The results are numbers of type float that may differ by this fraction; 0: they are equal.
  double tolerance = 0;
  bool requires_memory = false;  ///< the results are in memory that must be handed in
  /// Whether one grid does all the work, so that it is always complete in the stream.
  bool has_one_grid = false;
  /// Whether the host launches all grids of so small an input, so that the call is complete in the
  /// stream also if kernels find no launch slots.
  bool needs_no_slots = false;
  /// Whether the call is complete in the stream without a graph's loop, on every backend.
  bool needs_no_loop = false;

  [[nodiscard]] std::vector<const word_array*> outputs() const {
    std::vector<const word_array*> all;
    for (const word_array& each : results) all.push_back(&each);
    if (all.empty()) {
      for (const input_array& each : inputs) all.push_back(&each.data);
    }
    return all;
  }
};

/// A call whose get() throws.
struct faulty_call {
  stream_call call;
  std::string message;  ///< a part of the message of the exception
};

/// Returns `full` on a GPU, and `sample` on the CPU executor unless all cases are requested.
[[nodiscard]] inline std::size_t sized(int full, int sample) {
  return static_cast<std::size_t>(tests::sampled(full, sample));
}

/// The slow kernel takes longer than the host needs for a call. On the CPU executor launches wait.
constexpr unsigned long long slow = RAMIFY_ON_CUDA ? 2'000'000 : 0;

/// The end of a slow kernel, in pinned memory.
struct slow_kernel_flags {
  volatile int may_end;
  volatile int has_ended;
};

/// Launches a kernel of one thread that returns after `nanoseconds`, or, if `flags` is not null, as
/// soon as flags->may_end is not 0.
void launch_slow_kernel(cudaStream_t stream, unsigned long long nanoseconds = slow,
                        slow_kernel_flags* flags = nullptr);

void add_sorts(std::vector<stream_call>& all);
void add_traversals(std::vector<stream_call>& all);
void add_trees(std::vector<stream_call>& all);
void add_graphs(std::vector<stream_call>& all);
void add_clouds(std::vector<stream_call>& all);
void add_bodies(std::vector<stream_call>& all);
void add_images(std::vector<stream_call>& all);

void add_faulty_traversals(std::vector<faulty_call>& all);
void add_faulty_graphs(std::vector<faulty_call>& all);
void add_faulty_clouds(std::vector<faulty_call>& all);

}  // namespace stream_completion
