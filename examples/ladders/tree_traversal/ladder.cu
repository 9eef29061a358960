// SPDX-License-Identifier: BSD-3-Clause
// A ladder: nine programs count the nodes of an unbalanced tree, from one grid per node to the
// library's traversal.
//
//     ladder_tree_traversal --n 100000                            # checks and times the rungs
//     ladder_tree_traversal --rung 4 --n 4096 --trace four.html   # draws the launches of one rung
#include "../ladder.hpp"

#include <chrono>

#include "1_grid_per_node.cuh"
#include "2_grid_for_children.cuh"
#include "3_threshold.cuh"
#include "4_grid_per_block.cuh"
#include "5_grid_per_level.cuh"
#include "6_flat.cuh"
#include "7_rounds.cuh"
#include "8_persistent_blocks.cuh"
#include "9_library.cuh"

namespace {

using namespace ramify;

class counting {
 public:
  using rung_function = std::uint64_t (*)(const ladder::node&, ladder::ladder_run&);

  counting(std::size_t about, cudaStream_t stream) : counting(ladder::root_of(about), stream) {}
  counting(const ladder::node& root, cudaStream_t stream)
      : root_(root), nodes_(ladder::count_on_host(root)), memory_(nodes_, stream) {}

  [[nodiscard]] std::size_t size() const { return nodes_; }

  ladder::run_result run(rung_function count_nodes, cudaStream_t stream, launch_trace* trace) {
    ladder::ladder_run run(memory_, stream, trace);
    host_event begin;
    host_event end;
    begin.record(stream);
    const std::uint64_t counted = count_nodes(root_, run);
    end.record(stream);
    const ladder::run_result result{run.finish(), end.milliseconds_since(begin)};
    if (counted != nodes_) {
      throw std::runtime_error("counted " + std::to_string(counted) + " nodes of " +
                               std::to_string(nodes_));
    }
    return result;
  }

  double run_baseline() {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t counted = ladder::count_on_host(root_);
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - begin;
    if (counted != nodes_) throw std::logic_error("the tree is not the same in each run");
    return passed.count();
  }

 private:
  ladder::node root_;
  std::uint64_t nodes_;
  ladder::tree_memory memory_;
};

constexpr bool gpu = RAMIFY_ON_CUDA != 0;
constexpr std::size_t any = std::size_t{1} << 31;

const ladder::ladder_description<counting> tree_traversals{
    "tree_traversal",
    "nodes",
    "a plain loop with a stack, on one core of the host",
    {{"unbalanced", 1 << 16, gpu ? 1 << 26 : 1 << 20}},
    1 << 18,  // one grid per node of the small tree, with half of the pool
    {
        {"1 grid per node", "a launch for each call of the recursion", 1 << 18,
         ladder::rung_1::count_nodes},
        {"2 grid for children", "siblings share a grid; leaves need none", 1 << 19,
         ladder::rung_2::count_nodes},
        {"3 threshold", "a thread counts a small subtree in place", 1 << 22,
         ladder::rung_3::count_nodes},
        {"4 grid per block", "the children that a block finds become one grid", any,
         ladder::rung_4::count_nodes},
        {"5 grid per level", "the children that a grid finds become one grid", any,
         ladder::rung_5::count_nodes},
        {"6 flat", "the host launches the levels", any, ladder::rung_6::count_nodes},
        {"7 rounds",
         "depth first in shared memory; when many blocks are idle, the next grid shares all work",
         any, ladder::rung_7::count_nodes},
        {"8 persistent blocks",
         "no rounds: one grid, and a queue for work that is too much for a block", any,
         ladder::rung_8::count_nodes},
        {"9 the library", "each warp traverses: `ramify::traverse`, device route", any,
         ladder::rung_9::count_nodes},
    }};

void expect(bool condition, const ladder::rung<counting>& rung, const std::string& what) {
  if (!condition) throw std::logic_error("rung '" + std::string(rung.name) + "': " + what);
}

/// Checks that the rungs launch what their head comments state, with enough slots.
void check_launches(cudaStream_t stream) {
  const launch_limits scope({.pending_launches = 1 << 14});
  counting problem(2048, stream);
  std::vector<run_report> of;
  for (const auto& r : tree_traversals.rungs) {
    of.push_back(ladder::run_once(problem, r, stream).report);
    expect(of.back().spilled_tasks == 0, r, "a task got no slot");
  }
  const auto grids = [&](int rung) { return of[rung - 1].host_grids + of[rung - 1].child_grids; };
  const auto is_chain = [&](int rung) {
    return of[rung - 1].host_grids == 1 && of[rung - 1].child_grids == of[rung - 1].deepest_level;
  };
  const auto& rungs = tree_traversals.rungs;
  expect(grids(1) == problem.size(), rungs[0], "not one grid per node");
  expect(2 * grids(2) < grids(1), rungs[1], "more grids than half of the nodes");
  expect(8 * grids(3) < grids(2), rungs[2], "too many grids");
  expect(grids(4) < grids(3), rungs[3], "not fewer grids than in rung 3");
  expect(is_chain(5), rungs[4], "not a chain");
  expect(grids(6) == grids(5) && of[5].child_grids == 0, rungs[5], "not one grid per level");
  expect(is_chain(7), rungs[6], "not a chain");
  expect(grids(8) == 1, rungs[7], "not one grid");
  std::cout << "the launches for " << problem.size() << " nodes are as expected\n";
}

/// Checks all rungs on trees of all sizes, also with few launch slots or none.
void check_rungs() {
  const host_stream stream;
  check_launches(stream.get());
  std::vector<std::size_t> limits{16'384, 300, 32};
  if (!gpu) limits.push_back(1);  // a quota of 0; no GPU grants such a small limit
  for (std::size_t i = 0; i < tree_traversals.rungs.size(); ++i) {
    const auto& r = tree_traversals.rungs[i];
    std::size_t trees = 0;
    std::uint64_t grids = 0;
    std::uint64_t waited = 0;
    for (const std::size_t limit : limits) {
      const launch_limits scope({.pending_launches = limit});
      const std::uint64_t grids_before = grids;
      const std::uint64_t waited_before = waited;
      const auto count = [&](const ladder::node& root) {
        counting problem(root, stream.get());
        const run_report report = ladder::run_once(problem, r, stream.get()).report;
        ++trees;
        grids += report.child_grids;
        waited += report.spilled_tasks;
      };
      // Many small trees, also single roots; and more nodes than the co-resident blocks have
      // threads.
      for (std::uint32_t below = 0; below < 10; ++below) {
        for (std::uint32_t seed = 0; seed < 3; ++seed) {
          count({ladder::hash(3 * below + seed), below});
        }
      }
      count(ladder::root_of(5000));
      if (i >= 2) count(ladder::root_of(gpu ? 2'000'000 : 30'000));
      // Without a slot nothing is launched, and the reports of rungs that launch state it. (The
      // library takes the flat route.)
      const bool launches = i < 5 || i == 6;
      if (limit == 1) expect(grids == grids_before, r, "a grid was launched without a slot");
      if (limit == 1 && launches)
        expect(waited > waited_before, r, "the report counts no task without a slot");
    }
    std::cout << "rung " << r.name << ": " << trees << " trees counted; kernels launched " << grids
              << " grids; tasks without a slot: " << waited << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return ladder::run_program(argc, argv, tree_traversals, check_rungs);
}
