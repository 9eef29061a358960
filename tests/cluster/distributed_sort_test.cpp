// SPDX-License-Identifier: BSD-3-Clause
// Sorts over all ranks. Each rank runs these test cases; it knows the input of all ranks, and checks
// the gathered result against std::sort.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort.cuh>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "distributions.hpp"
#include "exceptions.hpp"
#include "key_types.hpp"
#include "sort_oracle.hpp"

namespace {

using common::distribution;
using ramify::communicator;
using ramify::sorted_parts;

constexpr std::size_t all_keys = 14'000;

/// How the input is distributed over the ranks.
enum class placement { even, uneven, on_one_rank, every_second_empty };

/// Returns where the elements of a rank begin among n; `ranks` gives n.
std::size_t begin_of(placement how, std::size_t rank, std::size_t ranks, std::size_t n) {
  switch (how) {
    case placement::even: return n * rank / ranks;
    case placement::uneven: return n * rank * rank / (ranks * ranks);
    case placement::on_one_rank: return rank > ranks / 2 ? n : 0;
    default: return n * ((rank + 1) / 2) / ((ranks + 1) / 2);
  }
}

/// Returns the elements of this rank.
template <class T>
ramify::device_buffer<T> upload_own(const communicator& comm, placement how,
                                    const std::vector<T>& all) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto place = [&](std::size_t r) {
    return all.begin() + static_cast<std::ptrdiff_t>(begin_of(how, r, ranks, all.size()));
  };
  return tests::upload(std::vector<T>(place(rank), place(rank + 1)));
}

/// Returns the parts of all ranks, in their order.
template <class T>
std::vector<T> gather_parts(communicator& comm, const ramify::device_buffer<T>& mine) {
  const std::vector<std::uint64_t> counts = comm.all_gather(std::uint64_t{mine.size()});
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  comm.all_gather_v(mine.data(), counts, all.data());
  return all;
}

/// Checks that the parts have the sizes that the report states and `parts` allows.
void check_sizes(communicator& comm, const ramify::distributed_sort_report& report,
                 std::uint64_t own, std::uint64_t n, sorted_parts parts) {
  const std::vector<std::uint64_t> sizes = comm.all_gather(own);
  const std::uint64_t largest = std::ranges::max(sizes);
  const double mean = double(n) / comm.size();
  BOOST_TEST(report.keys == n);
  BOOST_TEST(report.part_keys == own);
  BOOST_TEST(report.first_key ==
             std::accumulate(sizes.begin(), sizes.begin() + comm.rank(), std::uint64_t{0}));
  if (n > 0) BOOST_TEST(report.part_imbalance == double(largest) * comm.size() / double(n));
  if (parts == sorted_parts::equal) {
    BOOST_TEST(largest - std::ranges::min(sizes) <= 1);
  } else {
    BOOST_TEST(double(largest) <= std::max(1.05 * mean, std::ceil(mean)));
  }
}

template <class Key>
void check_sort(communicator& comm, const std::vector<Key>& input, placement how,
                sorted_parts parts = sorted_parts::sampled) {
  const tests::sort_oracle<Key, tests::host_ascending> oracle(input);
  auto keys = upload_own(comm, how, input);
  ramify::distributed_sort_config config;
  config.parts = parts;
  const auto report = ramify::distributed_sort(comm, keys, ramify::ascending{}, nullptr, config);
  BOOST_TEST(oracle.check(gather_parts(comm, keys)) == "");
  check_sizes(comm, report, keys.size(), input.size(), parts);
}

template <class Key>
std::vector<Key> make_keys(distribution shape, std::size_t n) {
  std::vector<Key> keys;
  for (const std::uint32_t rank : common::make_ranks(shape, n, 7)) {
    keys.push_back(tests::make_key<Key>(rank, keys.size()));
  }
  return keys;
}

const ramify::cluster_options on_cpu{.backend = ramify::backend::cpu};

}  // namespace

BOOST_AUTO_TEST_CASE(all_shapes_of_input_are_sorted_and_balanced) {
  communicator comm(on_cpu);
  for (const distribution shape : ramify::all_choices<distribution>()) {
    BOOST_TEST_CONTEXT(common::to_string(shape)) {
      check_sort(comm, make_keys<std::uint32_t>(shape, all_keys), placement::even);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_input_may_be_on_any_ranks) {
  communicator comm(on_cpu);
  for (const placement how :
       {placement::uneven, placement::on_one_rank, placement::every_second_empty}) {
    for (const distribution shape : {distribution::uniform, distribution::few_distinct}) {
      BOOST_TEST_CONTEXT("placement " << int(how) << ", " << common::to_string(shape)) {
        check_sort(comm, make_keys<std::uint32_t>(shape, all_keys), how);
        check_sort(comm, make_keys<std::uint32_t>(shape, all_keys), how, sorted_parts::equal);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(small_inputs) {
  communicator comm(on_cpu);
  for (const std::size_t n : {0, 1, 2, 3, 6, 7, 8, 50}) {
    BOOST_TEST_CONTEXT(n << " keys") {
      check_sort(comm, make_keys<std::uint32_t>(distribution::uniform, n), placement::even);
      check_sort(comm, make_keys<std::uint32_t>(distribution::all_equal, n), placement::on_one_rank,
                 sorted_parts::equal);
    }
  }
}

BOOST_AUTO_TEST_CASE(doubles_with_nan_and_zeros) {
  communicator comm(on_cpu);
  std::vector<double> keys = make_keys<double>(distribution::uniform, all_keys / 2);
  for (std::size_t i = 0; i < keys.size(); i += 3) {
    const double special[] = {std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()};
    keys[i] = special[i % 5];
  }
  check_sort(comm, keys, placement::even);
  check_sort(comm, keys, placement::uneven, sorted_parts::equal);
}

BOOST_AUTO_TEST_CASE(values_move_with_their_keys_in_an_order_of_the_caller) {
  communicator comm(on_cpu);
  using tests::by_cell_then_mass;
  for (const distribution shape : {distribution::zipf, distribution::few_distinct}) {
    for (const sorted_parts parts : {sorted_parts::sampled, sorted_parts::equal}) {
      const auto input = make_keys<tests::particle>(shape, all_keys / 4);
      const tests::sort_oracle<tests::particle, by_cell_then_mass> oracle(input);
      auto keys = upload_own(comm, placement::uneven, input);
      auto values =
          upload_own(comm, placement::uneven, tests::count_up<std::uint32_t>(input.size()));
      ramify::distributed_sort_config config;
      config.parts = parts;
      const auto report =
          ramify::distributed_sort_pairs(comm, keys, values, by_cell_then_mass{}, nullptr, config);
      BOOST_TEST(oracle.check(gather_parts(comm, keys), gather_parts(comm, values)) == "");
      check_sizes(comm, report, keys.size(), input.size(), parts);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_a_distributed_sort) {
  communicator comm(on_cpu);
  ramify::device_buffer<std::uint32_t> keys(2, nullptr);
  ramify::distributed_sort_config config;
  config.parts = sorted_parts{9};
  BOOST_CHECK_EXCEPTION(ramify::distributed_sort(comm, keys, ramify::ascending{}, nullptr, config),
                        std::invalid_argument, tests::names("distributed_sort_config.parts"));
  ramify::device_buffer<tests::particle> particles(2, nullptr);
  ramify::device_buffer<std::uint32_t> values(1, nullptr);
  BOOST_CHECK_EXCEPTION(
      ramify::distributed_sort_pairs(comm, particles, values, tests::by_cell_then_mass{}),
      ramify::cluster_error, tests::names("2 keys, but 1 values"));
}
