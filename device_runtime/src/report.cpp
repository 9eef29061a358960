// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/runtime/report.hpp>

#include <ostream>
#include <stdexcept>

namespace ramify {

std::string_view to_string(backend b) {
  switch (b) {
    case backend::automatic: return "automatic";
    case backend::cuda: return "cuda";
    case backend::cpu: return "cpu";
  }
  return "?";
}

std::string_view to_string(route r) {
  switch (r) {
    case route::automatic: return "automatic";
    case route::device: return "device";
    case route::flat: return "flat";
  }
  return "?";
}

backend parse_backend(std::string_view text) {
  for (const backend b : {backend::automatic, backend::cuda, backend::cpu}) {
    if (text == to_string(b)) return b;
  }
  throw std::invalid_argument("backend '" + std::string(text) +
                              "' is none of automatic, cuda, cpu");
}

route parse_route(std::string_view text) {
  for (const route r : {route::automatic, route::device, route::flat}) {
    if (text == to_string(r)) return r;
  }
  throw std::invalid_argument("route '" + std::string(text) +
                              "' is none of automatic, device, flat");
}

std::ostream& operator<<(std::ostream& out, const run_report& r) {
  return out << "backend: " << to_string(r.ran_on) << " (" << r.backend_reason << ")\n"
             << "route: " << to_string(r.taken) << " (" << r.route_reason << ")\n"
             << "grids launched by the host: " << r.host_grids << '\n'
             << "grids launched by kernels: " << r.child_grids << '\n'
             << "deepest level: " << r.deepest_level << '\n'
             << "tasks spilled to flat grids: " << r.spilled_tasks << '\n'
             << "peak launch slots in use: " << r.peak_slots << '\n'
             << "pending-launch limit: " << r.pending_launch_limit << '\n'
             << "scratch bytes: " << r.scratch_bytes << '\n';
}

}  // namespace ramify
