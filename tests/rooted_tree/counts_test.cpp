// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees whose number of nodes only the device has.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <optional>
#include <ramify/cpu/executor.hpp>

#include "counts_on_device.cuh"
#include "failed_launches.hpp"
#include "rooted_tree_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using common::forest_kind;
using ramify::route;
using ramify::tree_shape;

namespace {

/// Returns a forest of n nodes whose parents may come after their children.
parent_array forest_of(std::size_t n) {
  return n == 0 ? parent_array()
                : common::relabeled(common::make_parents(forest_kind::random, n, 3), 3);
}

/// The first n elements of an array, and the others.
template <class T>
std::vector<T> first_of(const std::vector<T>& array, std::size_t n) {
  return {array.begin(), array.begin() + std::ptrdiff_t(n)};
}
template <class T>
bool is_unchanged_after(const std::vector<T>& array, const std::vector<T>& before, std::size_t n) {
  return std::equal(array.begin() + std::ptrdiff_t(n), array.end(),
                    before.begin() + std::ptrdiff_t(n));
}

}  // namespace

namespace tests {

/// Arrays for forests of up to `bound` nodes, and a number of nodes in device memory.
class counted_call {
 public:
  counted_call(std::size_t bound, tree_results outputs)
      : before_(std::move(outputs)),
        call_(tree_shape::of_parents(parent_array(bound, 0)), values_for(bound), before_) {
    call_.nodes_are_in(number.up_to(bound));
  }

  /// Copies a forest of n nodes and fresh outputs to the device. The other parents are no nodes.
  void prepare(std::size_t n) {
    parent_array parents = forest_of(n);
    parents.resize(call_.shape().nodes, std::numeric_limits<std::int32_t>::min());
    call_.copy_input(tree_shape::of_parents(parents), before_);
    ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
  }
  /// Returns the first fault in the outputs for n nodes, or an empty string.
  [[nodiscard]] std::string fault(std::size_t n) const {
    tree_results found = before_;
    call_.copy_outputs_to(found);
    const auto untouched = [&](auto member) {
      return (found.*member).empty() || is_unchanged_after(found.*member, before_.*member, n);
    };
    using r = tree_results;
    if (!untouched(&r::levels) || !untouched(&r::subtree_sizes) || !untouched(&r::preorder) ||
        !untouched(&r::postorder) || !untouched(&r::leaffix) || !untouched(&r::rootfix)) {
      return "an element beyond the last node has changed";
    }
    return oracle(forest_of(n)).check(found);
  }
  [[nodiscard]] device_call& call() { return call_; }

  const device_number<> number;

 private:
  tree_results before_;
  device_call call_;
};

}  // namespace tests

BOOST_AUTO_TEST_SUITE(rooted_tree_counts)

