// SPDX-License-Identifier: BSD-3-Clause
// Collective calls and exchanges of a communicator. Each rank runs these test cases.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cpu/executor.hpp>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exceptions.hpp"

namespace {

using ramify::communicator;
using ramify::reduction;

// Pieces of 64 bytes, so that short messages are divided as messages of gigabytes are.
const ramify::cluster_options in_pieces{.backend = ramify::backend::cpu, .message_bytes = 64};

template <class T>
void check_reductions(communicator& comm) {
  const int ranks = comm.size();
  for (const std::size_t count : {0, 1, 7, 100}) {
    for (const reduction how : {reduction::sum, reduction::min, reduction::max}) {
      std::vector<T> numbers(count);
      std::vector<T> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        // Negative on odd ranks; of an unsigned type, a number with its highest bit set.
        const auto of_rank = [&](int r) {
          const int magnitude = static_cast<int>(i) + 10 * r;
          return static_cast<T>(r % 2 == 1 ? -magnitude : magnitude);
        };
        numbers[i] = of_rank(comm.rank());
        expected[i] = of_rank(0);
        for (int r = 1; r < ranks; ++r) {
          const T other = of_rank(r);
          expected[i] = how == reduction::sum   ? static_cast<T>(expected[i] + other)
                        : how == reduction::min ? std::min(expected[i], other)
                                                : std::max(expected[i], other);
        }
      }
      comm.all_reduce(numbers.data(), count, how);
      BOOST_TEST(numbers == expected, boost::test_tools::per_element());
    }
  }
  BOOST_TEST(comm.all_reduce(static_cast<T>(comm.rank() + 1), reduction::sum) ==
             static_cast<T>(ranks * (ranks + 1) / 2));
}

// The number of elements that rank `from` sends to rank `to`.
std::uint64_t elements_between(int from, int to) {
  return static_cast<std::uint64_t>((from * 5 + to * 3) % 7 * 10);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_have_numbers_and_a_backend) {
  const communicator comm(in_pieces);
  BOOST_TEST(comm.rank() >= 0);
  BOOST_TEST(comm.rank() < comm.size());
  BOOST_TEST((comm.backend() == ramify::backend::cpu));
  BOOST_TEST(comm.backend_reason() == "requested");
  BOOST_TEST(comm.device() == -1);
}

// The ranks of a machine are those that have the same host name.
BOOST_AUTO_TEST_CASE(ranks_of_a_machine_are_numbered) {
  communicator comm(in_pieces);
  std::array<char, 256> name{};
  BOOST_REQUIRE(::gethostname(name.data(), name.size() - 1) == 0);
  int ranks_here = 0;
  int ranks_before = 0;
  const auto names = comm.all_gather(name);
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (names[static_cast<std::size_t>(rank)] != name) continue;
    ++ranks_here;
    if (rank < comm.rank()) ++ranks_before;
  }
  BOOST_TEST(comm.local_size() == ranks_here);
  BOOST_TEST(comm.local_rank() == ranks_before);
}

BOOST_AUTO_TEST_CASE(the_threads_of_the_executor_are_divided_by_the_ranks) {
  // Workers that RAMIFY_CPU_SCHEDULE asks for would not be divided.
  const ramify::cpu::scoped_executor_config one_worker_per_core({});
  const unsigned before = ramify::cpu::current_executor_config().workers;
  {
    const communicator comm(in_pieces);
    // The machine may have more cores than this process may use.
    cpu_set_t allowed;
    BOOST_REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    BOOST_TEST(comm.cores() == unsigned(std::max(1, CPU_COUNT(&allowed) / comm.local_size())));
    BOOST_TEST(ramify::cpu::current_executor_config().workers == comm.cores());
  }
  BOOST_TEST(ramify::cpu::current_executor_config().workers == before);
  {
    ramify::cpu::executor_config own;
    own.workers = 3;
    const ramify::cpu::scoped_executor_config scope(own);
    const communicator comm(in_pieces);
    BOOST_TEST(ramify::cpu::current_executor_config().workers == 3u);
  }
}

