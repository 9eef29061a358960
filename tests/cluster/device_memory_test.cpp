// SPDX-License-Identifier: BSD-3-Clause
// A communicator and device memory, and the header template of the distributed sort. The source is
// compiled for each backend.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort.cuh>
#include <ramify/distributed_sort/run_merger.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <stdexcept>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "key_types.hpp"
#include "quicksort/distributions.hpp"
#include "sort_oracle.hpp"
#include "sort_parts.hpp"

namespace device_memory {

using ramify::communicator;
using ramify::reduction;
using tests::download;
using tests::own_part;
using tests::placement;
using tests::upload;

/// Writes begin, begin + 1, ... after some time.
__global__ void count_slowly(std::uint32_t* numbers, std::size_t n, std::uint32_t begin,
                             unsigned delay) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile unsigned waited = 0;
  while (waited < delay) waited = waited + 1;
  numbers[i] = begin + static_cast<std::uint32_t>(i);
}

void launch_count(std::uint32_t* numbers, std::size_t n, int begin, cudaStream_t stream) {
  constexpr unsigned delay = RAMIFY_ON_CUDA ? 1'000'000 : 10;
  ramify::detail::runtime::launch_each(count_slowly, n, stream, "counting", numbers, n,
                                       static_cast<std::uint32_t>(begin), delay);
}

const ramify::cluster_options here{.backend = RAMIFY_ON_CUDA ? ramify::backend::cuda
                                                             : ramify::backend::cpu};

/// Returns the parts of all ranks, in their order.
template <class T>
std::vector<T> gather_parts(communicator& comm, const ramify::device_buffer<T>& mine) {
  const std::vector<std::uint64_t> counts = comm.all_gather(std::uint64_t{mine.size()});
  const ramify::device_buffer<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}),
                                     nullptr);
  comm.all_gather_v(mine.data(), counts, all.data());
  return download(all);
}

/// A key of more than 64 bytes, whose order a user wrote.
struct long_key {
  std::uint32_t number;
  char rest[96];
  bool operator==(const long_key& other) const { return number == other.number; }
};
struct by_number {
  __host__ __device__ bool operator()(const long_key& a, const long_key& b) const {
    return a.number < b.number;
  }
};
/// No strict weak order.
struct by_parity {
  __host__ __device__ bool operator()(const long_key& a, const long_key& b) const {
    return a.number % 2 == 0 ? a.number <= b.number : a.number < b.number / 2;
  }
};

std::uint32_t number_of(std::uint32_t key) { return key; }
std::uint32_t number_of(const long_key& key) { return key.number; }

/// Merges sorted runs of these sizes, one after another in an array, whose values are their places.
/// Returns whether merge() found the comparator consistent. Checks that no element is lost and, if
/// it did, that the result is sorted.
template <class Key, class Compare>
bool merge_runs_of(const std::vector<std::size_t>& sizes, Compare compare) {
  namespace family = ramify::detail::distributed_sort;
  using order = ramify::detail::quicksort::sort_order<Key, Compare>;
  using merger = family::run_merger<Key, std::uint32_t, order>;
  std::vector<Key> keys;
  for (const std::size_t size : sizes) {
    for (std::size_t i = 0; i < size; ++i) {
      Key key{};
      reinterpret_cast<std::uint32_t&>(key) = static_cast<std::uint32_t>(7 * i + size);
      keys.push_back(key);
    }
  }
  family::rank_elements<Key, std::uint32_t> spare{
      upload(keys), upload(tests::count_up<std::uint32_t>(keys.size()))};
  auto into = family::rank_elements<Key, std::uint32_t>::make(keys.size(), nullptr);
  std::vector<typename merger::run> runs;
  for (std::size_t begin = 0; const std::size_t size : sizes) {
    runs.push_back({spare.arrays_from(begin), size});
    begin += size;
  }
  merger merges(order{compare}, keys.size(), nullptr);
  const bool is_consistent = merges.merge(runs, into, spare, {});
  const std::vector<Key> merged = download(into.keys);
  const std::vector<std::uint32_t> values = download(into.values);
  std::vector<bool> found(keys.size(), false);
  bool keeps_values = true;
  bool is_sorted = true;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    keeps_values = keeps_values && !found[values[i]] && merged[i] == keys[values[i]];
    found[values[i]] = true;
    is_sorted = is_sorted && (i == 0 || number_of(merged[i - 1]) <= number_of(merged[i]));
  }
  BOOST_TEST(merged.size() == keys.size());
  BOOST_TEST(keeps_values);
  if (is_consistent) BOOST_TEST(is_sorted);
  return is_consistent;
}

}  // namespace device_memory

using namespace device_memory;

