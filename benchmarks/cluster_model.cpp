// SPDX-License-Identifier: BSD-3-Clause
// The bytes that ranks send: counted by a communicator on the CPU executor, computed by a model,
// and computed for up to 1,024 ranks. An example for three ranks:
//   mpirun -n 3 --bind-to none benchmark_cluster_model
#include <algorithm>
#include <array>
#include <cstdint>
#include <ramify/amr/physics/problems.cuh>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_amr.cuh>
#include <ramify/distributed_sort.cuh>
#include <ramify/distributed_traverse.cuh>
#include <ramify/tree_search/uts.cuh>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace {

using namespace ramify;

constexpr std::size_t bytes_of_double = 8;

// ---- the sort -----------------------------------------------------------------------------------

/// The bytes of a sort of n random keys, from all ranks.
struct sort_bytes {
  double keys, samples;
};

sort_bytes model_of_sort(double n, double key_bytes, double ranks) {
  constexpr double samples_of_part = 20;  // see distributed_sort/parts.cuh
  return {n * key_bytes * (1 - 1 / ranks),
          samples_of_part * ranks * ranks * (ranks - 1) * key_bytes};
}

// ---- a uniform mesh -----------------------------------------------------------------------------

using gas = euler<double, 3>;
constexpr unsigned block_cells = default_block_cells<gas>;
constexpr unsigned layers = 2;  // of cells, which a stage of a step reads from a neighbor
constexpr unsigned stages = 2;
constexpr unsigned rates = 20;  // that a step reduces

/// The messages of a mesh of side^3 blocks, in all directions periodic, in Morton order.
struct mesh_messages {
  std::uint64_t faces = 0;      ///< faces of blocks to blocks of other ranks, from both sides
  std::uint64_t most = 0;       ///< of one rank
  std::uint64_t neighbors = 0;  ///< other ranks that a rank exchanges with, at most
};

std::uint64_t morton_code_of(const std::array<std::uint64_t, 3>& at) {
  std::uint64_t code = 0;
  for (unsigned bit = 0; bit < 20; ++bit) {
    for (unsigned axis = 0; axis < 3; ++axis) code |= (at[axis] >> bit & 1) << (3 * bit + axis);
  }
  return code;
}

/// `side` is a power of two.
mesh_messages model_of_mesh(std::uint64_t side, std::uint64_t ranks) {
  const std::uint64_t blocks = side * side * side;
  const auto owner_of = [&](const std::array<std::uint64_t, 3>& at) {
    return std::min(ranks - 1, (2 * morton_code_of(at) + 1) * ranks / (2 * blocks));
  };
  std::vector<std::uint64_t> faces(ranks, 0);
  std::vector<std::set<std::uint64_t>> neighbors(ranks);
  std::array<std::uint64_t, 3> at{};
  for (at[2] = 0; at[2] < side; ++at[2]) {
    for (at[1] = 0; at[1] < side; ++at[1]) {
      for (at[0] = 0; at[0] < side; ++at[0]) {
        for (unsigned axis = 0; axis < 3; ++axis) {
          auto next = at;
          next[axis] = (at[axis] + 1) % side;
          const std::uint64_t a = owner_of(at);
          const std::uint64_t b = owner_of(next);
          if (a == b) continue;
          for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
            ++faces[from];
            neighbors[from].insert(to);
          }
        }
      }
    }
  }
  mesh_messages all;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    all.faces += faces[rank];
    all.most = std::max(all.most, faces[rank]);
    all.neighbors = std::max<std::uint64_t>(all.neighbors, neighbors[rank].size());
  }
  return all;
}

constexpr double bytes_of_face = double{layers} * block_cells * block_cells * gas::variables *
                                 bytes_of_double;  // sent in a stage

// ---- a traversal --------------------------------------------------------------------------------

/// The bytes of a search of a tree, from all ranks. The numbers of comparisons and of moved nodes
/// depend on the tree and on timing.
double model_of_traversal(const distributed_traverse_report& report, double ranks) {
  namespace search = detail::tree_search;
  const double gathers = ranks * (ranks - 1);  // messages of a number from each rank to each other
  return gathers * double(report.comparisons * sizeof(std::uint64_t) + sizeof(uts_counts)) +
         double(report.moved_nodes * sizeof(detail::traverse::frontier_node<search::uts_node>)) +
         2 * ranks * sizeof(unsigned);  // the smallest capacity of a list, the most warps
}

// ---- counts -------------------------------------------------------------------------------------

struct comparison {
  std::string work;
  double counted, computed;  ///< bytes
};

/// Returns the bytes that all ranks send during `work`.
template <class Work>
double bytes_sent(communicator& ranks, const Work& work) {
  const std::uint64_t before = ranks.report().bytes_sent;
  work();
  return double(ranks.report().bytes_sent - before);
}

