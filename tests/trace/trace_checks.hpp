// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Traced runs, and checks of their traces.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ramify/amr.hpp>
#include <ramify/quicksort.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"

namespace tests {

inline std::vector<std::uint32_t> random_keys(std::size_t n) {
  std::vector<std::uint32_t> keys(n);
  std::mt19937 generator(7);
  for (auto& key : keys) key = static_cast<std::uint32_t>(generator());
  return keys;
}

inline ramify::quicksort_report sort_traced(ramify::launch_trace* trace, std::size_t n,
                                            ramify::route taken,
                                            ramify::quicksort_strategy strategy) {
  auto keys = random_keys(n);
  const auto report =
      ramify::quicksort(std::span(keys), ramify::sort_order::ascending,
                        ramify::quicksort_options{.strategy = strategy},
                        {.backend = tests::backend_under_test(), .route = taken, .trace = trace});
  BOOST_TEST(std::ranges::is_sorted(keys));
  return report;
}

inline std::uint64_t grids_of(const ramify::run_report& report) {
  return report.host_grids + report.child_grids + report.graph_grids;
}

/// Returns the first violation of the rules of dynamic parallelism in a trace, or an empty string.
inline std::string broken_rule(const ramify::launch_trace& trace) {
  const auto& grids = trace.grids;
  std::ostringstream text;
  // The grids that each block launched into its NULL stream.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::size_t>> null_streams;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const ramify::traced_grid& g = grids[i];
    const auto fault = [&](const char* what) {
      text << "grid " << i << " (" << g.kernel << ") " << what;
      return text.str();
    };
    if (g.kernel.empty()) return fault("has no name");
    if (g.end < g.begin) return fault("ends before it begins");
    if (g.complete < g.end) return fault("is complete before it ends");
    if (i > 0 && g.begin < grids[i - 1].begin) return fault("is out of order");
    if ((g.stream == ramify::launch_stream::host) != (g.depth == 0))
      return fault("is at the wrong depth");
    if (g.parent == ramify::traced_grid::no_grid) {
      if (g.depth > 0 && trace.lost == 0) return fault("has no parent");
      continue;
    }
    if (g.parent >= i) return fault("began before its parent");
    const ramify::traced_grid& parent = grids[g.parent];
    if (g.depth != parent.depth + 1) return fault("is not one level below its parent");
    if (g.launched < parent.begin || g.launched > parent.end) {
      return fault("was not launched while its parent ran");
    }
    if (g.begin < g.launched) return fault("began before it was launched");
    if (g.complete > parent.complete) return fault("outlives its parent");
    const std::uint64_t blocks =
        std::uint64_t{parent.blocks[0]} * parent.blocks[1] * parent.blocks[2];
    if (g.parent_block >= blocks) return fault("was launched by a block that does not exist");
    if (g.stream == ramify::launch_stream::null)
      null_streams[{g.parent, g.parent_block}].push_back(i);
    if (g.stream == ramify::launch_stream::tail && g.begin < parent.end) {
      return fault("is a tail launch, and began before its parent ended");
    }
    for (std::size_t j = 0; g.stream == ramify::launch_stream::tail && j < i; ++j) {
      const ramify::traced_grid& sibling = grids[j];
      if (sibling.parent == g.parent && sibling.complete > g.begin) {
        return fault("is a tail launch, and did not wait for its siblings");
      }
    }
  }
  for (auto& [block, launched] : null_streams) {
    std::ranges::stable_sort(launched, {}, [&](std::size_t i) { return grids[i].launched; });
    for (std::size_t k = 1; k < launched.size(); ++k) {
      if (grids[launched[k]].begin < grids[launched[k - 1]].complete) {
        text << "grid " << launched[k] << " did not wait for the one before it in the NULL stream";
        return text.str();
      }
    }
  }
  return {};
}

inline std::set<std::string_view> kernels_of(const ramify::launch_trace& trace) {
  std::set<std::string_view> names;
  for (const ramify::traced_grid& g : trace.grids) names.insert(g.kernel);
  return names;
}

inline ramify::amr_setup small_blast(bool subcycle) {
  ramify::amr_setup setup = ramify::recommended_setup(ramify::amr_problem::sedov, 2);
  setup.options.mesh.max_level = tests::effort() < 0.1 ? 1 : 2;
  setup.options.step.subcycle = subcycle;
  return setup;
}
inline ramify::environment traced_by(ramify::launch_trace& trace, ramify::route taken) {
  return {.backend = tests::backend_under_test(), .route = taken, .trace = &trace};
}

inline constexpr ramify::quicksort_strategy strategies[] = {ramify::quicksort_strategy::sample_sort,
                                                            ramify::quicksort_strategy::binary};

}  // namespace tests