BOOST_DATA_TEST_CASE(each_number_of_nodes, data::make(routes) * data::make({false, true}), taken,
                     in_order) {
  const auto bound = std::size_t(RAMIFY_ON_CUDA ? 300'000 : cut_down(20'000, 6'000));
  counted_call counted(bound, in_order ? all_outputs(bound) : orderless_outputs(bound));
  replay(
      counted.number, ten_counts(bound), [&](std::size_t n) { counted.prepare(n); },
      [&](cudaStream_t stream) { return counted.call().start({.stream = stream, .route = taken}); },
      [&](std::size_t n, auto& run) {
        BOOST_TEST(run.get().nodes == n);
        BOOST_TEST(counted.fault(n) == "");
        // Negative control: the check detects missing and additional nodes.
        if (n > 0) BOOST_TEST(counted.fault(n - 1) != "");
        if (n < bound) BOOST_TEST(counted.fault(n + 1) != "");
      });
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(the_stream_completes_the_call, data::make(routes), taken) {
  counted_call counted(5'000, all_outputs(5'000));
  counted.prepare(3'000);
  counted.number.write(3'000);
  const std::optional<all_slots_taken> none_left(std::in_place,
                                                 *ramify::current_launch_limits().pending_launches);
  auto run = counted.call().start({.route = taken});
  BOOST_TEST(counted.fault(3'000) == "");  // before get()
  BOOST_TEST(run.get().nodes == 3'000u);
}

BOOST_DATA_TEST_CASE(get_completes_the_call, data::make({1, 3'000, 5'000}), n) {
  counted_call counted(5'000, all_outputs(5'000));
  counted.prepare(std::size_t(n));
  counted.number.write(n);
  std::optional<all_slots_taken> none_left(std::in_place,
                                           *ramify::current_launch_limits().pending_launches);
  auto run =
      counted.call().start({.route = route::device, .completion = ramify::completion::by_get});
  ramify::check(cudaStreamSynchronize(nullptr), "waiting");
  none_left.reset();
  BOOST_TEST(run.get().nodes == std::size_t(n));
  BOOST_TEST(counted.fault(std::size_t(n)) == "");
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(each_launch_fails_once) {
  counted_call counted(5'000, all_outputs(5'000));
  const auto run = [&] {
    counted.prepare(1'700);
    counted.number.write(1'700);
    return counted.call().start({.route = route::device}).get();
  };
  const auto whole = run();
  const unsigned interrupted =
      count_interrupted(20, ramify::cpu::current_executor_config(), [&](std::uint64_t) {
        const auto report = run();
        BOOST_TEST(counted.fault(1'700) == "");
        return report.child_grids < whole.child_grids;
      });
  BOOST_TEST(interrupted > 5u);
}

BOOST_DATA_TEST_CASE(a_number_above_its_upper_bound, data::make(routes), taken) {
  constexpr std::size_t bound = 1'000;
  const parent_array parents = forest_of(bound);
  const tree_results before = all_outputs(bound);
  device_call call(tree_shape::of_parents(parents), values_for(bound), before);
  check_exceeding_counts(bound, "rooted_tree", [&](const ramify::device_count& nodes) {
    call.nodes_are_in(nodes);
    auto run = call.start({.route = taken});
    tree_results found = before;
    call.copy_outputs_to(found);
    BOOST_TEST((found == before));
    (void)run.get();
  });
}

BOOST_AUTO_TEST_CASE(numbers_of_each_type) {
  const auto check = [&]<class Integer>(Integer n) {
    const device_number<Integer> number(n);
    const parent_array parents = forest_of(100);
    device_call call(tree_shape::of_parents(parents), values_for(100), all_outputs(100));
    call.nodes_are_in(number.up_to(100));
    BOOST_TEST(call.start({}).get().nodes == 100u);
  };
  check(std::int32_t{100});
  check(std::uint32_t{100});
  check(std::int64_t{100});
  check(std::uint64_t{100});
}

BOOST_AUTO_TEST_CASE(faults_beyond_the_last_node_are_none) {
  constexpr std::size_t bound = 1'000;
  counted_call counted(bound, all_outputs(bound));
  counted.prepare(500);  // the other parents are out of range
  counted.number.write(500);
  BOOST_CHECK_NO_THROW((void)counted.call().start({}).get());
  counted.number.write(501);
  BOOST_CHECK_EXCEPTION((void)counted.call().start({}).get(), std::invalid_argument,
                        names("the parent of node 500 is -2147483648"));
  counted.prepare(bound);
  counted.number.write(500);
  BOOST_CHECK_EXCEPTION((void)counted.call().start({}).get(), std::invalid_argument,
                        names("it must be -1 or in [0, 500)"));
}

BOOST_AUTO_TEST_CASE(scratch_and_arguments) {
  const device_number<> number(7);
  const std::span<const std::int32_t> parents(static_cast<const std::int32_t*>(nullptr), 1'000);
  const auto counted = tree_shape::of_parents(parents, number.up_to(1'000));
  BOOST_TEST(ramify::rooted_tree_scratch_bytes(counted) == scratch_bytes_of_parents(1'000));
  // The upper bound may be less than the size of the array.
  BOOST_TEST(tree_shape::of_parents(parents, number.up_to(10)).nodes == 10u);
  BOOST_CHECK_EXCEPTION((void)tree_shape::of_parents(parents, number.up_to(1'001)),
                        std::invalid_argument, names("1000 parents"));
  const auto null = tree_shape::of_parents(
      parents, ramify::device_count(static_cast<const std::int32_t*>(nullptr), 1'000));
  const auto array = upload(parent_array(1'000, -1));
  tree_shape shape = null;
  shape.parents = {array.data(), 1'000};
  BOOST_CHECK_EXCEPTION((void)ramify::rooted_tree(shape, ramify::tree_number_arrays{}),
                        std::invalid_argument, names("the address of device_count is null"));
}

BOOST_AUTO_TEST_CASE(the_facade_takes_a_number) {
  const parent_array parents = forest_of(50);
  parent_array levels(50, -7);
  const device_number<> number(20);
  std::vector<std::int32_t> first = first_of(parents, 50);
  std::fill(first.begin() + 20, first.end(), 99);
  for (std::size_t v = 0; v < 20; ++v) first[v] = static_cast<std::int32_t>(v) - 1;
  (void)ramify::rooted_tree(tree_shape::of_parents(first, number.up_to(50)),
                            ramify::tree_number_spans{.levels = levels},
                            on_route(route::automatic));
  for (std::size_t v = 0; v < 50; ++v) {
    BOOST_TEST(levels[v] == (v < 20 ? std::int32_t(v) : -7));
  }
}

BOOST_AUTO_TEST_SUITE_END()
