// SPDX-License-Identifier: BSD-3-Clause
// Sorts, meshes and a tree search on 1, 2, 4, ... GPUs of the ranks that mpirun starts, in one run.
// Times are of whole calls on data in device memory, by the host's clock, until all ranks are done.
//   mpirun -n 2 --bind-to none benchmark_scaling_cuda --json scaling.json
// --scale S: sorts of 2^S keys of 32 bits, and of half as many of 64 bits; S in [20, 31].
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/mpi.hpp>
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_amr.cuh>
#include <ramify/distributed_sort.cuh>
#include <ramify/distributed_traverse.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/tree_search/uts.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "blast.cuh"
#include "measure_cuda.cuh"
#include "quicksort_inputs.hpp"

namespace {

using namespace ramify;

constexpr int repeats = 3;

/// What a work of some ranks took. The values on rank 0 are printed.
struct measured {
  benchmark::timing time;
  double amount = 0;  ///< of work: keys, updates of cells, or nodes
  double bytes_sent = 0;
  double milliseconds_of_calls = 0;
  double imbalance = 1;
};

/// Times `work` on all ranks, after `prepare`, with one warm-up. The result lacks the amount.
measured time_of(communicator& ranks, const std::function<void()>& prepare,
                 const std::function<void()>& work) {
  measured found;
  std::vector<double> times;
  for (int i = -1; i < repeats; ++i) {
    prepare();
    check(cudaDeviceSynchronize(), "waiting for the device");
    const cluster_report before = ranks.report();
    ranks.barrier();
    const auto begin = std::chrono::steady_clock::now();
    work();
    check(cudaDeviceSynchronize(), "waiting for the device");
    ranks.barrier();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    const cluster_report after = ranks.report();
    if (i >= 0) times.push_back(took.count());
    found.bytes_sent = double(after.bytes_sent - before.bytes_sent);
    found.milliseconds_of_calls = after.communication_ms - before.communication_ms;
  }
  found.time = benchmark::summarize(times);
  return found;
}

// ---- sorts --------------------------------------------------------------------------------------

template <class Key>
__global__ void fill_random(Key* keys, std::uint64_t n, std::uint64_t first) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t random = benchmark::scrambled(first + i);
  if constexpr (sizeof(Key) == 4) {
    keys[i] = static_cast<Key>(random >> 32);
  } else {
    keys[i] = static_cast<Key>(random >> 11) / (std::uint64_t{1} << 53);  // in [0, 1)
  }
}

/// Returns the sum of the fingerprints of all ranks. \throws std::runtime_error if `sorted` and the
/// keys of all ranks are not in order
template <class Key>
std::uint64_t inspect(communicator& ranks, const device_buffer<Key>& keys, bool sorted) {
  const device_buffer<benchmark::inspection> result(1, nullptr);
  clear_memory(result.data(), 1, nullptr, "clearing the result");
  check(benchmark::inspect(keys.data(), nullptr, static_cast<std::uint32_t>(keys.size()),
                           benchmark::natural_order{}, result.data()),
        "inspecting the keys");
  const auto found = read_back(result.data(), nullptr, "reading the result");
  if (sorted) {
    const auto of = [&](std::size_t i) { return benchmark::download(keys.data() + i, 1)[0]; };
    const auto firsts = ranks.all_gather(of(0));
    const auto lasts = ranks.all_gather(of(keys.size() - 1));
    bool in_order = found.disorder == 0;
    for (std::size_t r = 1; r < firsts.size(); ++r) in_order &= lasts[r - 1] <= firsts[r];
    if (!in_order) throw std::runtime_error("the keys are not sorted");
  }
  return ranks.all_reduce(std::uint64_t{found.fingerprint}, reduction::sum);
}

/// Sorts n random keys in all.
template <class Key>
measured sort(communicator& ranks, std::uint64_t n) {
  const auto parts = std::uint64_t(ranks.size());
  const auto rank = std::uint64_t(ranks.rank());
  const std::uint64_t first = n * rank / parts;
  const std::uint64_t mine = n * (rank + 1) / parts - first;
  device_buffer<Key> keys;
  std::uint64_t before = 0;
  distributed_sort_report report;
  measured found = time_of(
      ranks,
      [&] {
        keys = {};  // before the allocation of new ones
        keys = {mine, nullptr};
        detail::runtime::launch_each(fill_random<Key>, mine, nullptr, "filling the keys",
                                     keys.data(), mine, first);
        before = inspect(ranks, keys, false);
      },
      [&] { report = distributed_sort(ranks, keys); });
  if (inspect(ranks, keys, true) != before) throw std::runtime_error("the sort lost keys");
  found.amount = double(n);
  found.imbalance = report.part_imbalance;
  return found;
}

