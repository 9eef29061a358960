// SPDX-License-Identifier: BSD-3-Clause
// seen_memory: the host waits for the grids before a copy, and reads the bytes that they wrote.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/borrowed.cuh>
#include <ramify/runtime/detail/seen_memory.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <vector>

#include "backend_under_test.hpp"
#include "chain_fixture.cuh"
#include "device_vectors.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace {

using ramify::detail::runtime::seen_memory;

constexpr unsigned word_count = seen_memory::max_bytes / sizeof(unsigned);

/// Writes `first`, `first` + 1, ... as soon as *may_begin is not 0. Launched with one block.
__global__ void write_words(unsigned* to, unsigned first, const unsigned* may_begin) {
  while (*static_cast<const volatile unsigned*>(may_begin) == 0) {
  }
  for (unsigned i = threadIdx.x; i < word_count; i += blockDim.x) to[i] = first + i;
}

/// Arrays for write_words() in a stream.
struct words_in_stream {
  ramify::host_stream stream;
  ramify::device_buffer<unsigned> words{word_count, stream.get()};
  ramify::pinned_buffer<unsigned> may_begin{1};

  /// Launches write_words(). On the CPU executor the grid must not wait.
  void launch(unsigned first, bool waits) {
    may_begin[0] = waits && RAMIFY_ON_CUDA ? 0 : 1;
    ramify::check(ramify::launch(write_words, {1, 64}, stream.get(), words.data(), first,
                                 static_cast<const unsigned*>(may_begin.data()))
                      .code(),
                  "launching write_words");
  }
  /// Lets the grid begin.
  void begin() { *static_cast<volatile unsigned*>(may_begin.data()) = 1; }
};

unsigned first_word(const seen_memory& seen) {
  unsigned word = 0;
  std::memcpy(&word, seen.data(), sizeof word);
  return word;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(copies_of_states)

BOOST_AUTO_TEST_CASE(a_wait_ends_after_the_grids_before_the_copy) {
  words_in_stream source;
  seen_memory seen;
  unsigned first = 0;
  for (int round = 0; round < 20; ++round) {
    for (const std::size_t bytes : {seen_memory::max_bytes, std::size_t{4}, std::size_t{96}}) {
      first += 1000;
      source.launch(first, true);
      seen.copy(source.words.data(), bytes, source.stream.get());
      // Negative control: there is no copy before the grid has run.
      if (RAMIFY_ON_CUDA) BOOST_REQUIRE_NE(first_word(seen), first);
      source.begin();
      seen.wait(source.stream.get());
      std::vector<unsigned> words(bytes / sizeof(unsigned));
      std::memcpy(words.data(), seen.data(), bytes);
      for (unsigned i = 0; i < words.size(); ++i) BOOST_REQUIRE_EQUAL(words[i], first + i);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_copy_from_a_complete_stream) {
  words_in_stream source;
  seen_memory seen;
  for (const unsigned first : {7u, 3000u}) {
    source.launch(first, false);
    source.stream.synchronize();
    seen.copy(source.words.data(), seen_memory::max_bytes, source.stream.get());
    seen.wait(source.stream.get());
    BOOST_TEST(first_word(seen) == first);
  }
  BOOST_CHECK_THROW(seen.copy(source.words.data(), 6, source.stream.get()), std::logic_error);
  BOOST_CHECK_THROW(seen.copy(source.words.data(), seen_memory::max_bytes + 4, source.stream.get()),
                    std::logic_error);
}

// The second copy of a run enters the stream while the first one is in flight; the wait is for the
// second one.
BOOST_AUTO_TEST_CASE(a_wait_is_for_the_last_copy) {
  words_in_stream source;
  words_in_stream other;
  seen_memory seen;
  for (unsigned first = 1000; first < 20'000; first += 1000) {
    other.launch(first + 1, false);
    other.stream.synchronize();
    source.launch(first, true);
    seen.copy(source.words.data(), 4, source.stream.get());
    seen.copy(other.words.data(), 4, source.stream.get());
    source.begin();
    seen.wait(source.stream.get());
    BOOST_REQUIRE_EQUAL(first_word(seen), first + 1);
  }
}

// A run that ends with a copy in flight waits for it, so that the next run may use the memory.
BOOST_AUTO_TEST_CASE(a_run_that_is_destroyed_with_a_copy_in_flight) {
  words_in_stream source;
  const auto status = zeros<std::byte>(ramify::run_control::scratch_bytes);
  std::optional<ramify::run_control> control(std::in_place, status.data(),
                                             chains::choices_of({}, source.stream.get()));
  source.launch(1, false);
  control->read_ahead();
  control.reset();
  BOOST_TEST((cudaStreamQuery(source.stream.get()) == cudaSuccess));
  ramify::run_control next(status.data(), chains::choices_of({}, source.stream.get()));
  BOOST_TEST(next.wait().rounds == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
