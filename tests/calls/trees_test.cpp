// SPDX-License-Identifier: BSD-3-Clause
// Traversals and recursions that kernels call: trees of all shapes, many calls at small limits,
// trees that exceed the memory, refused calls, launches that fail, schedules, and a pipeline.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/fork_join.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/traverse.cuh>

#include "printing.hpp"
#include "value_calls.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

BOOST_AUTO_TEST_SUITE(calls_of_trees)

namespace {

/// The shapes of trees: the halves of a number; a path; a node with many leaves; a binary tree
/// without an end.
enum class shape : unsigned { halves, path, star, endless };
struct node {
  shape kind;
  unsigned n;
};
struct shape_of_tree {
  __device__ unsigned degree(const node& p) const {
    switch (p.kind) {
      case shape::halves: return p.n < 2 ? 0 : 2;
      case shape::path: return p.n == 0 ? 0 : 1;
      case shape::star: return p.n;
      case shape::endless: return 2;
    }
    return 0;
  }
  __device__ node child(const node& p, unsigned i) const {
    switch (p.kind) {
      case shape::halves: return {p.kind, (p.n + i) / 2};
      case shape::path: return {p.kind, p.n - 1};
      case shape::star: return {p.kind, 0};
      case shape::endless: return {p.kind, p.n + 1};
    }
    return p;
  }
};
struct count_one {
  __device__ unsigned long long operator()(const node&, unsigned) const { return 1; }
};
struct add {
  __device__ unsigned long long operator()(unsigned long long a, unsigned long long b) const {
    return a + b;
  }
};
using traversals = traverse_calls<node, shape_of_tree, count_one, add, unsigned long long>;

/// Returns the number of nodes.
unsigned long long size_of(const node& root) {
  return root.kind == shape::halves ? 2ull * root.n - 1 : root.n + 1ull;
}

/// A call of traverse(), which counts the nodes.
struct traversal_work {
  using result_type = called_value<unsigned long long>;
  node root;

  template <class Environment>
  __device__ call_status call(result_type* result, const Environment& calls) const {
    return traverse(root, shape_of_tree{}, count_one{}, add{}, 0ull, result, calls);
  }
  [[nodiscard]] bool expects(const result_type& found) const {
    if (root.kind == shape::endless) return !found.is_complete;
    return found.is_complete && found.value == size_of(root);
  }
};

/// Ends the traversal at a node with this number. Each path from a root with a smaller one has it.
struct end_at {
  unsigned last;
  __device__ visited<unsigned> operator()(const node& p, unsigned) const {
    return {p.n == last ? 1u : 0u, p.n == last};
  }
};
struct either {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
using endings = traverse_calls<tree_roots<node>, shape_of_tree, end_at, either, unsigned>;

/// A call of traverse() with endless trees, which a visit ends.
struct ending_work {
  using result_type = called_value<unsigned>;
  tree_roots<node> roots;
  unsigned last;

  template <class Environment>
  __device__ call_status call(result_type* result, const Environment& calls) const {
    return traverse(roots, shape_of_tree{}, end_at{last}, either{}, 0u, result, calls);
  }
  [[nodiscard]] bool expects(const result_type& found) const {
    return found.is_complete && found.value == 1;
  }
};

/// Combines the results of children, whose order matters.
struct hash_of_tree : shape_of_tree {
  __device__ unsigned long long leaf(const node& p) const { return p.n + 7; }
  __device__ unsigned long long combine(const node& p, const unsigned long long* results,
                                        unsigned count) const {
    unsigned long long value = p.n;
    for (unsigned i = 0; i < count; ++i) value = value * 31 + results[i];
    return value;
  }
};
using recursions = fork_join_calls<node, hash_of_tree>;
constexpr std::size_t max_nodes = 10'000;

/// A call of fork_join(), and what the host finds.
struct recursion_work {
  using result_type = called_value<unsigned long long>;
  node root;
  unsigned long long expected;