// ---- meshes -------------------------------------------------------------------------------------

using gas = euler<double, 3>;

/// Takes `steps` steps from a blast after `first` steps. Sets `totals` to those of the conserved
/// values, which have the same bits for any number of ranks.
measured advance(communicator& ranks, const amr_options& options, std::uint64_t first,
                 std::uint64_t steps, std::vector<double>& totals) {
  std::optional<distributed_amr_run<gas>> run;
  std::uint64_t before = 0;
  measured found = time_of(
      ranks,
      [&] {
        run.reset();  // before the memory of a new one
        run.emplace(ranks, gas{}, gradient_criterion<gas>{}, benchmark::blast<double, 3>{0.1},
                    options);
        run->advance(first);
        before = run->report().cell_updates;
      },
      [&] { run->advance(steps); });
  totals = run->totals();
  for (const double total : totals) {
    if (!std::isfinite(total)) throw std::runtime_error("a total is not finite");
  }
  const auto report = run->report();
  found.amount = double(report.cell_updates - before);
  found.imbalance = report.cost_imbalance;
  return found;
}

/// Advances a uniform mesh of 256^3 cells for each rank.
measured advance_uniform(communicator& ranks) {
  const auto size = unsigned(ranks.size());
  amr_options options;
  options.mesh.roots = {32 * size, 32, 32};
  options.mesh.upper = {double(size), 1, 1};
  options.mesh.max_level = 0;
  options.regrid.every = 0;
  std::vector<double> totals;
  return advance(ranks, options, 10, 10, totals);
}

/// Advances an adaptive mesh of three levels on 128^3 cells.
measured advance_blast(communicator& ranks, bool subcycle, std::vector<double>& totals) {
  amr_options options;
  options.mesh.roots = {16, 16, 16};
  options.mesh.max_level = 2;
  options.regrid = {0.1, 0.02, 2, 10};
  options.step.subcycle = subcycle;
  return advance(ranks, options, 100, 20, totals);
}

// ---- a tree search ------------------------------------------------------------------------------

measured search(communicator& ranks, const uts_named_tree& tree) {
  namespace family = detail::tree_search;
  uts_counts counts;
  measured found = time_of(
      ranks, [] {},
      [&] {
        counts = distributed_traverse(ranks, family::uts_root(tree.parameters),
                                      family::uts_expand(tree.parameters), family::uts_visit{},
                                      family::uts_reduce{}, uts_counts{})
                     .value;
      });
  if (counts.nodes != tree.counts.nodes || counts.leaves != tree.counts.leaves) {
    throw std::runtime_error("wrong counts of nodes");
  }
  found.amount = double(counts.nodes);
  found.imbalance = ranks.report().imbalance;
  return found;
}

// ---- the table ----------------------------------------------------------------------------------

/// Adds rows of one work for 1, 2, 4, ... ranks, on rank 0. All processes of MPI take part.
class scaling {
 public:
  explicit scaling(benchmark::recorder* out) : out_(out) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (out_ == nullptr) return;
    out_->table(
        "scaling",
        {"work", "GPUs", "ms", "10^9/s", "of", "rate over that of one GPU", "MiB that ranks sent",
         "ms in calls of the communicator", "imbalance"},
        "Medians of " + std::to_string(repeats) +
            " (least–most). Most calls of the communicator in a sort or a search wait for the "
            "kernels "
            "before them, and this time counts. Imbalance: of a sort, the largest part over the "
            "mean; of a mesh, of the costs; of a search, of the times outside of calls");
  }

  /// `work` is called with communicators of the first ranks.
  void measure(const std::string& name, const char* unit,
               const std::function<measured(communicator&)>& work) {
    double rate_of_one = 0;
    for (int ranks = 1;; ranks = std::min(2 * ranks, size_)) {
      MPI_Comm group = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank_ < ranks ? 0 : MPI_UNDEFINED, rank_, &group);
      if (group != MPI_COMM_NULL) {
        communicator comm = communicator_of(group, {.backend = backend::cuda});
        measured found;
        comm.run([&] { found = work(comm); });
        const double rate = found.amount / found.time.median_ms * 1e3;
        if (ranks == 1) rate_of_one = rate;
        if (out_ != nullptr) {
          out_->row({name, ranks, found.time, rate / 1e9, unit, rate / rate_of_one,
                     found.bytes_sent / (1 << 20), found.milliseconds_of_calls, found.imbalance});
        }
      }
      if (group != MPI_COMM_NULL) MPI_Comm_free(&group);
      MPI_Barrier(MPI_COMM_WORLD);
      if (ranks == size_) return;
    }
  }

 private:
  benchmark::recorder* out_;  // null on other ranks than 0
  int rank_ = 0;
  int size_ = 1;
};

