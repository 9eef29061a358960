// SPDX-License-Identifier: BSD-3-Clause
// Calls with types that do not meet the requirements. check.sh compiles this file: each comment
// after a call is the sentence of the compiler's error.
#include <ramify/amr.cuh>
#include <ramify/branch_and_bound.cuh>
#include <ramify/fork_join.cuh>
#include <ramify/graph.cuh>
#include <ramify/quadrature.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree.cuh>
#include <ramify/runtime/run_recursion.cuh>
#include <ramify/segmented_sort.cuh>
#include <ramify/spatial_tree/query.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <ramify/traverse.cuh>
#include <string>

using namespace ramify;

namespace {

struct not_plain {
  not_plain(const not_plain&) {}
};
struct no_less {
  int key;
};
struct returns_text {
  __device__ std::string operator()(int, int) const;
};
struct not_const {
  __device__ bool operator()(int, int);
};
struct has_text {
  std::string text;
  __device__ bool operator()(int, int) const;
};
struct has_child {
  __device__ unsigned child(unsigned, unsigned) const { return 0; }
};
struct has_degree {
  __device__ unsigned degree(unsigned) const { return 0; }
};
struct splits : has_child, has_degree {};
struct has_leaf : splits {
  __device__ float leaf(unsigned) const { return 0; }
};
struct wide_product : splits {
  __device__ int leaf(unsigned) const { return 1; }
  __device__ std::int64_t combine(unsigned, const int* parts, unsigned) const { return parts[0]; }
};
struct has_bound : splits {
  __device__ std::int64_t bound(unsigned) const { return 0; }
};
struct one {
  __device__ unsigned operator()(unsigned, unsigned) const { return 1; }
};
struct has_places {
  float* values;
  __device__ float of_point(std::uint32_t) const { return 0; }
  __device__ float& at(std::uint32_t i) const { return values[i]; }
};
struct nothing {};
struct with_text {
  std::string text;
  __device__ unsigned operator()(unsigned, unsigned) const { return 1; }
};
struct wide_sums : has_places {
  __device__ double combine(float a, float b) const { return double{a} + b; }
};
struct wide_end {
  __device__ visited<std::int64_t> operator()(unsigned, unsigned) const { return {1, true}; }
};
struct wide_sum {
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};
struct real_value : has_bound {
  __device__ double value(unsigned) const { return 0; }
};
struct real_bound : real_value {
  __device__ double bound(unsigned) const { return 0; }
  __device__ std::int64_t value(unsigned) const { return 0; }
};
struct has_tag {
  struct state {};
  struct visit : all_edges {};
  using step = graph_step<visit>;
};
struct no_tag : has_tag {
  using step = graph_step<nothing>;
};
struct returns_count : has_tag {
  __device__ int operator()(visit, state&, graph_edge) const { return 1; }
};
struct no_next : has_tag {
  __device__ void operator()(visit, state&, graph_edge) const {}
};
struct repeats : has_tag {
  struct visit : all_edges, distinct_targets {};
  using step = graph_step<visit>;
  __device__ void operator()(visit, state&, graph_edge) const {}
  __device__ step next(state&, const graph_round<step>&) const { return step::done(); }
};
using gas = euler<double, 2>;
struct without_flux : gas {
  void flux() const;
};
struct other_source : gas {
  __device__ values source(const values&) const;
};
struct without_components : gas {
  static constexpr int first_magnetic = 1;
  static constexpr int psi = 4;
};
struct without_psi : gas {
  static constexpr int first_magnetic = 1;
  static constexpr int velocity_components = 3;
};
struct not_for_kernels : gas {
  explicit not_for_kernels(int) {}
};

struct says_yes {
  __device__ bool operator()(const spatial_match<float>&) const { return true; }
};
struct without_state {
  __device__ int begin(std::uint32_t) const { return 0; }
  __device__ void operator()(const spatial_match<float>&) const {}
};
struct no_state_to_keep {
  __device__ void begin(std::uint32_t) const {}
  __device__ void operator()(const spatial_match<float>&) const {}
};
struct ignores {
  __device__ void operator()(const spatial_match<float>&) const {}
};

struct much {
  int words[50];
};
__global__ void use_much(much) {}
__global__ void call_from_a_kernel(int* keys, kernel_environment<quicksort_calls<int>> calls) {
  (void)quicksort(keys, 2, descending{}, calls);  // the kernel_environment has no plan for this
  (void)calls.then(use_much, {1, 1}, much{});     // a continuation have more than 192 bytes
}

}  // namespace