  template <class Environment>
  __device__ call_status call(result_type* result, const Environment& calls) const {
    return fork_join(root, hash_of_tree{}, result, calls);
  }
  [[nodiscard]] bool expects(const result_type& found) const {
    if (root.kind == shape::endless || size_of(root) > max_nodes) return !found.is_complete;
    return found.is_complete && found.value == expected;
  }
};

/// The last one exceeds the memory of every plan.
const std::vector<node> some_trees{
    {shape::halves, 1},     {shape::halves, 20}, {shape::path, 300},     {shape::star, 3'000},
    {shape::halves, 4'000}, {shape::halves, 3},  {shape::halves, 1'000}, {shape::endless, 1}};

/// Returns calls for some trees in turn. If there are many calls, all are complete.
template <class Work>
std::vector<Work> mixed_works(std::size_t count) {
  const std::size_t kinds = count <= some_trees.size() ? some_trees.size() : some_trees.size() - 1;
  std::vector<Work> all;
  for (std::size_t i = 0; i < count; ++i) {
    const node& root = some_trees[i % kinds];
    if constexpr (std::is_same_v<Work, recursion_work>) {
      const bool ends = root.kind != shape::endless;
      all.push_back({root, i >= kinds ? all[i - kinds].expected
                           : ends     ? fork_join(root, hash_of_tree{}).value
                                      : 0});
    } else {
      all.push_back({root});
    }
  }
  return all;
}

template <class Work>
auto make_arena() {
  constexpr call_arena_options options{.chunks = 3, .kept_calls = 1'000};
  if constexpr (std::is_same_v<Work, recursion_work>) {
    return call_arena(recursions(max_nodes, 2), options);
  } else {
    return call_arena(traversals(2), options);
  }
}

template <class Work>
void expect_all_results(unsigned count, std::size_t limit, bool continues) {
  static int piece = 0;
  if (left_out(piece, 5)) return;
  const launch_limits limits({.pending_launches = limit});
  {
    auto arena = make_arena<Work>();
    const call_report report =
        expect_values(arena, mixed_works<Work>(count), {.continues = continues});
    BOOST_TEST(report.refused == 0u);
    if (count == 50) BOOST_TEST(report.kept > 0u);  // there are more calls than chunks
  }
  BOOST_TEST(slots_in_use() == 0u);
}

const auto counts_and_limits =
    data::make({1, 8, 50}) * data::make({32, 128, 2048}) * data::make({false, true});

}  // namespace

BOOST_DATA_TEST_CASE(traversals_visit_all_nodes, counts_and_limits, count, limit, continues) {
  expect_all_results<traversal_work>(unsigned(count), std::size_t(limit), continues);
}

BOOST_DATA_TEST_CASE(recursions_return_what_the_host_finds, counts_and_limits, count, limit,
                     continues) {
  expect_all_results<recursion_work>(unsigned(count), std::size_t(limit), continues);
}

BOOST_DATA_TEST_CASE(a_visit_ends_a_call_with_several_roots,
                     data::make({2, 50}) * data::make({32, 2048}), count, limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const auto roots = upload(std::vector<node>{{shape::endless, 1}, {shape::endless, 5}});
  // The ends are so near to the roots that the memory suffices in any order of the visits.
  std::vector<ending_work> works(std::size_t(count), {{roots.data(), 2}, 12});
  works[1].last = 1;  // at a root
  {
    call_arena arena(endings(2), {.chunks = 3, .kept_calls = 1'000});
    BOOST_TEST(expect_values(arena, works).refused == 0u);
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(a_call_has_any_number_of_blocks, data::make({1, 3, 40}), blocks) {
  call_arena arena(traversals(unsigned(blocks)), {.chunks = 1});
  const std::vector<traversal_work> works{{{shape::halves, 100'000}}};
  BOOST_TEST(expect_values(arena, works).started == 1u);
  BOOST_CHECK_THROW(traversals(0), std::invalid_argument);
  BOOST_CHECK_THROW(traversals(1'025), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_tree_of_more_nodes_than_planned_is_not_complete) {
  call_arena arena(recursions{max_nodes});
  const std::vector<recursion_work> works{
      {{shape::halves, max_nodes / 2 + 1}, 0},
      {{shape::star, max_nodes}, 0},
      {{shape::halves, 1'000}, fork_join(node{shape::halves, 1'000}, hash_of_tree{}).value}};
  BOOST_TEST(expect_values(arena, works).refused == 0u);
  BOOST_CHECK_THROW(recursions(0), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(calls_without_a_chunk_may_be_refused) {
  const launch_limits limits({.pending_launches = 128});
  auto arena = make_arena<traversal_work>();
  const call_report report =
      expect_values(arena, mixed_works<traversal_work>(100), {.refuses = true});
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.kept == 0u);
  BOOST_TEST(report.started > 0u);
}

BOOST_AUTO_TEST_CASE(no_tree_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_no_call_lost(mixed_works<traversal_work>(5), make_arena<traversal_work>);
  expect_no_call_lost(mixed_works<recursion_work>(5), make_arena<recursion_work>);
}

BOOST_AUTO_TEST_CASE(every_schedule_visits_all_nodes,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_in_every_schedule(mixed_works<traversal_work>(5), make_arena<traversal_work>);
  expect_in_every_schedule(mixed_works<recursion_work>(5), make_arena<recursion_work>);
}

// ---- a pipeline of a traversal, a recursion and a sort ------------------------------------------

namespace {

using sorts = quicksort_calls<unsigned>;
using all_three = call_plans<traversals, sorts, recursions>;
using value = called_value<unsigned long long>;

struct pipeline {
  unsigned n;
  value* count;  ///< of nodes
  value* hash;
  unsigned* keys;
  unsigned* done;  ///< pipelines that are complete and right; refused calls
};
__device__ void expect_accepted(const pipeline& p, call_status status) {
  if (status == call_status::refused) atomicAdd(p.done + 1, 1u);
}
__global__ void check_keys(pipeline p) {
  bool right = p.count->is_complete && p.count->value == 2ull * p.n - 1 && p.hash->is_complete;
  for (unsigned i = 0; i < p.n; ++i) right = right && p.keys[i] == i;
  if (right) atomicAdd(p.done, 1u);
}
/// Writes keys in the opposite order, and sorts them.
__global__ void sort_keys(pipeline p, kernel_environment<all_three> calls) {
  const traced here(calls.trace, __func__);
  for (unsigned i = 0; i < p.n; ++i) p.keys[i] = p.n - 1 - i;
  expect_accepted(p, quicksort(p.keys, p.n, ascending{}, calls.then(check_keys, {1, 1}, p)));
}
__global__ void compute_hash(pipeline p, kernel_environment<all_three> calls) {
  const traced here(calls.trace, __func__);
  expect_accepted(p, fork_join(node{shape::halves, p.n}, hash_of_tree{}, p.hash,
                               calls.then(sort_keys, {1, 1}, p, calls)));
}
__global__ void begin_pipelines(pipeline first, unsigned count,
                                kernel_environment<all_three> calls) {
  const traced here(calls.trace, __func__);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const pipeline p{first.n, first.count + i, first.hash + i, first.keys + i * first.n,
                     first.done};
    expect_accepted(p, traverse(node{shape::halves, p.n}, shape_of_tree{}, count_one{}, add{}, 0ull,
                                p.count, calls.then(compute_hash, {1, 1}, p, calls)));
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(trees_and_sorts_share_an_arena,
                     data::make({32, 128, 2048}) *
                         data::make({20, 4'000, RAMIFY_ON_CUDA ? 30'000 : 5'000}),
                     limit, n) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  constexpr unsigned count = 20;
  const auto length = static_cast<unsigned>(n);
  const device_buffer<unsigned> keys(std::size_t{count} * length, nullptr);
  const auto values = zeros<value>(2 * count);
  const auto done = zeros<unsigned>(2);
  call_arena arena(call_plans{traversals(2), sorts(length), recursions(2 * length, 2)},
                   {.chunks = 4});
  check(launch(begin_pipelines, {1, 32}, nullptr,
               pipeline{length, values.data(), values.data() + count, keys.data(), done.data()},
               count, arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  BOOST_TEST(download(done)[0] == count);
  BOOST_TEST(download(done)[1] == 0u);
  BOOST_TEST(arena.get().refused == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