/// Returns what the reports themselves count.
double bytes_of_report(communicator& ranks) {
  return bytes_sent(ranks, [] {});
}

comparison count_sort(communicator& ranks) {
  constexpr std::uint64_t n = 1 << 20;  // for each rank
  device_buffer<std::uint32_t> keys(n, nullptr);
  std::uint64_t random = std::uint64_t(ranks.rank()) + 1;
  for (std::uint64_t i = 0; i < n; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    keys.data()[i] = static_cast<std::uint32_t>(random >> 32);
  }
  const double report = bytes_of_report(ranks);
  const double counted =
      bytes_sent(ranks, [&] { (void)distributed_sort(ranks, keys, ascending{}); }) - report;
  const sort_bytes model =
      model_of_sort(double(n) * ranks.size(), sizeof(std::uint32_t), ranks.size());
  return {"sort of 2^20 u32 keys a rank", counted, model.keys + model.samples};
}

comparison count_mesh(communicator& ranks) {
  constexpr unsigned side = 8;
  constexpr unsigned steps = 10;
  constexpr unsigned first = 1;  // a step of length zero, which finds the length of the next one
  amr_options options;
  options.mesh.roots = {side, side, side};
  options.mesh.max_level = 0;
  options.regrid.every = 0;
  distributed_amr_run run(ranks, gas{}, gradient_criterion<gas>{}, sod<double, 3>{}, options);
  const double report = bytes_of_report(ranks);
  const double counted = bytes_sent(ranks, [&] { run.advance(steps); }) - report;
  const double computed =
      (first + steps) *
      (double(stages) * double(model_of_mesh(side, std::uint64_t(ranks.size())).faces) *
           bytes_of_face +
       double(ranks.size()) * rates * bytes_of_double);
  return {"10 steps of a gas on 8^3 blocks of " + std::to_string(block_cells) + "^3 cells", counted,
          computed};
}

comparison count_traversal(communicator& ranks) {
  namespace search = detail::tree_search;
  const uts_parameters tree = parse_uts_tree("T1");
  distributed_traverse_report found;
  const double report = bytes_of_report(ranks);
  const double counted =
      bytes_sent(ranks,
                 [&] {
                   found =
                       distributed_traverse(ranks, search::uts_root(tree), search::uts_expand(tree),
                                            search::uts_visit{}, search::uts_reduce{}, uts_counts{})
                           .report;
                 }) -
      report;
  return {"search of tree T1, " + std::to_string(found.comparisons) + " comparisons, " +
              std::to_string(found.exchanges) + " exchanges, " + std::to_string(found.moved_nodes) +
              " moved nodes",
          counted, model_of_traversal(found, ranks.size())};
}

std::vector<comparison> count(communicator& ranks) {
  std::vector<comparison> all;
  ranks.run([&] { all = {count_sort(ranks), count_mesh(ranks), count_traversal(ranks)}; });
  return all;
}

// ---- tables -------------------------------------------------------------------------------------

void print(benchmark::recorder& out, const std::vector<comparison>& all, int ranks) {
  out.table("counted", {"ranks", "work", "bytes counted", "bytes computed", "ratio"},
            "Bytes that all ranks send");
  for (const comparison& c : all) {
    if (ranks > 1) out.row({ranks, c.work, c.counted, c.computed, c.counted / c.computed});
  }
  out.table("model",
            {"ranks", "sort: MiB of keys sent", "of samples", "mesh: MiB sent a step, mean",
             "largest", "over the mean of 8 ranks", "neighbors, at most"},
            "For each rank: a sort of 2^30 u32 keys a rank; a gas on 64^3 blocks of " +
                std::to_string(block_cells) + "^3 cells in all, without refinement");
  constexpr double mib = 1 << 20;
  double of_eight = 0;
  for (const unsigned p : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    const sort_bytes sort = model_of_sort(double(p) * (1 << 30), 4, p);
    const mesh_messages mesh = model_of_mesh(64, p);
    const double face = stages * bytes_of_face / mib;
    const double mean = double(mesh.faces) / p * face;
    if (p == 8) of_eight = mean;
    out.row({p, sort.keys / p / mib, sort.samples / p / mib, mean, double(mesh.most) * face,
             of_eight > 0 ? benchmark::cell(mean / of_eight) : benchmark::cell(), mesh.neighbors});
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_session session;
  communicator ranks({.backend = backend::cpu});
  const std::vector<comparison> all = count(ranks);
  if (ranks.rank() != 0) return 0;
  return benchmark::run({.name = "cluster_model",
                         .about = "Bytes that the ranks of a cluster send.",
                         .machine = benchmark::this_cpu},
                        argc, argv, [&](benchmark::recorder& out, const benchmark::command_line&) {
                          print(out, all, ranks.size());
                        });
}
