// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/runtime/launch_costs.cuh>

#include "facade/backend_choice.hpp"

namespace ramify::detail::facade {

launch_costs launch_costs_on_cuda() {
  const host_stream stream;
  const auto known = detail::runtime::find_launch_costs(stream.get());
  if (!known.costs) throw unavailable("launch costs cannot be measured: " + known.obstacle);
  return *known.costs;
}

}  // namespace ramify::detail::facade