BOOST_AUTO_TEST_CASE(reductions_of_all_types) {
  communicator comm(in_pieces);
  check_reductions<std::int32_t>(comm);
  check_reductions<std::uint32_t>(comm);
  check_reductions<std::int64_t>(comm);
  check_reductions<std::uint64_t>(comm);
  check_reductions<float>(comm);
  check_reductions<double>(comm);
}

BOOST_AUTO_TEST_CASE(broadcasts_from_each_rank) {
  communicator comm(in_pieces);
  for (int root = 0; root < comm.size(); ++root) {
    std::vector<std::uint16_t> numbers(101, static_cast<std::uint16_t>(comm.rank()));
    comm.broadcast(numbers.data(), numbers.size(), root);
    BOOST_TEST(std::ranges::count(numbers, root) == 101);
    BOOST_TEST(comm.broadcast(10 * comm.rank(), root) == 10 * root);
  }
  BOOST_CHECK_EXCEPTION(static_cast<void>(comm.broadcast(1, comm.size())), std::invalid_argument,
                        tests::names("there is no rank " + std::to_string(comm.size())));
}

BOOST_AUTO_TEST_CASE(gathers_in_the_order_of_the_ranks) {
  communicator comm(in_pieces);
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  // 1. Equal counts.
  const std::vector<std::uint64_t> mine(20, me);
  std::vector<std::uint64_t> all(20 * ranks, 99);
  comm.all_gather(mine.data(), 20, all.data());
  for (std::size_t i = 0; i < all.size(); ++i) BOOST_TEST(all[i] == i / 20);
  // 2. A value.
  const std::vector<double> values = comm.all_gather(0.5 + comm.rank());
  for (std::size_t r = 0; r < ranks; ++r) BOOST_TEST(values[r] == 0.5 + double(r));
  // 3. Counts 0, 11, 22, ...
  std::vector<std::uint64_t> counts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) counts[r] = 11 * r;
  std::vector<std::uint64_t> some(std::accumulate(counts.begin(), counts.end(), std::size_t{0}),
                                  99);
  comm.all_gather_v(std::vector<std::uint64_t>(11 * me, me).data(), counts, some.data());
  std::size_t place = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < counts[r]; ++i) BOOST_TEST(some[place++] == r);
  }
  counts.push_back(0);
  BOOST_CHECK_EXCEPTION(comm.all_gather_v(mine.data(), counts, some.data()), std::invalid_argument,
                        tests::names("all_gather_v"));
}

