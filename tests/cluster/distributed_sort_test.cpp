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
#include <string>
#include <vector>

#include "distributions.hpp"
#include "exceptions.hpp"
#include "key_types.hpp"
#include "sort_oracle.hpp"
#include "sort_parts.hpp"

namespace {

using common::distribution;
using ramify::communicator;
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
  ramify::distributed_sort_options options;
  options.parts = parts;
  const auto report = ramify::distributed_sort(comm, keys, options);
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
  ramify::distributed_sort_options options;
  options.descending = true;
  const auto report = ramify::distributed_sort_pairs(comm, keys, values, options);
  BOOST_TEST(oracle.check(gather_parts(comm, keys.data(), keys.size()),
                          gather_parts(comm, values.data(), values.size())) == "");
  check_sizes(comm, report, keys.size(), input.size(), sorted_parts::sampled);
  BOOST_TEST((report.ran_on == ramify::backend::cpu));
  BOOST_TEST(report.backend_reason == comm.backend_reason());
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_a_distributed_sort) {
  communicator comm(cpu_ranks);
  std::vector<std::uint32_t> keys{2, 1};
  ramify::distributed_sort_options options;
  options.parts = sorted_parts{9};
  BOOST_CHECK_EXCEPTION(ramify::distributed_sort(comm, keys, options), std::invalid_argument,
                        tests::names("distributed_sort_options.parts"));
  options = {};
  options.backend = ramify::backend::cuda;
  BOOST_CHECK_EXCEPTION(ramify::distributed_sort(comm, keys, options), std::invalid_argument,
                        tests::names("distributed_sort_options.backend is cuda, but that of"));
  std::vector<std::uint64_t> one{1};
  BOOST_CHECK_EXCEPTION(ramify::distributed_sort_pairs(comm, keys, one), ramify::cluster_error,
                        tests::names("2 keys, but 1 values"));
  BOOST_TEST(keys == (std::vector<std::uint32_t>{2, 1}), boost::test_tools::per_element());
}