/// Compares totals with those of one rank, which come first. \throws std::runtime_error
void check_totals(const communicator& ranks, const std::vector<double>& totals,
                  std::vector<double>& of_one) {
  if (ranks.size() == 1) of_one = totals;
  if (ranks.rank() == 0 && totals != of_one) {
    throw std::runtime_error("the totals differ from those of one rank");
  }
}

/// What the command line of rank 0 selects.
struct selection {
  unsigned scale;
  bool sorts, meshes, search;
};

/// Measures on all ranks. `out` is null on other ranks than 0.
void measure_all(benchmark::recorder* out, const selection& asked) {
  scaling all(out);
  const auto n = std::uint64_t{1} << asked.scale;
  const std::string whole = "sort of 2^" + std::to_string(asked.scale);
  const std::string half = "sort of 2^" + std::to_string(asked.scale - 1);
  if (asked.sorts) {
    all.measure(whole + " u32 keys", "keys",
                [&](communicator& ranks) { return sort<std::uint32_t>(ranks, n); });
    all.measure(half + " f64 keys", "keys",
                [&](communicator& ranks) { return sort<double>(ranks, n / 2); });
    all.measure(half + " u32 keys a GPU", "keys", [&](communicator& ranks) {
      return sort<std::uint32_t>(ranks, n / 2 * std::uint64_t(ranks.size()));
    });
  }
  if (asked.meshes) {
    all.measure("gas, uniform mesh of 256³ cells a GPU", "updates", advance_uniform);
    for (const bool subcycle : {false, true}) {
      std::vector<double> of_one;
      all.measure(std::string(subcycle ? "subcycled" : "blast") + ", 3 levels on 128³", "updates",
                  [&](communicator& ranks) {
                    std::vector<double> totals;
                    const measured found = advance_blast(ranks, subcycle, totals);
                    check_totals(ranks, totals, of_one);
                    return found;
                  });
    }
  }
  if (asked.search) {
    const auto trees = uts_trees();
    const auto tree = std::ranges::find(trees, "T1XL", &uts_named_tree::name);
    all.measure("search of tree T1XL", "nodes",
                [&](communicator& ranks) { return search(ranks, *tree); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_session session;
  selection asked{};
  bool has_begun = false;
  const auto work = [&](benchmark::recorder* out) {
    has_begun = true;
    MPI_Bcast(&asked, sizeof asked, MPI_BYTE, 0, MPI_COMM_WORLD);
    measure_all(out, asked);
  };
  int status = 0;
  if (session.rank() == 0) {
    status = benchmark::run({.name = "scaling_cuda",
                             .about = "Sorts, meshes and a tree search on several GPUs.",
                             .machine = benchmark::this_gpu,
                             .parts = {"sort", "mesh", "search"},
                             .scale = 31,
                             .least_scale = 20,
                             .most_scale = 31},
                            argc, argv,
                            [&](benchmark::recorder& out, const benchmark::command_line& line) {
                              asked = {line.scale, line.has_part("sort"), line.has_part("mesh"),
                                       line.has_part("search")};
                              work(&out);
                            });
    // After --help or a bad option the other ranks still wait for the selection: it is empty.
    if (!has_begun) MPI_Bcast(&asked, sizeof asked, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else {
    try {
      work(nullptr);
    } catch (const std::exception&) {  // rank 0 has it, too, and prints it
      status = 1;
    }
  }
  if (status != 0) session.fail(status);
  return status;
}
