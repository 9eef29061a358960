// SPDX-License-Identifier: BSD-3-Clause
// The splitters of a segment: which candidates are used, and how many buckets there are.
#include <boost/test/unit_test.hpp>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort/splitter_tree.cuh>

#include "quicksort_checks.cuh"

namespace tests {

using ramify::detail::quicksort::splitter_tree;

inline constexpr unsigned tree_threads = 32;

__global__ void build_tree(unsigned* tree, splitter_tree* shape, const unsigned* candidates,
                           unsigned count, unsigned max) {
  const splitter_tree built = ramify::detail::quicksort::build_splitter_tree<tree_threads>(
      tree, candidates, count, max, ramify::ascending{});
  if (threadIdx.x == 0) *shape = built;
}

/// Appends the nodes of the subtree of `node` in order.
inline void list_in_order(const std::vector<unsigned>& tree, std::size_t node, std::size_t nodes,
                          std::vector<unsigned>& listed) {
  if (node > nodes) return;
  list_in_order(tree, 2 * node, nodes, listed);
  listed.push_back(tree[node]);
  list_in_order(tree, 2 * node + 1, nodes, listed);
}

/// Checks the tree of `count` candidates, of which the last two are equal if `repeats`: every
/// step-th candidate is a splitter.
inline void expect_tree(unsigned count, bool repeats, unsigned max, unsigned buckets,
                        unsigned step) {
  std::vector<unsigned> candidates = tests::count_up<unsigned>(count);
  if (repeats) candidates[count - 2] = candidates[count - 1];
  const auto on_device = tests::upload(candidates);
  const ramify::device_buffer<unsigned> tree(1024, nullptr);
  const ramify::device_buffer<splitter_tree> shape(1, nullptr);
  ramify::check(ramify::launch(build_tree, {1, tree_threads}, nullptr, tree.data(), shape.data(),
                               on_device.data(), count, max)
                    .code(),
                "building a splitter tree");
  const splitter_tree built = tests::download(shape)[0];
  std::vector<unsigned> splitters;
  list_in_order(tests::download(tree), 1, (std::size_t{1} << built.levels) - 1, splitters);
  BOOST_TEST_CONTEXT(count << " candidates, at most " << max << " buckets") {
    BOOST_TEST((built.equality != 0) == (repeats || count == 1));
    BOOST_TEST(splitters.size() * (built.equality + 1) + 1 == buckets);
    const std::size_t used = count / step;
    for (std::size_t i = 0; i < splitters.size(); ++i) {
      BOOST_TEST(splitters[i] == candidates[step * (std::min(i, used - 1) + 1) - 1]);
    }
  }
}

}  // namespace tests

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_AUTO_TEST_CASE(equal_candidates_limit_the_buckets) {
  tests::expect_tree(1, false, 256, 3, 1);  // a single splitter has an equality bucket
  tests::expect_tree(2, false, 256, 4, 1);
  tests::expect_tree(2, true, 256, 7, 1);
  tests::expect_tree(127, true, 256, 255, 1);
  tests::expect_tree(199, false, 256, 256, 1);
  tests::expect_tree(199, true, 256, 255, 2);
  tests::expect_tree(255, true, 256, 255, 2);
  tests::expect_tree(511, false, 256, 512, 1);
  tests::expect_tree(511, true, 256, 255, 4);  // a root of 512 buckets whose keys repeat
  tests::expect_tree(511, true, 1024, 1023, 1);
  tests::expect_tree(1023, true, 1024, 1023, 2);
}

BOOST_AUTO_TEST_SUITE_END()
