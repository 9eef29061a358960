// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The permutation flow shop for branch_and_bound(): each level of the tree places one job, by
/// turns after the first jobs and before the last jobs.

#include <cstdint>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/flow_shop.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// The first and the last jobs of an order.
struct flow_shop_node {
  std::uint32_t free;                           ///< bit j: job j has no place yet
  std::uint8_t placed;                          ///< number of jobs with a place
  std::uint8_t order[max_flow_shop_jobs];       ///< the first jobs, and from the end the last ones
  std::uint16_t front[max_flow_shop_machines];  ///< when each machine has ended the first jobs
  std::uint16_t back[max_flow_shop_machines];   ///< from the begin of the last jobs to the end
};

/// The problem. Child i places the free job of the i-th smallest number: as the next one of the
/// first jobs if the number of placed jobs is even, else before the last jobs.
///
/// The bound is that of one machine: it processes the first jobs, all free jobs without a pause,
/// and the last jobs. The largest bound of all machines counts.
struct flow_shop_problem {
  unsigned jobs;
  unsigned machines;
  std::uint16_t times[max_flow_shop_machines * max_flow_shop_jobs];  ///< of each job, its machines

  explicit flow_shop_problem(const flow_shop_instance& shop)
      : jobs(static_cast<unsigned>(shop.jobs)),
        machines(static_cast<unsigned>(shop.machines)),
        times{} {
    for (unsigned m = 0; m < machines; ++m) {
      for (unsigned j = 0; j < jobs; ++j) {
        times[j * max_flow_shop_machines + m] = static_cast<std::uint16_t>(shop.time(m, j));
      }
    }
  }

  [[nodiscard]] flow_shop_node root() const {
    flow_shop_node node{};
    node.free = (std::uint32_t{1} << jobs) - 1;
    return node;
  }

  [[nodiscard]] __host__ __device__ unsigned time(unsigned job, unsigned machine) const {
    return times[job * max_flow_shop_machines + machine];
  }

  [[nodiscard]] __host__ __device__ unsigned degree(const flow_shop_node& n) const {
    return jobs - n.placed;
  }

  [[nodiscard]] __host__ __device__ flow_shop_node child(const flow_shop_node& n,
                                                         unsigned i) const {
    std::uint32_t free = n.free;
    for (; i > 0; --i) free &= free - 1;  // clears the lowest bit
    unsigned job = 0;
    while ((free >> job & 1) == 0) ++job;
    flow_shop_node c = n;
    c.free &= ~(std::uint32_t{1} << job);
    const bool is_first = n.placed % 2 == 0;
    c.order[is_first ? n.placed / 2 : jobs - 1 - n.placed / 2] = static_cast<std::uint8_t>(job);
    ++c.placed;
    unsigned end = 0;
    for (unsigned k = 0; k < machines; ++k) {
      const unsigned m = is_first ? k : machines - 1 - k;
      std::uint16_t& at = is_first ? c.front[m] : c.back[m];
      end = (end > at ? end : at) + time(job, m);
      at = static_cast<std::uint16_t>(end);
    }
    return c;
  }

  [[nodiscard]] __host__ __device__ std::int64_t bound(const flow_shop_node& n) const {
    std::uint32_t sum[max_flow_shop_machines] = {};
    for (unsigned j = 0; j < jobs; ++j) {
      if ((n.free >> j & 1) == 0) continue;
      for (unsigned m = 0; m < max_flow_shop_machines; ++m) sum[m] += time(j, m);
    }
    return latest_end(n, sum);
  }

  /// The makespan. A path through the machines changes from the first to the last jobs at one
  /// machine, so the bound without free jobs is exact.
  [[nodiscard]] __host__ __device__ std::int64_t value(const flow_shop_node& n) const {
    constexpr std::uint32_t none[max_flow_shop_machines] = {};
    return latest_end(n, none);
  }

 private:
  [[nodiscard]] __host__ __device__ std::int64_t latest_end(
      const flow_shop_node& n, const std::uint32_t (&free)[max_flow_shop_machines]) const {
    std::uint32_t latest = 0;
    for (unsigned m = 0; m < machines; ++m) {
      const std::uint32_t end = n.front[m] + free[m] + n.back[m];
      latest = end > latest ? end : latest;
    }
    return latest;
  }
};

/// Returns the order of a leaf.
[[nodiscard]] inline flow_shop_solution solution_of(const flow_shop_instance& shop,
                                                    const flow_shop_node& leaf) {
  flow_shop_solution solution;
  for (std::size_t i = 0; i < shop.jobs; ++i) solution.order.push_back(leaf.order[i]);
  solution.makespan = makespan(shop, solution.order);
  return solution;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
