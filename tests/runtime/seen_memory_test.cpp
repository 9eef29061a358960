// SPDX-License-Identifier: BSD-3-Clause
// seen_memory: the host waits for the grids before a copy, and sees the bytes that they wrote.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/seen_memory.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

#include "backend_under_test.hpp"

namespace tests::inline RAMIFY_BUILD {
namespace {

using ramify::detail::runtime::seen_memory;

constexpr unsigned word_count = seen_memory::max_bytes / sizeof(unsigned);

/// Writes `first`, `first` + 1, ... after `nanoseconds`. Launched with one block.
__global__ void write_slowly(unsigned* to, unsigned first, unsigned long long nanoseconds) {
  const unsigned long long begin = ramify::detail::device_time();
  while (nanoseconds > 0 && ramify::detail::device_time() - begin < nanoseconds) {
  }
  for (unsigned i = threadIdx.x; i < word_count; i += blockDim.x) to[i] = first + i;
}

[[maybe_unused]] unsigned first_word(const seen_memory& seen) {
  unsigned word = 0;
  std::memcpy(&word, seen.data(), sizeof word);
  return word;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_that_the_host_sees)

// A short wait polls, and a long one continues as a wait for the stream.
BOOST_AUTO_TEST_CASE(a_wait_ends_after_the_grids_before_the_copy) {
  const ramify::host_stream stream;
  const ramify::device_buffer<unsigned> memory(word_count, stream.get());
  seen_memory seen;
  unsigned first = 0;
  for (const unsigned long long nanoseconds : {0ull, 100'000ull, 20'000'000ull, 0ull}) {
    for (const std::size_t bytes : {seen_memory::max_bytes, std::size_t{4}, std::size_t{96}}) {
      first += 1000;
      ramify::check(
          ramify::launch(write_slowly, {1, 64}, stream.get(), memory.data(), first, nanoseconds)
              .code(),
          "launching write_slowly");
      seen.copy(memory.data(), bytes, stream.get());
#if RAMIFY_ON_CUDA
      if (nanoseconds > 10'000'000) BOOST_TEST(first_word(seen) != first);  // without a wait
#endif
      seen.wait(stream.get());
      std::vector<unsigned> words(bytes / sizeof(unsigned));
      std::memcpy(words.data(), seen.data(), bytes);
      for (unsigned i = 0; i < words.size(); ++i) BOOST_REQUIRE_EQUAL(words[i], first + i);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
