// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Batches of searches: traversals of all trees at once, with an incumbent for each tree.
///
///     1. begin_searches    a node for each root, with the number of its search; no solutions yet
///     2. traverse()        visits all trees; a node is compared with the incumbent of its search
///     3. traverse()        once more, for the path of each first best leaf: an incumbent has only
///                          the first bits of it. The incumbents are the best values now, so this
///                          traversal visits few nodes
///     4. write_solutions   follows the path of each search
///
/// Join: the host waits for each traversal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/branch_and_bound/finish.cuh>
#include <ramify/branch_and_bound/search_tree.cuh>
#include <ramify/runtime/detail/any_memory.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <ramify/traverse.cuh>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// The result of one search of a batch.
template <class Node>
struct branch_and_bound_solution {
  bool found = false;                ///< whether a leaf has a value of at most range.upper
  std::int64_t value = no_solution;  ///< the smallest value
  Node solution{};                   ///< the first leaf, depth first, with this value
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// Writes the first nodes, and the incumbents, of which the last one is for sums over all searches.
/// Launched with the shape of shape_over(roots.count).
template <class Node>
__global__ void begin_searches(tree_roots<Node> roots, batch_node<Node>* nodes,
                               shared_incumbent* incumbents, trace_ticket trace) {
  const traced here(trace, __func__);
  shared_incumbent none{};
  none.code = none.open = none.path = ~bits64{0};
  runtime::for_each_item(roots.count.get(), [&](auto i) {
    nodes[i] = {roots.nodes[i], path_range::all(), static_cast<unsigned>(i)};
    incumbents[i] = none;
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) incumbents[roots.count.upper_bound] = none;
}

/// The functor that visits a node once more, with the best incumbents. Returns 1 for a best leaf
/// whose path has the same first bits as that of the first one.
template <class Node, class Problem>
struct find_first : search<Problem> {
  __device__ bits64 operator()(const batch_node<Node>& n, unsigned degree) const {
    if (degree > 0 || this->problem.degree(n.node) > 0) return 0;
    const std::int64_t value = this->problem.value(n.node);
    shared_incumbent& best = *this->incumbent_of(n);
    if (value > this->packing.upper) return 0;
    if (this->packing.code(value, n.paths.first) != best.code) return 0;
    atomicMin(&best.path, n.paths.first);
    return 1;
  }
};

/// The reduction of this traversal.
struct add_numbers {
  [[nodiscard]] __device__ bits64 operator()(bits64 a, bits64 b) const { return a + b; }
};

/// Writes the solutions, and adds the counts of the incumbents to the last one. Launched with the
/// shape of shape_over(roots.count).
template <class Node, class Problem>
__global__ void write_solutions(tree_roots<Node> roots, Problem problem, incumbent_packing packing,
                                shared_incumbent* incumbents,
                                branch_and_bound_solution<Node>* solutions, trace_ticket trace) {
  const traced here(trace, __func__);
  shared_incumbent& all = incumbents[roots.count.upper_bound];
  runtime::for_each_item(roots.count.get(), [&](auto i) {
    const shared_incumbent& mine = incumbents[i];
    atomicAdd(&all.updates, mine.updates);
    if (mine.too_deep != 0) atomicAdd(&all.too_deep, mine.too_deep);
    branch_and_bound_solution<Node> best;
    if (mine.path != ~bits64{0}) {
      best.found = true;
      best.value = packing.value(mine.code);
      best.solution = leaf_at(roots.nodes[i], problem, mine.path);
    }
    solutions[i] = best;
  });
}

/// The scratch memory of a batch of n searches.
template <class Node>
struct batch_memory {
  batch_memory(memory_layout& layout, std::size_t n, std::size_t traversal_bytes)
      : incumbents(layout.take<shared_incumbent>(n + 1)),
        nodes(layout.take<batch_node<Node>>(n)),
        solutions(layout.take<branch_and_bound_solution<Node>>(n)),
        of_tree(layout.take_scratch(traversal_bytes)) {}

  shared_incumbent* incumbents;
  batch_node<Node>* nodes;
  branch_and_bound_solution<Node>* solutions;
  memory_ref of_tree;  ///< of one traversal after the other
};

/// A batch of searches that has started.
template <class Node, class Problem>
class batch_run final : public memory_run<branch_and_bound_report, batch_memory<Node>> {
  using base = memory_run<branch_and_bound_report, batch_memory<Node>>;
  using visited = batch_node<Node>;
  using expand = expand_node<Node, Problem, visited>;
  using visit = visit_node<Node, Problem, visited>;
  using visit_again = find_first<Node, Problem>;
  using solution = branch_and_bound_solution<Node>;

 public:
  /// \param copy  owns the roots if they are a copy, or null
  batch_run(const run_setup& setup, const tree_roots<Node>& roots, const Problem& problem,
            const value_range& range, const branch_and_bound_options& options, solution* solutions,
            std::shared_ptr<const void>&& copy)
      : base(setup, roots.count.upper_bound, traversal_bytes(options)),
        roots_(roots),
        copy_(std::move(copy)),
        range_(range),
        options_(options),
        solutions_(solutions),
        search_{problem, incumbent_packing(range), device_limits(options.limits),
                this->parts.incumbents},
        recorder_(setup.trace, setup.stream),
        first_(start()) {}

  /// Returns the device memory that a batch of n searches needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n,
                                                 const branch_and_bound_options& options) {
    return base::scratch_bytes(n, traversal_bytes(options));
  }

 private:
  using roots_of_tree = tree_roots<visited>;

  [[nodiscard]] static std::size_t traversal_bytes(const traverse_options& options) {
    return std::max(
        traverse_scratch_bytes<roots_of_tree, expand, visit, better_leaf, search_total>(options),
        traverse_scratch_bytes<roots_of_tree, expand, visit_again, add_numbers, bits64>(options));
  }
  [[nodiscard]] roots_of_tree nodes() const {
    roots_of_tree all(this->parts.nodes, roots_.count.upper_bound);
    all.count = roots_.count;
    return all;
  }

  /// Starts the first traversal.
  async_run<traverse_result<search_total>> start() {
    runtime::launch_each(begin_searches<Node>, roots_.count, this->choices.stream,
                         "beginning a batch", roots_, this->parts.nodes, this->parts.incumbents,
                         recorder_.ticket());
    return traverse_async(nodes(), expand{search_}, visit{search_}, better_leaf{},
                          search_total::none(), options_,
                          this->choices.of_part(this->parts.of_tree));
  }

  branch_and_bound_report finish() override {
    const cudaStream_t stream = this->choices.stream;
    const std::size_t n = read_number(this->choices.algorithm, roots_.count, stream);
    if (!found_) found_ = first_.get();
    branch_and_bound_report report;
    static_cast<traverse_report&>(report) = found_->report;
    const auto again =
        ramify::traverse(nodes(), expand{search_}, visit_again{search_}, add_numbers{}, bits64{0},
                         options_, this->choices.of_part(this->parts.of_tree));
    add_part(report, again.report);
    runtime::launch_each(write_solutions<Node, Problem>, roots_.count, stream,
                         "writing the solutions", roots_, search_.problem, search_.packing,
                         this->parts.incumbents, this->parts.solutions, recorder_.ticket());
    const shared_incumbent all = read_back(this->parts.incumbents + roots_.count.upper_bound,
                                           stream, "reading the counts of a batch");
    recorder_.read();
    report.host_grids += 2;  // begin_searches and write_solutions
    report.scratch_bytes = this->memory.scratch.size();
    report.expanded = found_->value.expanded;
    report.pruned = found_->value.pruned;
    report.leaves = found_->value.leaves;
    report.incumbent_updates = all.updates;
    check_leaves(found_->value, all, range_);
    copy_results(solutions_, this->parts.solutions, n, stream, "copying the solutions");
    return report;
  }

  tree_roots<Node> roots_;
  std::shared_ptr<const void> copy_;
  value_range range_;
  branch_and_bound_options options_;
  solution* solutions_;
  search<Problem> search_;
  trace_recorder recorder_;  // records the grids of this class
  async_run<traverse_result<search_total>> first_;
  // Kept, because get() may be called again after it has thrown.
  std::optional<traverse_result<search_total>> found_;
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
