// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The permutation flow shop for branch_and_bound(): each level of the tree places one job, by
/// turns after the first jobs and before the last jobs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/flow_shop.hpp>
#include <ramify/runtime/cuda.hpp>
#include <vector>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// The jobs of a window of an order of many jobs, and the distance of two windows. A search of 8
/// jobs has at most 110,000 nodes.
inline constexpr std::size_t flow_shop_window_jobs = 8;
inline constexpr std::size_t flow_shop_window_step = 4;

/// The first and the last jobs of an order. Jobs have their numbers in the problem.
template <unsigned max_machines>
struct flow_shop_node {
  std::uint32_t free;                             ///< bit j: job j has no place yet
  std::uint8_t placed;                            ///< number of jobs with a place
  std::uint8_t order[max_flow_shop_search_jobs];  ///< the first jobs, from the end the last ones
  std::uint16_t front[max_machines];              ///< when each machine has ended the first jobs
  std::uint16_t back[max_machines];               ///< from the begin of the last jobs to the end
};

/// The places [begin, end) of an order.
struct job_window {
  std::ptrdiff_t begin, end;
};

/// Returns the number of windows of an order of many jobs.
[[nodiscard]] inline std::size_t flow_shop_windows(std::size_t jobs) {
  return (jobs - flow_shop_window_jobs + flow_shop_window_step - 1) / flow_shop_window_step + 1;
}
/// Returns window number `w`. The last one ends with the last job.
[[nodiscard]] inline job_window window_of(std::size_t jobs, std::size_t w) {
  const std::size_t begin = std::min(w * flow_shop_window_step, jobs - flow_shop_window_jobs);
  return {static_cast<std::ptrdiff_t>(begin),
          static_cast<std::ptrdiff_t>(begin + flow_shop_window_jobs)};
}

/// Returns the numbers of all jobs.
[[nodiscard]] inline std::vector<std::size_t> all_jobs(const flow_shop_instance& shop) {
  std::vector<std::size_t> jobs(shop.jobs);
  std::iota(jobs.begin(), jobs.end(), std::size_t{0});
  return jobs;
}

/// The problem of some jobs of a shop. Child i places the free job of the i-th smallest number: as
/// the next one of the first jobs if the number of placed jobs is even, else before the last jobs.
///
/// The bound is that of one machine: it processes the first jobs, all free jobs without a pause,
/// and the last jobs. The largest bound of all machines counts.
template <unsigned max_machines>
struct flow_shop_problem {
  using node_type = flow_shop_node<max_machines>;

  unsigned jobs;
  unsigned machines;
  std::uint16_t times[max_machines * max_flow_shop_search_jobs];  ///< of each job, its machines
  std::uint16_t numbers[max_flow_shop_search_jobs];               ///< of the jobs in the shop

  /// `chosen` has at most max_flow_shop_search_jobs jobs.
  flow_shop_problem(const flow_shop_instance& shop, const std::vector<std::size_t>& chosen)
      : jobs(static_cast<unsigned>(chosen.size())),
        machines(static_cast<unsigned>(shop.machines)),
        times{},
        numbers{} {
    for (unsigned j = 0; j < jobs; ++j) {
      numbers[j] = static_cast<std::uint16_t>(chosen[j]);
      for (unsigned m = 0; m < machines; ++m) {
        times[j * max_machines + m] = static_cast<std::uint16_t>(shop.time(m, chosen[j]));
      }
    }
  }

  [[nodiscard]] node_type root() const {
    node_type node{};
    node.free = (std::uint32_t{1} << jobs) - 1;
    return node;
  }
  /// Returns the root of a search of the jobs in a window of an order, with the other jobs before
  /// and after them.
  [[nodiscard]] node_type root_between(const flow_shop_instance& shop,
                                       const std::vector<std::size_t>& order,
                                       const job_window& window) const {
    node_type node = root();
    for (auto place = order.begin(); place < order.begin() + window.begin; ++place) {
      std::int64_t end = 0;
      for (unsigned m = 0; m < machines; ++m) {
        end = std::max<std::int64_t>(end, node.front[m]) + shop.time(m, *place);
        node.front[m] = static_cast<std::uint16_t>(end);
      }
    }
    for (auto place = order.end(); place > order.begin() + window.end;) {
      --place;
      std::int64_t end = 0;
      for (unsigned m = machines; m-- > 0;) {
        end = std::max<std::int64_t>(end, node.back[m]) + shop.time(m, *place);
        node.back[m] = static_cast<std::uint16_t>(end);
      }
    }
    return node;
  }
  /// Returns the order of a leaf: the numbers of the jobs in the shop.
  [[nodiscard]] std::vector<std::size_t> order_of(const node_type& leaf) const {
    std::vector<std::size_t> order;
    for (unsigned i = 0; i < jobs; ++i) order.push_back(numbers[leaf.order[i]]);
    return order;
  }

  [[nodiscard]] __host__ __device__ unsigned time(unsigned job, unsigned machine) const {
    return times[job * max_machines + machine];
  }

  [[nodiscard]] __host__ __device__ unsigned degree(const node_type& n) const {
    return jobs - n.placed;
  }

  [[nodiscard]] __host__ __device__ node_type child(const node_type& n, unsigned i) const {
    std::uint32_t free = n.free;
    for (; i > 0; --i) free &= free - 1;  // clears the lowest bit
    unsigned job = 0;
    while ((free >> job & 1) == 0) ++job;
    node_type c = n;
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

  [[nodiscard]] __host__ __device__ std::int64_t bound(const node_type& n) const {
    std::uint32_t sum[max_machines] = {};
    for (unsigned j = 0; j < jobs; ++j) {
      if ((n.free >> j & 1) == 0) continue;
      for (unsigned m = 0; m < max_machines; ++m) sum[m] += time(j, m);
    }
    return latest_end(n, sum);
  }

  /// The makespan. A path through the machines changes from the first to the last jobs at one
  /// machine, so the bound without free jobs is exact.
  [[nodiscard]] __host__ __device__ std::int64_t value(const node_type& n) const {
    constexpr std::uint32_t none[max_machines] = {};
    return latest_end(n, none);
  }

 private:
  [[nodiscard]] __host__ __device__ std::int64_t latest_end(
      const node_type& n, const std::uint32_t (&free)[max_machines]) const {
    std::uint32_t latest = 0;
    for (unsigned m = 0; m < machines; ++m) {
      const std::uint32_t end = n.front[m] + free[m] + n.back[m];
      latest = end > latest ? end : latest;
    }
    return latest;
  }
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
