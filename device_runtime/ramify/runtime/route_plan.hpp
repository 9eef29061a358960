// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which of two routes is quicker, by what launches cost: the model behind route::automatic.
///
/// A family says what each route takes in launches that wait for one another; the work in the grids is
/// the same on both, unless extra_us says otherwise. The model adds up. It knows nothing of launches
/// that are hidden behind the grids before them, and so compares small runs best; large ones take as
/// long on either route, or one is slower by what extra_us says.

#include <cmath>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/runtime/report.hpp>
#include <string>

namespace ramify {

/// A route and why it was chosen.
struct route_choice {
  route taken;
  std::string reason;
};

/// How many of each a route takes, one after another; on average, if it depends on the data. Of a
/// part of a run, if that part is the same for both routes.
struct route_plan {
  double host_launches = 0;
  double host_round_trips = 0;
  double device_launches = 0;  ///< by one thread; those that begin a level are in the levels
  double nested_levels = 0;
  double named_levels = 0;
  double tail_launches = 0;
  double graph_turns = 0;
  double graph_loops = 0;  ///< made
  double extra_us = 0;  ///< what its grids take longer than the other's, as measured; microseconds
};

/// The plans of a run, and the route to take where launches have not been measured.
struct route_plans {
  route_plan flat;
  route_plan device;
  route unmeasured;
};

/// Levels of a nested recursion whose children go where `streams` says.
[[nodiscard]] constexpr route_plan plan_of_levels(double levels, child_streams streams) {
  return streams == child_streams::named ? route_plan{.named_levels = levels}
                                         : route_plan{.nested_levels = levels};
}

/// Microseconds that a plan takes.
[[nodiscard]] constexpr double microseconds(const route_plan& plan, const launch_costs& costs) {
  return plan.host_launches * costs.host_launch + plan.host_round_trips * costs.host_round_trip +
         plan.device_launches * costs.device_launch + plan.nested_levels * costs.nested_level +
         plan.named_levels * costs.named_level + plan.tail_launches * costs.tail_launch +
         plan.graph_turns * costs.graph_turn + plan.graph_loops * costs.graph_loop + plan.extra_us;
}

/// The cheaper route, and both estimates in words. Of equal ones flat, which needs no launch slots.
[[nodiscard]] inline route_choice cheaper_route(const route_plans& plans,
                                                const launch_costs& costs) {
  const double flat = microseconds(plans.flat, costs);
  const double device = microseconds(plans.device, costs);
  const auto about = [](double us) { return "about " + std::to_string(std::llround(us)) + " us"; };
  return {device < flat ? route::device : route::flat,
          "flat: " + about(flat) + " of launches, device " + about(device)};
}

}  // namespace ramify