void call(quadrature_estimate* no_estimates, const unsigned* no_roots, const float* const_keys,
          not_plain* no_keys, no_less* unordered, int* keys, float* values) {
  quicksort(const_keys, 1);                     // the keys are const, but are sorted in place
  quicksort_pairs(keys, const_keys, 1);         // the values are const, but move with the keys
  quicksort(no_keys, 1, one{});                 // keys must be trivially copyable and
  quicksort(unordered, 1);                      // keys of this type have no operator<
  quicksort(keys, 1, returns_text{});           // the comparator must have bool operator()
  quicksort_async(keys, 1, not_const{}).get();  // the comparator must have bool operator()
  quicksort(keys, 1, has_text{});               // the comparator must be trivially copyable
  segmented_sort(keys, 1, keys, keys, 1, has_text{});  // the comparator must be trivially copyable
  traverse(1u, has_child{}, one{}, one{}, 0u);         // Expand needs unsigned degree(Node) const
  traverse(1u, has_degree{}, one{}, one{}, 0u);    // Expand needs Node child(Node, unsigned) const
  traverse(1u, splits{}, nothing{}, one{}, 0u);    // Visit needs Value operator()(Node, unsigned
  traverse(1u, splits{}, one{}, nothing{}, 0u);    // Reduce needs Value operator()(Value, Value)
  traverse(1u, splits{}, with_text{}, one{}, 0u);  // Expand, Visit and Reduce must be trivially
  traverse(1u, splits{}, one{}, one{}, short{0});  // cannot hold the results of visit()
  traverse(1u, splits{}, one{}, wide_sum{}, 0u);   // cannot hold the results of reduce()
  traverse(1u, splits{}, wide_end{}, one{}, 0);    // cannot hold the results of visit()
  traverse(1u, splits{}, one{}, one{}, false);     // cannot hold the results of visit()
  traverse(tree_roots(no_roots, 1), splits{}, one{}, one{}, short{0});  // the results of visit()
  run_recursion(1u, nothing{});        // Context needs static auto kernel(), which returns
  fork_join(1u, splits{});             // fork_join: Problem needs Value leaf(Node) const
  fork_join(1u, has_leaf{});           // fork_join: Problem needs Value combine(Node,
  fork_join(1u, wide_product{});       // fork_join: the type that leaf() returns decides
  branch_and_bound(1u, has_bound{});   // Problem needs std::int64_t value(Node) const
  branch_and_bound(1u, has_child{});   // Problem needs unsigned degree(Node) const
  branch_and_bound(1u, real_value{});  // value() must return a whole number
  branch_and_bound(1u, real_bound{});  // bound() must return a whole number
  quadrature(quadrature_box<1>{{0}, {1}}, nothing{}, values, 1, no_estimates);  // of a batch needs
  quadrature(quadrature_box<1>{{0}, {1}}, nothing{});   // the integrand needs double operator()
  make_tree_folds(keys, wide_sum{}, nullptr, nullptr);  // the type of values decides the type of
  const auto folds = make_tree_folds(values, nothing{}, values, values);
  rooted_tree(tree_shape::of_parents({}), {}, folds);  // the operator needs T operator()
  const spatial_tree_view<float, 3> tree{};
  reduce_bottom_up(tree, nothing{}, nullptr);     // Fold needs Value of_point(std::uint32_t)
  reduce_bottom_up(tree, has_places{}, nullptr);  // Fold needs Value combine(Value, Value) const
  reduce_bottom_up(tree, wide_sums{}, nullptr);   // decides the type of the sums, which must hold
  const pairs_within pairs{1};
  query(tree, pairs, nothing{});        // the callback needs operator()(const spatial_match<Real>&)
  query(tree, pairs, without_state{});  // has begin(), operator()(State&, const spatial_match<Real>
  query(tree, pairs, says_yes{});       // must return nothing or a query_control
  query(tree, pairs, no_state_to_keep{});  // must name the type that it returns
  query(tree, pairs, with_text{});         // query: the callback must be trivially copyable
  query(tree, 5, ignores{});               // must be one of the predicates of predicates.cuh
  query(tree, in_boxes<double, 3>(nullptr, 0), ignores{});  // must have the type of coordinates
  const graph_view graph;
  graph_rounds(graph, nothing{});        // the algorithm needs the types state and step
  graph_rounds(graph, no_tag{});         // step must be a graph_step of tags
  graph_rounds(graph, returns_count{});  // each operator needs bool or void operator()
  graph_rounds(graph, no_next{});        // the algorithm needs step next(state&
  graph_rounds(graph, repeats{});        // distinct_targets is for tags of operators over edges
  const gradient_criterion<gas> criterion;
  using buffered = with_buffer<gradient_criterion<gas>, 2>;
  (void)any_criterion<gas>(limited_criterion{buffered{criterion}, 0.1});  // has buffer cells
  const sod<double, 2> tube;
  amr_run(gas{}, criterion, nothing{}, amr_options{});  // the initial state needs values operator()
  amr_run(gas{}, nothing{}, tube, amr_options{});       // the criterion needs real operator()(const
  amr_run(without_flux{}, criterion, tube, amr_options{});  // Physics needs values flux(values
  amr_run(other_source{}, criterion, tube, amr_options{});  // values source(values, const real
  amr_run(without_components{}, criterion, tube, amr_options{});  // velocity_components, at least
  amr_run(without_psi{}, criterion, tube, amr_options{});         // constexpr int psi, which is
  amr_run(nothing{}, criterion, tube, amr_options{});             // Physics needs the type real
  amr_run(not_for_kernels(1), criterion, tube, amr_options{});    // have a default constructor,
}
