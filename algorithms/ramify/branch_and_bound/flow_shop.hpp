// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The permutation flow shop: in which order do jobs pass through machines so that the last one
/// ends as early as possible? Plain C++.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/runtime/arguments.hpp>
#include <span>
#include <string>
#include <vector>

namespace ramify {

/// The maximum sizes of a flow shop. The paths of the search limit the jobs: 20! < 2^64 < 21!.
inline constexpr std::size_t max_flow_shop_jobs = 20;
inline constexpr std::size_t max_flow_shop_machines = 10;

/// A flow shop. Each job passes machine 0, 1, ..., and all machines process the jobs in the same
/// order, one at a time.
struct flow_shop_instance {
  std::size_t jobs = 0;
  std::size_t machines = 1;
  std::vector<std::int64_t> times;  ///< of job j on machine m: times[m * jobs + j], at least 0

  [[nodiscard]] std::int64_t time(std::size_t machine, std::size_t job) const {
    return times[machine * jobs + job];
  }
};

/// Checks an instance. \throws std::invalid_argument naming the field and its range
inline void validate(const flow_shop_instance& shop) {
  using detail::check_field;
  check_field(shop.jobs <= max_flow_shop_jobs, "flow_shop_instance.jobs", shop.jobs, "at most 20");
  check_field(shop.machines >= 1 && shop.machines <= max_flow_shop_machines,
              "flow_shop_instance.machines", shop.machines, "in [1, 10]");
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
  check_field(sum <= 65'535, "flow_shop_instance.times", sum, "at most 65535 in sum");
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
    for (std::size_t i = 0; i < jobs * machines; ++i) {
      seed = 16'807 * seed % modulus;  // 64 bits suffice without Schrage's method
      shop.times.push_back(1 + 99 * seed / modulus);
    }
  }
  validate(shop);
  return shop;
}

/// An instance of Taillard's benchmark with 20 jobs, and its minimum makespan.
struct taillard_benchmark {
  std::size_t machines;
  std::int64_t seed;
  std::int64_t optimum;
};

/// Returns ta001 to ta010.
[[nodiscard]] inline std::span<const taillard_benchmark> taillard_benchmarks() {
  static constexpr std::array all{
      taillard_benchmark{5, 873'654'221, 1278},   taillard_benchmark{5, 379'008'056, 1359},
      taillard_benchmark{5, 1'866'992'158, 1081}, taillard_benchmark{5, 216'771'124, 1293},
      taillard_benchmark{5, 495'070'989, 1235},   taillard_benchmark{5, 402'959'317, 1195},
      taillard_benchmark{5, 1'369'363'414, 1234}, taillard_benchmark{5, 2'021'925'980, 1206},
      taillard_benchmark{5, 573'109'518, 1230},   taillard_benchmark{5, 88'325'120, 1108}};
  return all;
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
  std::int64_t makespan = 0;
  std::vector<std::size_t> order;
};

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
    flow_shop_solution next;
    for (std::size_t place = 0; place <= best.order.size(); ++place) {
      std::vector<std::size_t> order = best.order;
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), job);
      const std::int64_t end = makespan(shop, order);
      if (next.order.empty() || end < next.makespan) next = {end, order};
    }
    best = next;
  }
  return best;
}

}  // namespace ramify
