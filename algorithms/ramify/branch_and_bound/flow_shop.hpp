// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The permutation flow shop: in which order do jobs pass through machines so that the last one
/// ends as early as possible? Plain C++.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The maximum sizes of a flow shop.
inline constexpr std::size_t max_flow_shop_jobs = 500;
/// Maximum number of machines of a flow shop.
inline constexpr std::size_t max_flow_shop_machines = 20;
/// The maximum number of jobs of a search of all orders. Its paths limit it: 20! < 2^64 < 21!.
inline constexpr std::size_t max_flow_shop_search_jobs = 20;

/// A flow shop. Each job passes machine 0, 1, ..., and all machines process the jobs in the same
/// order, one at a time.
struct flow_shop_instance {
  std::size_t jobs = 0;             ///< number of jobs
  std::size_t machines = 1;         ///< number of machines
  std::vector<std::int64_t> times;  ///< of job j on machine m: times[m * jobs + j], at least 0

  /// Returns the time of a job on a machine.
  [[nodiscard]] std::int64_t time(std::size_t machine, std::size_t job) const {
    return times[machine * jobs + job];
  }
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI {

/// Returns a limit of the makespan of each order: a path passes each job and each machine, and
/// changes from one to the next between two operations.
[[nodiscard]] inline std::int64_t path_limit(const flow_shop_instance& shop) {
  std::int64_t limit = 0;
  for (std::size_t j = 0; j < shop.jobs; ++j) {
    std::int64_t longest = 0;
    for (std::size_t m = 0; m < shop.machines; ++m) longest = std::max(longest, shop.time(m, j));
    limit += longest;
  }
  for (std::size_t m = 0; m < shop.machines; ++m) {
    std::int64_t longest = 0;
    for (std::size_t j = 0; j < shop.jobs; ++j) longest = std::max(longest, shop.time(m, j));
    limit += longest;
  }
  return limit;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Checks an instance. \throws std::invalid_argument naming the field and its range
inline void validate(const flow_shop_instance& shop) {
  using detail::check_field;
  check_field(shop.jobs <= max_flow_shop_jobs, "flow_shop_instance.jobs", shop.jobs, "at most 500");
  check_field(shop.machines >= 1 && shop.machines <= max_flow_shop_machines,
              "flow_shop_instance.machines", shop.machines, "in [1, 20]");
  check_field(shop.times.size() == shop.jobs * shop.machines, "flow_shop_instance.times.size()",
              shop.times.size(),
              "jobs * machines, which is " + std::to_string(shop.jobs * shop.machines));
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < shop.times.size(); ++i) {
    const std::int64_t time = shop.times[i];
    check_field(time >= 0 && time <= 65'535, "flow_shop_instance.times[" + std::to_string(i) + "]",
                time, "in [0, 65535]");
    sum += time;
  }
  // An order ends at the latest with the longest path through the machines and jobs.
  const std::int64_t longest = std::min(sum, detail::branch_and_bound::path_limit(shop));
  check_field(longest <= 65'535, "flow_shop_instance.times", longest,
              "at most 65535 in sum, or in the sum of the longest time of each job and of each "
              "machine");
}

/// Returns the instance of Taillard's generator with this seed, in [1, 2^31 - 2].
///
/// Source: E. Taillard: Benchmarks for basic scheduling problems. European Journal of Operational
/// Research 64, 1993.
/// \throws std::invalid_argument naming the argument and its range
[[nodiscard]] inline flow_shop_instance taillard_flow_shop(std::size_t jobs, std::size_t machines,
                                                           std::int64_t seed) {
  constexpr std::int64_t modulus = 2'147'483'647;
  detail::check_field(seed >= 1 && seed < modulus, "seed", seed, "in [1, 2147483646]");
  flow_shop_instance shop{jobs, machines, {}};
  if (jobs <= max_flow_shop_jobs && machines <= max_flow_shop_machines) {
    shop.times.reserve(jobs * machines);
    for (std::size_t i = 0; i < jobs * machines; ++i) {
      seed = 16'807 * seed % modulus;  // 64 bits suffice without Schrage's method
      shop.times.push_back(1 + 99 * seed / modulus);
    }
  }
  validate(shop);
  return shop;
}

/// Returns the makespan of an order of jobs: the end of the last job on the last machine. Jobs that
/// `order` lacks are not processed.
[[nodiscard]] inline std::int64_t makespan(const flow_shop_instance& shop,
                                           std::span<const std::size_t> order) {
  std::vector<std::int64_t> end(shop.machines, 0);
  for (const std::size_t job : order) {
    std::int64_t before = 0;
    for (std::size_t m = 0; m < shop.machines; ++m) {
      before = end[m] = std::max(before, end[m]) + shop.time(m, job);
    }
  }
  return end.back();
}

/// An order of the jobs, and its makespan.
struct flow_shop_solution {
  std::int64_t makespan = 0;         ///< time at which the last job ends
  std::vector<std::size_t> order{};  ///< the jobs in their order
  search_proof proof{};  ///< of flow_shop(): no order has a smaller makespan than proof.bound
};

/// Returns the makespans of an order with one more job, for each place of this job.
///
/// Source: E. Taillard: Some efficient heuristic methods for the flow shop sequencing problem.
/// European Journal of Operational Research 47, 1990.
[[nodiscard]] inline std::vector<std::int64_t> makespans_of_insertions(
    const flow_shop_instance& shop, std::span<const std::size_t> order, std::size_t job) {
  const std::size_t n = order.size();
  // Of place p and machine m, at p * machines + m: the end of the jobs before p, and the time from
  // the begin of the jobs from p on.
  std::vector<std::int64_t> front((n + 1) * shop.machines, 0);
  std::vector<std::int64_t> back((n + 1) * shop.machines, 0);
  for (std::size_t p = 0; p < n; ++p) {
    std::int64_t end = 0;
    for (std::size_t m = 0; m < shop.machines; ++m) {
      end = std::max(end, front[p * shop.machines + m]) + shop.time(m, order[p]);
      front[(p + 1) * shop.machines + m] = end;
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    std::int64_t end = 0;
    for (std::size_t m = shop.machines; m-- > 0;) {
      end = std::max(end, back[(p + 1) * shop.machines + m]) + shop.time(m, order[p]);
      back[p * shop.machines + m] = end;
    }
  }
  std::vector<std::int64_t> makespans(n + 1, 0);
  for (std::size_t p = 0; p <= n; ++p) {
    std::int64_t end = 0;
    for (std::size_t m = 0; m < shop.machines; ++m) {
      const std::size_t at = p * shop.machines + m;
      end = std::max(end, front[at]) + shop.time(m, job);
      makespans[p] = std::max(makespans[p], end + back[at]);
    }
  }
  return makespans;
}

/// Returns a good order: jobs are inserted where the makespan is smallest, those of the longest
/// times first.
///
/// Source: M. Nawaz, E. E. Enscore, I. Ham: A heuristic algorithm for the m-machine, n-job
/// flow-shop sequencing problem. Omega 11, 1983.
/// \throws std::invalid_argument if validate() refuses the instance
[[nodiscard]] inline flow_shop_solution neh_order(const flow_shop_instance& shop) {
  validate(shop);
  std::vector<std::size_t> jobs(shop.jobs);
  std::iota(jobs.begin(), jobs.end(), std::size_t{0});
  std::ranges::stable_sort(jobs, std::ranges::greater{}, [&](std::size_t job) {
    std::int64_t sum = 0;
    for (std::size_t m = 0; m < shop.machines; ++m) sum += shop.time(m, job);
    return sum;
  });
  flow_shop_solution best;
  for (const std::size_t job : jobs) {
    const std::vector<std::int64_t> ends = makespans_of_insertions(shop, best.order, job);
    const auto place = std::ranges::min_element(ends);
    best.makespan = *place;
    best.order.insert(best.order.begin() + (place - ends.begin()), job);
  }
  return best;
}

/// Returns a lower bound of the makespans of all orders: the longest job, and of each machine the
/// sum of its times with the shortest way of a job to it and from it.
///
/// Source: E. Taillard, 1993, as above.
[[nodiscard]] inline std::int64_t flow_shop_bound(const flow_shop_instance& shop) {
  if (shop.jobs == 0) return 0;
  std::int64_t bound = 0;
  std::vector<std::int64_t> of_job(shop.jobs, 0);
  for (std::size_t i = 0; i < shop.times.size(); ++i) of_job[i % shop.jobs] += shop.times[i];
  bound = std::ranges::max(of_job);
  std::vector<std::int64_t> before(shop.jobs, 0);
  for (std::size_t m = 0; m < shop.machines; ++m) {
    std::int64_t sum = 0;
    std::int64_t shortest_way_from = of_job[0] - before[0] - shop.time(m, 0);
    for (std::size_t j = 0; j < shop.jobs; ++j) {
      sum += shop.time(m, j);
      shortest_way_from = std::min(shortest_way_from, of_job[j] - before[j] - shop.time(m, j));
    }
    bound = std::max(bound, std::ranges::min(before) + sum + shortest_way_from);
    for (std::size_t j = 0; j < shop.jobs; ++j) before[j] += shop.time(m, j);
  }
  return bound;
}

}  // namespace ramify::inline RAMIFY_ABI