BOOST_AUTO_TEST_CASE(runs_are_merged_in_passes) {
  const std::size_t tile = ramify::detail::distributed_sort::merge_tile<std::uint32_t>::size;
  for (const std::vector<std::size_t>& sizes :
       std::vector<std::vector<std::size_t>>{{},
                                             {0, 0},
                                             {5},
                                             {0, tile + 1, 0},
                                             {tile - 1, 1},
                                             {tile, tile},
                                             {3 * tile + 7, 2, tile},
                                             {1, 0, 2 * tile, 3, tile + 1, 40},
                                             {9, 8, 7, 6, 5, 4, 3, 2, 1}}) {
    BOOST_TEST_CONTEXT(sizes.size() << " runs") {
      BOOST_TEST(merge_runs_of<std::uint32_t>(sizes, ramify::ascending{}));
      BOOST_TEST(merge_runs_of<long_key>(sizes, by_number{}));
    }
  }
  // Negative control: the elements stay complete.
  BOOST_TEST(!merge_runs_of<long_key>({500, 700, 300}, by_parity{}));
}

BOOST_AUTO_TEST_CASE(calls_wait_for_the_work_in_their_stream) {
  communicator comm(here);
  const ramify::host_stream stream;
  constexpr std::size_t n = 1000;
  const auto ranks = static_cast<std::uint32_t>(comm.size());
  const ramify::device_buffer<std::uint32_t> numbers(n, stream.get());
  // 1. The sum over r of (10 r + i).
  launch_count(numbers.data(), n, 10 * comm.rank(), stream.get());
  comm.all_reduce(numbers.data(), n, reduction::sum, stream.get());
  std::vector<std::uint32_t> expected(n);
  for (std::uint32_t i = 0; i < n; ++i) expected[i] = ranks * i + 5 * ranks * (ranks - 1);
  BOOST_TEST(download(numbers) == expected, boost::test_tools::per_element());
  // 2. A broadcast from the last rank.
  launch_count(numbers.data(), n, comm.rank(), stream.get());
  comm.broadcast(numbers.data(), n, comm.size() - 1, stream.get());
  std::iota(expected.begin(), expected.end(), ranks - 1);
  BOOST_TEST(download(numbers) == expected, boost::test_tools::per_element());
  // 3. Equal shares of all ranks.
  launch_count(numbers.data(), n, 1000 * comm.rank(), stream.get());
  const ramify::device_buffer<std::uint32_t> all(n * ranks, stream.get());
  comm.all_gather(numbers.data(), n, all.data(), stream.get());
  BOOST_TEST(download(all) == tests::count_up<std::uint32_t>(n * ranks),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(device_memory_is_sent_to_all_ranks) {
  communicator comm(here);
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const auto me = static_cast<std::uint64_t>(comm.rank());
  // Rank a sends a + b numbers to rank b: those from 100 b on.
  std::vector<std::uint64_t> send_counts;
  std::vector<std::uint64_t> from;
  std::vector<std::uint64_t> expected;
  for (std::uint64_t r = 0; r < ranks; ++r) {
    send_counts.push_back(me + r);
    for (std::uint64_t i = 0; i < me + r; ++i) from.push_back(100 * r + i);
    for (std::uint64_t i = 0; i < me + r; ++i) expected.push_back(100 * me + i);
  }
  const std::vector<std::uint64_t> receive_counts = comm.all_to_all(send_counts);
  const auto device_from = upload(from);
  const ramify::device_buffer<std::uint64_t> to(expected.size(), nullptr);
  comm.all_to_all_v(device_from.data(), send_counts, to.data(), receive_counts);
  BOOST_TEST(download(to) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(exchanges_overlap_with_kernels) {
  communicator comm(here);
  const ramify::host_stream stream;
  constexpr std::size_t n = 5000;
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const ramify::device_buffer<std::uint32_t> from(n, stream.get());
  const ramify::device_buffer<std::uint32_t> to(n, stream.get());
  const ramify::device_buffer<std::uint32_t> other(n, stream.get());
  launch_count(from.data(), n, 10'000 * comm.rank(), stream.get());
  const std::vector<ramify::outgoing_message<std::uint32_t>> out{{next, from.data(), n}};
  const std::vector<ramify::incoming_message<std::uint32_t>> in{{previous, to.data(), n}};
  auto messages = comm.begin_exchange<std::uint32_t>(out, in, stream.get());
  launch_count(other.data(), n, 7, stream.get());
  messages.end();
  std::vector<std::uint32_t> expected(n);
  std::iota(expected.begin(), expected.end(), static_cast<std::uint32_t>(10'000 * previous));
  BOOST_TEST(download(to) == expected, boost::test_tools::per_element());
  comm.synchronize(stream.get());
  std::iota(expected.begin(), expected.end(), 7u);
  BOOST_TEST(download(other) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(calls_in_the_order_of_a_stream_see_each_other_s_results) {
  communicator comm(here);
  const ramify::host_stream stream;
  constexpr std::size_t n = 5000;
  const auto ranks = static_cast<std::uint32_t>(comm.size());
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const ramify::device_buffer<std::uint32_t> from(n, stream.get());
  const ramify::device_buffer<std::uint32_t> to(n, stream.get());
  const std::vector<ramify::outgoing_message<std::uint32_t>> out{{next, from.data(), n}};
  const std::vector<ramify::incoming_message<std::uint32_t>> in{{previous, to.data(), n}};
  for (std::uint32_t round = 0; round < 3; ++round) {
    launch_count(from.data(), n, static_cast<int>(10 * round) * comm.rank(), stream.get());
    auto messages = comm.begin_exchange<std::uint32_t>(out, in, stream.get());
    messages.end_in_stream(stream.get());
    comm.all_reduce_in_stream(to.data(), n, reduction::sum, stream.get());
    launch_count(from.data(), n, 0, stream.get());  // not before the messages are sent
  }
  comm.synchronize(stream.get());
  std::vector<std::uint32_t> expected(n);
  for (std::uint32_t i = 0; i < n; ++i) expected[i] = ranks * i + 10 * ranks * (ranks - 1);
  BOOST_TEST(download(to) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_exchange_ends_once) {
  communicator comm(here);
  auto messages = comm.begin_exchange<int>({}, {});
  messages.end_in_stream();
  BOOST_CHECK_THROW(messages.end(), std::logic_error);
  BOOST_CHECK_THROW(messages.end_in_stream(), std::logic_error);
}

BOOST_AUTO_TEST_CASE(an_exception_ends_work_in_the_order_of_a_stream) {
  // Without the check, operations that no other rank will join are in the stream.
  for (const int failing_round : {0, 2}) {
    communicator comm({.backend = here.backend, .check_calls = false});
    const ramify::host_stream stream;
    const int last = comm.size() - 1;
    const auto numbers = tests::zeros<double>(100'000);
    BOOST_CHECK_EXCEPTION(comm.run([&] {
      for (int round = 0; round < 4; ++round) {
        if (comm.rank() == last && round == failing_round) throw std::runtime_error("on one rank");
        comm.all_reduce_in_stream(numbers.data(), numbers.size(), reduction::sum, stream.get());
      }
      comm.synchronize(stream.get());
    }),
                          ramify::cluster_error, tests::names("on one rank"));
  }
}

BOOST_AUTO_TEST_CASE(an_exception_ends_calls_on_device_memory) {
  communicator comm(here);
  const int last = comm.size() - 1;
  const auto numbers = tests::zeros<double>(100'000);
  BOOST_CHECK_EXCEPTION(comm.run([&] {
    if (comm.rank() == last) throw std::runtime_error("on one rank");
    comm.all_reduce(numbers.data(), numbers.size(), reduction::sum);
  }),
                        ramify::cluster_error, tests::names("on one rank"));
  communicator again(here);  // the process can go on
  again.all_reduce(numbers.data(), numbers.size(), reduction::sum);
}

// The header template.
BOOST_AUTO_TEST_CASE(values_move_with_their_keys_in_an_order_of_the_caller) {
  communicator comm(here);
  using tests::by_cell_then_mass;
  for (const common::distribution shape :
       {common::distribution::zipf, common::distribution::few_distinct}) {
    for (const ramify::sorted_parts parts :
         {ramify::sorted_parts::sampled, ramify::sorted_parts::equal}) {
      const auto input = tests::make_keys<tests::particle>(shape, tests::all_keys / 4);
      const tests::sort_oracle<tests::particle, by_cell_then_mass> oracle(input);
      const ramify::host_stream stream;
      auto keys = tests::upload(own_part(comm, placement::uneven, input), stream.get());
      auto values = tests::upload(
          own_part(comm, placement::uneven, tests::count_up<std::uint32_t>(input.size())),
          stream.get());
      const auto report = ramify::distributed_sort_pairs(comm, keys, values, by_cell_then_mass{},
                                                         parts, {.stream = stream});
      BOOST_TEST(oracle.check(gather_parts(comm, keys), gather_parts(comm, values)) == "");
      tests::check_sizes(comm, report, keys.size(), input.size(), parts);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_comparator_that_is_no_strict_weak_order_loses_no_element) {
  communicator comm(here);
  auto input =
      tests::make_keys<tests::particle>(common::distribution::few_distinct, tests::all_keys / 4);
  for (std::size_t i = 0; i < input.size(); i += 2) {
    input[i].mass = std::numeric_limits<float>::quiet_NaN();
  }
  const auto numbers = tests::count_up<std::uint32_t>(input.size());
  auto keys = tests::upload(own_part(comm, placement::even, input));
  auto values = tests::upload(own_part(comm, placement::even, numbers));
  static_cast<void>(ramify::distributed_sort_pairs(comm, keys, values, tests::by_cell_then_mass{}));
  std::vector<std::uint32_t> all = gather_parts(comm, values);
  std::ranges::sort(all);
  BOOST_TEST(all == numbers, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_the_header_template) {
  communicator comm(here);
  ramify::device_buffer<tests::particle> particles(2, nullptr);
  ramify::device_buffer<std::uint32_t> values(1, nullptr);
  const tests::by_cell_then_mass order;
  BOOST_CHECK_EXCEPTION(
      ramify::distributed_sort_pairs(comm, particles, values, order, ramify::sorted_parts{9}),
      std::invalid_argument, tests::names("distributed_sort: parts"));
  BOOST_CHECK_EXCEPTION(ramify::distributed_sort_pairs(comm, particles, values, order),
                        ramify::cluster_error, tests::names("2 keys, but 1 values"));
}
