// SPDX-License-Identifier: BSD-3-Clause
// If one rank fails, all ranks throw the same exception, whatever they wait for, and soon.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <ramify/cluster/communicator.hpp>
#include <ramify/runtime/error.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "exceptions.hpp"

namespace {

using ramify::cluster_error;
using ramify::communicator;
using ramify::reduction;

const ramify::cluster_options on_cpu{.backend = ramify::backend::cpu, .message_bytes = 4096};

using clock_type = std::chrono::steady_clock;

// Calls work(comm) in run(), and checks that all ranks throw the error of `rank`, within five
// seconds. The communicator is then broken.
void check_failure(int rank, const std::string& cause,
                   const std::function<void(communicator&)>& work,
                   const ramify::cluster_options& options = on_cpu) {
  communicator comm(options);
  const auto begin = clock_type::now();
  const auto is_right = [&](const cluster_error& e) {
    BOOST_TEST(e.rank() == rank);
    BOOST_TEST(e.what() == "rank " + std::to_string(rank) + ": " + e.cause());
    return tests::names(cause)(e);
  };
  BOOST_CHECK_EXCEPTION(comm.run([&] { work(comm); }), cluster_error, is_right);
  BOOST_CHECK((clock_type::now() - begin < std::chrono::seconds(5)));
  BOOST_CHECK_EXCEPTION(comm.barrier(), cluster_error, is_right);
  BOOST_CHECK_EXCEPTION(comm.run([] {}), cluster_error, is_right);
}

// The rank that fails: the last one.
int failing(const communicator& comm) { return comm.size() - 1; }

int number_of_ranks() { return communicator(on_cpu).size(); }

}  // namespace

// The negative control: without a failure no rank throws.
BOOST_AUTO_TEST_CASE(no_rank_throws_without_a_failure) {
  communicator comm(on_cpu);
  int runs = 0;
  for (int i = 0; i < 3; ++i) {
    comm.run([&] {
      ++runs;
      comm.barrier();
    });
  }
  BOOST_TEST(runs == 3);
}

BOOST_AUTO_TEST_CASE(an_exception_reaches_ranks_that_wait_for_a_reduction) {
  check_failure(number_of_ranks() - 1, "no such file", [](communicator& comm) {
    if (comm.rank() == failing(comm)) throw std::runtime_error("no such file");
    static_cast<void>(comm.all_reduce(1, reduction::sum));
  });
}

BOOST_AUTO_TEST_CASE(an_exception_reaches_ranks_that_wait_for_messages) {
  // The messages are long, so that they wait for the receiver, and the memory is freed on the way.
  check_failure(number_of_ranks() - 1, "disk full", [](communicator& comm) {
    if (comm.rank() == failing(comm)) throw std::runtime_error("disk full");
    const std::vector<int> from(1 << 20, 1);
    std::vector<int> to(from.size());
    std::vector<ramify::outgoing_message<int>> out;
    std::vector<ramify::incoming_message<int>> in;
    for (int r = 0; r < comm.size(); ++r) {
      const std::size_t share = from.size() / static_cast<std::size_t>(comm.size());
      const std::size_t begin = share * static_cast<std::size_t>(r);
      out.push_back({r, from.data() + begin, share});
      in.push_back({r, to.data() + begin, share});
    }
    comm.begin_exchange<int>(out, in).end();
  });
}

BOOST_AUTO_TEST_CASE(an_exception_between_begin_and_end_reaches_all_ranks) {
  check_failure(0, "between", [](communicator& comm) {
    const std::vector<int> from(100'000, 1);
    std::vector<int> to(from.size());
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    const std::vector<ramify::outgoing_message<int>> out{{next, from.data(), from.size()}};
    const std::vector<ramify::incoming_message<int>> in{{previous, to.data(), to.size()}};
    auto messages = comm.begin_exchange<int>(out, in);
    if (comm.rank() == 0) throw std::runtime_error("between");
    messages.end();
    comm.barrier();
  });
}

BOOST_AUTO_TEST_CASE(an_exception_reaches_ranks_that_have_finished) {
  check_failure(number_of_ranks() - 1, "late", [](communicator& comm) {
    if (comm.rank() == failing(comm)) throw std::runtime_error("late");
  });
}

BOOST_AUTO_TEST_CASE(the_lowest_of_several_failures_is_thrown_everywhere) {
  check_failure(0, "of rank 0", [](communicator& comm) {
    throw std::runtime_error("of rank " + std::to_string(comm.rank()));
  });
}

BOOST_AUTO_TEST_CASE(the_failed_rank_can_find_its_own_exception) {
  communicator comm(on_cpu);
  std::string original;
  try {
    comm.run([&] {
      if (comm.rank() == failing(comm)) throw std::domain_error("the original");
    });
  } catch (const cluster_error& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const std::domain_error& own) {
      original = own.what();
    }
  }
  BOOST_TEST(original == (comm.rank() == comm.size() - 1 ? "the original" : ""));
}