BOOST_AUTO_TEST_CASE(all_to_all_with_different_counts) {
  communicator comm(in_pieces);
  const int ranks = comm.size();
  std::vector<std::uint64_t> send_counts;
  std::vector<std::uint32_t> from;
  for (int to = 0; to < ranks; ++to) {
    send_counts.push_back(elements_between(comm.rank(), to));
    for (std::uint64_t i = 0; i < send_counts.back(); ++i) {
      from.push_back(static_cast<std::uint32_t>(1000 * comm.rank() + 100 * to) +
                     static_cast<std::uint32_t>(i));
    }
  }
  const std::vector<std::uint64_t> receive_counts = comm.all_to_all(send_counts);
  std::vector<std::uint32_t> expected;
  for (int sender = 0; sender < ranks; ++sender) {
    const std::uint64_t count = elements_between(sender, comm.rank());
    BOOST_TEST(receive_counts[static_cast<std::size_t>(sender)] == count);
    for (std::uint64_t i = 0; i < count; ++i) {
      expected.push_back(static_cast<std::uint32_t>(1000 * sender + 100 * comm.rank()) +
                         static_cast<std::uint32_t>(i));
    }
  }
  std::vector<std::uint32_t> to(expected.size());
  comm.all_to_all_v(from.data(), send_counts, to.data(), receive_counts);
  BOOST_TEST(to == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(exchanges_overlap_and_keep_the_order_of_messages) {
  for (const bool check_calls : {true, false}) {
    ramify::cluster_options options = in_pieces;
    options.check_calls = check_calls;
    communicator comm(options);
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    // Two messages to the next rank, one of them long and one empty, and one to the previous rank.
    const std::vector<double> first(1000, comm.rank());
    const std::vector<double> second(3, 100 + comm.rank());
    const std::vector<double> back(50, 200 + comm.rank());
    std::vector<double> got_first(1000);
    std::vector<double> got_second(3);
    std::vector<double> got_back(50);
    const std::vector<ramify::outgoing_message<double>> out{
        {next, first.data(), 1000}, {next, nullptr, 0}, {next, second.data(), 3}};
    const std::vector<ramify::incoming_message<double>> in{{previous, got_first.data(), 1000},
                                                           {previous, nullptr, 0},
                                                           {previous, got_second.data(), 3}};
    const std::vector<ramify::outgoing_message<double>> out_back{{previous, back.data(), 50}};
    const std::vector<ramify::incoming_message<double>> in_back{{next, got_back.data(), 50}};
    auto forward = comm.begin_exchange<double>(out, in);
    auto backward = comm.begin_host_exchange<double>(out_back, in_back);
    const int sum = comm.all_reduce(1, reduction::sum);  // calls between begin and end
    BOOST_TEST(sum == comm.size());
    backward.end();
    forward.end();
    BOOST_TEST(std::ranges::count(got_first, previous) == 1000);
    BOOST_TEST(std::ranges::count(got_second, 100 + previous) == 3);
    BOOST_TEST(std::ranges::count(got_back, 200 + next) == 50);
  }
}

BOOST_AUTO_TEST_CASE(an_exchange_rejects_ranks_that_do_not_exist) {
  communicator comm(in_pieces);
  const int one = 1;
  const std::vector<ramify::outgoing_message<int>> out{{comm.size(), &one, 1}};
  BOOST_CHECK_EXCEPTION(static_cast<void>(comm.begin_exchange<int>(out, {})), std::invalid_argument,
                        tests::names("begin_exchange: there is no rank"));
  const std::vector<ramify::outgoing_message<int>> null{{0, nullptr, 1}};
  BOOST_CHECK_EXCEPTION(static_cast<void>(comm.begin_exchange<int>(null, {})),
                        std::invalid_argument, tests::names("is null"));
}

BOOST_AUTO_TEST_CASE(reports_count_the_bytes_to_other_ranks) {
  communicator comm(in_pieces);
  const auto others = static_cast<std::uint64_t>(comm.size() - 1);
  const std::vector<std::uint64_t> counts(static_cast<std::size_t>(comm.size()), 5);
  const std::vector<double> from(5 * (others + 1), 1);
  std::vector<double> to(from.size());
  comm.all_to_all_v(from.data(), counts, to.data(), counts);
  const ramify::cluster_report report = comm.report();
  BOOST_TEST(report.ranks == comm.size());
  BOOST_TEST(report.bytes_sent == 5 * sizeof(double) * others * (others + 1));
  BOOST_TEST(report.bytes_received == report.bytes_sent);
  BOOST_TEST(report.communication_ms > 0);
  BOOST_TEST(report.imbalance >= 1);
  BOOST_TEST(report.imbalance <= comm.size());
}

BOOST_AUTO_TEST_CASE(imbalance_is_that_of_the_time_outside_of_calls) {
  // On a busy machine other ranks take time outside of calls, too, so there are several attempts.
  double imbalance = 1;
  int ranks = 0;
  for (int attempt = 1; attempt <= 10 && imbalance <= 1.3; ++attempt) {
    communicator comm(in_pieces);
    if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20 * attempt));
    comm.barrier();
    imbalance = comm.report().imbalance;
    ranks = comm.size();
    if (ranks == 1) break;
  }
  // One of n ranks takes almost all of the time.
  if (ranks == 1) BOOST_TEST(imbalance == 1);
  if (ranks > 1) BOOST_TEST(imbalance > 1.3);
}

BOOST_AUTO_TEST_CASE(a_moved_communicator_works) {
  communicator first(in_pieces);
  communicator comm(std::move(first));
  BOOST_TEST(comm.all_reduce(2, reduction::sum) == 2 * comm.size());
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  ramify::cluster_options options = in_pieces;
  options.message_bytes = 0;
  BOOST_CHECK_EXCEPTION(communicator{options}, std::invalid_argument,
                        tests::names("cluster_options.message_bytes is 0"));
  options = in_pieces;
  options.backend = ramify::backend{7};
  BOOST_CHECK_EXCEPTION(communicator{options}, std::invalid_argument,
                        tests::names("cluster_options.backend"));
}
