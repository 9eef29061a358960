// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Numbers of elements in device memory, for tests of calls that take a device_count.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/device_count.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"

namespace tests::inline RAMIFY_BUILD {

/// An integer in device memory, which the host writes.
template <class Integer = std::int32_t>
class device_number {
 public:
  explicit device_number(Integer n = 0) { write(n); }

  /// Writes the integer. Waits for the NULL stream.
  void write(Integer n) const {
    ramify::check(cudaMemcpyAsync(memory_.data(), &n, sizeof n, cudaMemcpyHostToDevice, nullptr),
                  "writing a number");
    ramify::check(cudaStreamSynchronize(nullptr), "writing a number");
  }
  [[nodiscard]] ramify::device_count up_to(std::size_t upper_bound) const {
    return {memory_.data(), upper_bound};
  }

 private:
  ramify::device_buffer<Integer> memory_{1, nullptr};
};

/// Ten numbers of elements: 0, 1, the upper bound, and others.
inline std::vector<std::size_t> ten_counts(std::size_t upper_bound) {
  const std::size_t n = upper_bound;
  return {n, 0, n / 2, 1, n - 1, 2, n / 3, n / 100, n / 2 + 1, n};
}

/// Calls check(n, run) for each number n, after prepare(n), with a run that start(stream) returned
/// and that has processed n elements. On a GPU, one graph captures the call, and is launched for
/// each number. The CPU executor has no graphs: the host makes the call for each number.
template <class Integer, class Prepare, class Start, class Check>
void replay(const device_number<Integer>& number, const std::vector<std::size_t>& counts,
            const Prepare& prepare, const Start& start, const Check& check) {
  const ramify::host_stream stream;
  const auto set = [&](std::size_t n) {
    prepare(n);
    number.write(static_cast<Integer>(n));
  };
#if RAMIFY_ON_CUDA
  set(counts.front());
  ramify::check(cudaDeviceSynchronize(), "waiting for the input");
  std::optional<decltype(start(stream.get()))> run;
  const ramify::captured_graph graph(stream.get(), [&] { run = start(stream.get()); });
#endif
  for (const std::size_t n : counts) {
    BOOST_TEST_CONTEXT(n << " elements") {
      set(n);
#if RAMIFY_ON_CUDA
      graph.launch(stream.get());
      check(n, *run);
#else
      auto run = start(stream.get());
      check(n, run);
#endif
    }
  }
}

/// Checks that `call(device_count)` throws std::length_error for numbers above their upper bound,
/// of each type. The message must have `name`, the number and the bound.
template <class Call>
void check_exceeding_counts(std::size_t upper_bound, const std::string& name, const Call& call) {
  const auto check = [&]<class Integer>(Integer n) {
    const device_number<Integer> number(n);
    const std::string message = name + ": the number of elements in device memory is " +
                                std::to_string(n) + "; its upper bound is " +
                                std::to_string(upper_bound);
    BOOST_TEST_CONTEXT(message) {
      BOOST_CHECK_EXCEPTION(call(number.up_to(upper_bound)), std::length_error, names(message));
    }
  };
  check(static_cast<std::int32_t>(upper_bound + 1));
  check(static_cast<std::uint64_t>(upper_bound + 1));
  check(std::int32_t{-1});
  check(std::int64_t{-1});
  check(std::uint32_t{0xffffffff});
  check(~std::uint64_t{0});
  check(std::uint64_t{1} << 32);
}

}  // namespace tests::inline RAMIFY_BUILD