BOOST_AUTO_TEST_CASE(an_exception_outside_of_run_reaches_the_other_ranks) {
  const int last = number_of_ranks() - 1;
  std::string message;
  try {
    communicator comm(on_cpu);
    if (comm.rank() == last) throw std::runtime_error("outside");
    comm.barrier();
    message = "none";
  } catch (const std::runtime_error& e) {
    message = e.what();
  }
  const bool is_own = message == "outside";
  const bool is_other = message.starts_with("rank " + std::to_string(last) + ": an exception has");
  BOOST_CHECK_MESSAGE(is_own || is_other, message);
}

BOOST_AUTO_TEST_CASE(different_counts_of_a_reduction_are_found) {
  if (number_of_ranks() == 1) return;
  check_failure(1, "calls all_reduce of 4 elements of 8 bytes, but rank 0 calls all_reduce of 3",
                [](communicator& comm) {
                  std::vector<double> numbers(4, 1.0);
                  comm.all_reduce(numbers.data(), comm.rank() == 1 ? 4 : 3, reduction::sum);
                });
}

BOOST_AUTO_TEST_CASE(different_calls_are_found) {
  if (number_of_ranks() == 1) return;
  check_failure(1, "calls barrier, but rank 0 calls all_reduce", [](communicator& comm) {
    if (comm.rank() == 1) {
      comm.barrier();
    } else {
      static_cast<void>(comm.all_reduce(1, reduction::sum));
    }
  });
  check_failure(1, "with other arguments", [](communicator& comm) {
    static_cast<void>(comm.broadcast(1, comm.rank() == 1 ? 0 : 1));
  });
  // A rank that has ended run() is not waited for.
  check_failure(
      1, "calls all_reduce (value) of 1 elements of 4 bytes, but rank 0 calls the end of run",
      [](communicator& comm) {
        if (comm.rank() == 1) static_cast<void>(comm.all_reduce(1, reduction::sum));
      });
}

BOOST_AUTO_TEST_CASE(different_counts_of_messages_are_found) {
  if (number_of_ranks() == 1) return;
  const auto exchange = [](std::size_t sent, std::size_t expected) {
    return [=](communicator& comm) {
      const std::vector<int> from(sent, 1);
      std::vector<int> to(expected);
      if (comm.rank() == 0) {
        const std::vector<ramify::outgoing_message<int>> out{{1, from.data(), sent}};
        comm.begin_exchange<int>(out, {}).end();
      } else if (comm.rank() == 1) {
        const std::vector<ramify::incoming_message<int>> in{{0, to.data(), expected}};
        comm.begin_exchange<int>({}, in).end();
      }
      comm.barrier();
    };
  };
  check_failure(1, "expects 20 bytes from rank 0, which sends 12", exchange(3, 5));
  check_failure(1, "expects 12 bytes from rank 0, which sends 20", exchange(5, 3));
  check_failure(1, "expects 4000 bytes from rank 0, which sends 4000000",
                exchange(1'000'000, 1000));
  check_failure(1, "expects 4000000 bytes from rank 0, which sends 4000",
                exchange(1000, 1'000'000));
  // Without headers a wrong size is found in the message itself.
  ramify::cluster_options unchecked = on_cpu;
  unchecked.check_calls = false;
  check_failure(1, "expects 20 bytes from rank 0, but got 12", exchange(3, 5), unchecked);
}

BOOST_AUTO_TEST_CASE(different_counts_of_all_to_all_are_found) {
  if (number_of_ranks() == 1) return;
  check_failure(1, "all_to_all_v: expects 3 elements from rank 0, which sends 2",
                [](communicator& comm) {
                  const auto ranks = static_cast<std::size_t>(comm.size());
                  const std::vector<std::uint64_t> two(ranks, 2);
                  std::vector<std::uint64_t> receive(ranks, 2);
                  if (comm.rank() == 1) receive[0] = 3;
                  const std::vector<int> from(2 * ranks, 1);
                  std::vector<int> to(2 * ranks + 1);
                  comm.all_to_all_v(from.data(), two, to.data(), receive);
                });
}

BOOST_AUTO_TEST_CASE(a_gpu_that_is_missing_is_refused_on_all_ranks) {
  ramify::cluster_options options = on_cpu;
  options.backend = ramify::backend::automatic;
  communicator comm(options);
  if (comm.backend() == ramify::backend::cuda) return;
  // Without a GPU rank 0 is named; with fewer GPUs than ranks, the first two that share one.
  const std::string reason = comm.backend_reason();
  BOOST_TEST((reason.starts_with("rank 0 cannot use a GPU: ") ||
              reason.starts_with("rank 1 and rank 0 have the same GPU")),
             reason);
  options.backend = ramify::backend::cuda;
  BOOST_CHECK_EXCEPTION(communicator{options}, ramify::unavailable,
                        tests::names("the cuda backend of the cluster cannot run: " + reason));
}
