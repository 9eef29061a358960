// SPDX-License-Identifier: BSD-3-Clause
// Copies to the device and back, staged in chunks or direct.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/stream.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "exceptions.hpp"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

namespace {

using bytes = std::vector<unsigned char>;

__global__ void add_one(unsigned char* data, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < n; i += std::size_t{gridDim.x} * blockDim.x) ++data[i];
}

/// Copies bytes to the device, changes them in a kernel, and copies them back. Returns what is
/// wrong with them, or an empty string. The arrays are longer than the copy, which must not change
/// the other bytes of `target`.
template <class Upload, class Download>
std::string there_and_back(std::span<unsigned char> source, std::span<unsigned char> target,
                           std::size_t n, bool corrupt, Upload upload, Download download) {
  constexpr std::size_t before_source = 1;
  constexpr std::size_t before_target = 3;
  constexpr unsigned char guard = 0xa5;
  const auto value = [](std::size_t i) { return static_cast<unsigned char>(i * 31 + i / 251); };
  std::ranges::fill(target, guard);
  for (std::size_t i = 0; i < n; ++i) source[before_source + i] = value(i);
  const host_stream stream;
  const device_buffer<unsigned char> device(n, stream.get());
  upload(device.data(), source.data() + before_source, n, stream.get());
  if (n > 0) {
    check(launch(add_one, {4, 64}, stream.get(), device.data(), n).code(), "adding");
    if (corrupt) {
      check(launch(add_one, {1, 1}, stream.get(), device.data() + n / 2, std::size_t{1}).code(),
            "corrupting a byte");
    }
  }
  download(target.data() + before_target, device.data(), n, stream.get());
  stream.synchronize();
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool is_copied = i >= before_target && i < before_target + n;
    const auto copy = static_cast<unsigned char>(value(i - before_target) + 1);
    if (target[i] != (is_copied ? copy : guard)) {
      return "byte " + std::to_string(i) + " of " + std::to_string(n) + " is wrong";
    }
  }
  return {};
}

std::string staged(staging& chunks, std::size_t n, bool corrupt = false) {
  bytes source(n + 8);
  bytes target(n + 8);
  return there_and_back(
      source, target, n, corrupt,
      [&](auto... arguments) {
        chunks.upload(arguments...);
        std::ranges::fill(source, 0);  // upload() has read it
      },
      [&](auto... arguments) { chunks.download(arguments...); });
}

std::string staged_copies() {
  constexpr std::size_t chunk = 1000;
  for (const unsigned threads : {1u, 2u, 5u}) {
    staging chunks({.chunk_bytes = chunk, .threads = threads});
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, chunk + 1,
                                2 * chunk, 7 * chunk + 5, 100 * chunk + 3}) {
      const std::string fault = staged(chunks, n);
      if (!fault.empty()) return std::to_string(threads) + " threads: " + fault;
    }
  }
#if RAMIFY_ON_CUDA
  // A failed copy throws, and the chunks can be used again.
  staging chunks({.chunk_bytes = chunk, .threads = 3});
  const bytes source(50 * chunk);
  try {
    chunks.upload(nullptr, source.data(), source.size(), nullptr);
    return "a copy to a null pointer did not fail";
  } catch (const cuda_error&) {
  }
  return staged(chunks, 50 * chunk);
#else
  return {};
#endif
}

std::string staged_copies_of_two_threads() {
  constexpr std::size_t n = 20'000;
  staging chunks({.chunk_bytes = 1000, .threads = 2});
  std::array<bytes, 2> sources{bytes(n, 1), bytes(n, 2)};
  std::array<bytes, 2> targets;
  const auto copy = [&](std::size_t which) {
    const host_stream stream;
    const device_buffer<unsigned char> device(n, stream.get());
    for (int i = 0; i < 5; ++i) {
      targets[which].assign(n, 0);
      chunks.upload(device.data(), sources[which].data(), n, stream.get());
      chunks.download(targets[which].data(), device.data(), n, stream.get());
    }
  };
  std::thread other(copy, 1);
  copy(0);
  other.join();
  return targets == sources ? "" : "the copies of two threads are mixed up";
}

/// Copies pageable and pinned memory, of sizes below and above the smallest staged copy.
std::string copies_of_any_memory() {
  const auto to_device = [](auto... arguments) { copy_to_device(arguments...); };
  const auto to_host = [](auto... arguments) { copy_to_host(arguments...); };
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, min_staged_bytes - 1,
                              min_staged_bytes, min_staged_bytes + 1}) {
    bytes source(n + 8);
    bytes target(n + 8);
    std::string fault = there_and_back(source, target, n, false, to_device, to_host);
    if (!fault.empty()) return "pageable memory: " + fault;
    const pinned_buffer<unsigned char> pinned_source(n + 8);
    const pinned_buffer<unsigned char> pinned_target(n + 8);
    fault = there_and_back({pinned_source.data(), n + 8}, {pinned_target.data(), n + 8}, n, false,
                           to_device, to_host);
    if (!fault.empty()) return "pinned memory: " + fault;
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_AUTO_TEST_CASE(staged_copies_are_complete_and_in_order) {
  BOOST_TEST(staged_copies() == "");
  BOOST_TEST(staged_copies_of_two_threads() == "");
}

// The negative control: the check finds one wrong byte.
BOOST_AUTO_TEST_CASE(a_corrupted_byte_is_found) {
  staging chunks({.chunk_bytes = 1000, .threads = 2});
  BOOST_TEST(staged(chunks, 10'000, true) == "byte 5003 of 10000 is wrong");
}

BOOST_AUTO_TEST_CASE(any_memory_is_copied) { BOOST_TEST(copies_of_any_memory() == ""); }

BOOST_AUTO_TEST_CASE(staging_requires_chunks_and_threads) {
  BOOST_CHECK_EXCEPTION(staging({.chunk_bytes = 0}), std::invalid_argument, names("chunk_bytes"));
  BOOST_CHECK_EXCEPTION(staging({.threads = 0}), std::invalid_argument, names("threads"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
