// SPDX-License-Identifier: BSD-3-Clause
// Sorts over all ranks. Each rank runs these test cases. It generates the input of all ranks,
// and compares the gathered result with that of std::sort.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_sort.hpp>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <vector>

#include "exceptions.hpp"
#include "key_types.hpp"
#include "quicksort/distributions.hpp"
#include "sort_oracle.hpp"
#include "sort_parts.hpp"

namespace {

using common::distribution;
using ramify::communicator;
using ramify::sort_order;
using ramify::sorted_parts;
using tests::all_keys;
using tests::check_sizes;
using tests::make_keys;
using tests::own_part;
using tests::placement;

/// Returns the parts of all ranks, in their order.
template <class T>
std::vector<T> gather_parts(communicator& comm, const T* mine, std::size_t n) {
  const std::vector<std::uint64_t> counts = comm.all_gather(std::uint64_t{n});
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  comm.all_gather_v(mine, counts, all.data());
  return all;
}

/// Sorts with the facade.
template <class Key>
void check_sort(communicator& comm, const std::vector<Key>& input, placement how,
                sorted_parts parts = sorted_parts::sampled) {
  const tests::sort_oracle<Key, tests::host_ascending> oracle(input);
  std::vector<Key> keys = own_part(comm, how, input);
  const auto report = ramify::distributed_sort(comm, keys, sort_order::ascending, parts);
  BOOST_TEST(oracle.check(gather_parts(comm, keys.data(), keys.size())) == "");
  check_sizes(comm, report, keys.size(), input.size(), parts);
}

const ramify::cluster_options cpu_ranks{.backend = ramify::backend::cpu};

}  // namespace

BOOST_AUTO_TEST_CASE(all_shapes_of_input_are_sorted_and_balanced) {
  communicator comm(cpu_ranks);
  for (const distribution shape : ramify::all_choices<distribution>()) {
    BOOST_TEST_CONTEXT(common::to_string(shape)) {
      check_sort(comm, make_keys<std::uint32_t>(shape, all_keys), placement::even);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_input_may_be_on_any_ranks) {
  communicator comm(cpu_ranks);
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
  communicator comm(cpu_ranks);
  for (const std::size_t n : {0, 1, 2, 3, 6, 7, 8, 50}) {
    BOOST_TEST_CONTEXT(n << " keys") {
      check_sort(comm, make_keys<std::uint32_t>(distribution::uniform, n), placement::even);
      check_sort(comm, make_keys<std::uint32_t>(distribution::all_equal, n), placement::on_one_rank,
                 sorted_parts::equal);
    }
  }
}

BOOST_AUTO_TEST_CASE(doubles_with_nan_and_zeros) {
  communicator comm(cpu_ranks);
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

BOOST_AUTO_TEST_CASE(descending_numbers_with_values) {
  communicator comm(cpu_ranks);
  const auto input = make_keys<std::int64_t>(distribution::uniform, all_keys / 4);
  const auto descending = [](std::int64_t a, std::int64_t b) { return a > b; };
  const tests::sort_oracle<std::int64_t, decltype(descending)> oracle(input, descending);
  std::vector<std::int64_t> keys = own_part(comm, placement::even, input);
  std::vector<std::uint64_t> values =
      own_part(comm, placement::even, tests::count_up<std::uint64_t>(input.size()));
  const auto report = ramify::distributed_sort_pairs(comm, keys, values, sort_order::descending);
  BOOST_TEST(oracle.check(gather_parts(comm, keys.data(), keys.size()),
                          gather_parts(comm, values.data(), values.size())) == "");
  check_sizes(comm, report, keys.size(), input.size(), sorted_parts::sampled);
  BOOST_TEST((report.ran_on == ramify::backend::cpu));
  BOOST_TEST(report.backend_reason == comm.backend_reason());
}

// A stream of the caller, and the same keys as without options.
BOOST_AUTO_TEST_CASE(each_strategy_route_and_stream) {
  communicator comm(cpu_ranks);
  const auto input = make_keys<std::uint32_t>(distribution::zipf, all_keys);
  const tests::sort_oracle<std::uint32_t, tests::host_ascending> oracle(input);
  const ramify::host_stream stream;
  for (const auto strategy : ramify::all_choices<ramify::quicksort_strategy>()) {
    for (const ramify::route taken : {ramify::route::device, ramify::route::flat}) {
      std::vector<std::uint32_t> keys = own_part(comm, placement::even, input);
      const auto report = ramify::distributed_sort(
          comm, keys, sort_order::ascending, sorted_parts::sampled, {.strategy = strategy},
          {.stream = stream, .route = taken, .pending_launches = 512});
      BOOST_TEST(oracle.check(gather_parts(comm, keys.data(), keys.size())) == "");
      BOOST_TEST((report.strategy == strategy));
      BOOST_TEST((report.taken == taken));
      BOOST_TEST(report.pending_launch_limit == 512u);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_a_distributed_sort) {
  communicator comm(cpu_ranks);
  std::vector<std::uint32_t> keys{2, 1};
  const auto expect = [&](const std::string& what, sort_order order, sorted_parts parts,
                          const ramify::quicksort_options& options = {},
                          const ramify::environment& env = {}) {
    BOOST_CHECK_EXCEPTION(ramify::distributed_sort(comm, keys, order, parts, options, env),
                          std::invalid_argument, tests::names(what));
  };
  constexpr auto up = sort_order::ascending;
  constexpr auto sampled = sorted_parts::sampled;
  expect("distributed_sort: parts is none", up, sorted_parts{9});
  expect("distributed_sort: order is none", sort_order{9}, sampled);
  expect("quicksort_options.depth_limit is 256", up, sampled, {.depth_limit = 256});
  expect("quicksort_options.device_memory is 5", up, sampled, {.device_memory = 5});
  expect("environment.flat_loop is none", up, sampled, {}, {.flat_loop = ramify::flat_loop{9}});
  expect("environment.memory must be empty", up, sampled, {},
         {.memory = {reinterpret_cast<void*>(256), 1}});
  expect("environment.backend is cuda, but that of", up, sampled, {},
         {.backend = ramify::backend::cuda});
  std::vector<std::uint64_t> one{1};
  BOOST_CHECK_EXCEPTION(ramify::distributed_sort_pairs(comm, keys, one), ramify::cluster_error,
                        tests::names("2 keys, but 1 values"));
  BOOST_TEST(keys == (std::vector<std::uint32_t>{2, 1}), boost::test_tools::per_element());
}
