// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The cost model of route::automatic: estimates the launch time of both routes.
///
/// A family states, for each route, the launches that follow one another. The model adds their
/// costs. It assumes that the work in the grids takes equally long on both routes, except for
/// extra_us. It ignores that a launch may overlap the previous grid, so it is most accurate for
/// small runs. In large runs the difference of launch times is small, and extra_us decides.

#include <algorithm>
#include <cmath>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// A route and the reason for it.
struct route_choice {
  route taken;         ///< the route
  std::string reason;  ///< why it was chosen
};

/// The numbers of launches of a route that follow one another. They are averages if they depend on
/// the data. Launches that both routes make may be left out.
struct route_plan {
  double host_launches = 0;     ///< grids that the host launches
  double host_round_trips = 0;  ///< waits of the host for a result of the device
  double device_launches = 0;   ///< by one thread, without the launches that begin a level
  double nested_levels = 0;     ///< levels of fire-and-forget grids
  double named_levels = 0;      ///< levels of grids in named streams
  double tail_launches = 0;     ///< launches that follow a whole grid
  double graph_iterations = 0;  ///< iterations of graph loops
  double graph_loops = 0;       ///< graph loops that are constructed
  double extra_us = 0;          ///< measured extra time of this route's grids, in microseconds
};

/// The plans of a run, and the route to take if the launch costs are not known.
struct route_plans {
  route_plan flat;    ///< of the flat route
  route_plan device;  ///< of the device route
  route unmeasured;   ///< for unknown launch costs
  /// Estimated time of the grids of either route without their launches, in microseconds; 0:
  /// unknown.
  double work_us = 0;
};

/// Returns the plan of a nested recursion with `levels` levels that launches children into
/// `streams`.
[[nodiscard]] constexpr route_plan plan_of_levels(double levels, child_streams streams) {
  return streams == child_streams::named ? route_plan{.named_levels = levels}
                                         : route_plan{.nested_levels = levels};
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Returns the estimated time of a plan in microseconds.
[[nodiscard]] constexpr double microseconds(const route_plan& plan, const launch_costs& costs) {
  return plan.host_launches * costs.host_launch + plan.host_round_trips * costs.host_round_trip +
         plan.device_launches * costs.device_launch + plan.nested_levels * costs.nested_level +
         plan.named_levels * costs.named_level + plan.tail_launches * costs.tail_launch +
         plan.graph_iterations * costs.graph_iteration + plan.graph_loops * costs.graph_loop +
         plan.extra_us;
}

/// The routes are equal if their estimates, with the work, differ by at most this part.
inline constexpr double equal_within = 0.05;

/// Returns the cheaper route, with both estimates as the reason, which also says whether the routes
/// are equal. If both cost the same it returns flat, which needs no launch slots.
[[nodiscard]] inline route_choice cheaper_route(const route_plans& plans,
                                                const launch_costs& costs) {
  const double flat = microseconds(plans.flat, costs);
  const double device = microseconds(plans.device, costs);
  const auto about = [](double us) { return "about " + std::to_string(std::llround(us)) + " us"; };
  std::string reason = "flat: " + about(flat) + " of launches, device " + about(device);
  if (std::abs(device - flat) <= equal_within * (plans.work_us + std::max(flat, device))) {
    reason += plans.work_us > 0 ? ", beside " + about(plans.work_us) + " of work: equal within 5 %"
                                : ": equal within 5 %";
  }
  return {device < flat ? route::device : route::flat, reason};
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI
