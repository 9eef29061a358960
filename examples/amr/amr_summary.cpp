// SPDX-License-Identifier: BSD-3-Clause
#include "amr_summary.hpp"

#include <cmath>
#include <string>

#include "amr_recorder.hpp"
#include "common/cli.hpp"
#include "common/report_json.hpp"

namespace common {
namespace {

/// Returns which totals change only by rounding: all of a closed domain, except momenta toward
/// walls, what gravity changes, and psi. Floors may change all of them.
std::vector<bool> conserved_totals(const ramify::amr_setup& flow) {
  const auto has = [&](int axis, ramify::boundary side) {
    const auto& sides = flow.options.mesh.sides[std::size_t(axis)];
    return sides[0] == side || sides[1] == side;
  };
  bool closed = true;
  for (int axis = 0; axis < flow.dimensions; ++axis) {
    if (has(axis, ramify::boundary::outflow) || has(axis, ramify::boundary::prescribed)) {
      closed = false;
    }
  }
  closed = closed && !flow.keep_positive;
  const auto names = names_of_totals(flow);
  std::vector<bool> conserved(names.size(), closed);
  if (names.back() == "psi") {
    // Walls push the plasma, and a field through them is corrected.
    const bool is_periodic =
        has(0, ramify::boundary::periodic) && has(1, ramify::boundary::periodic);
    for (std::size_t v = 1; v < names.size(); ++v) {
      conserved[v] = closed && names[v] != "psi" && (is_periodic || names[v] == "energy");
    }
    return conserved;
  }
  for (std::size_t v = 1; v + 1 < conserved.size(); ++v) {
    const double pull = flow.gravity[v - 1];
    if (pull != 0 || !has(int(v) - 1, ramify::boundary::periodic)) conserved[v] = false;
    if (pull != 0) conserved.back() = false;  // the energy
  }
  return conserved;
}

}  // namespace

bool has_returned(const ramify::amr_setup& flow, double time) {
  const double period = return_time(flow);
  if (period == 0 || time == 0) return false;
  const double periods = time / period;
  return std::abs(periods - std::round(periods)) < 1e-9 * periods;
}

nlohmann::ordered_json to_json(const amr_summary& all) {
  auto json = new_report("amr");
  json["settings"] = to_json(all.settings);
  json.update(to_json(all.report));
  json["leaves_of_level"] = all.leaves_of_level;
  const auto names = names_of_totals(all.settings.flow);
  const auto conserved = conserved_totals(all.settings.flow);
  for (std::size_t v = 0; v < names.size(); ++v) {
    json["totals"].push_back({{"name", names[v]},
                              {"first", all.first_totals[v]},
                              {"last", all.last_totals[v]},
                              {"conserved", bool(conserved[v])}});
  }
  const auto fields = field_names(all.settings.flow, ramify::amr_fields::conserved);
  for (std::size_t v = 0; v < all.errors.size(); ++v) {
    json["l1_errors"][fields[v]] = all.errors[v];
  }
  json["seconds"] = all.seconds;
  json["cell_updates_per_second"] = all.seconds > 0 ? double(all.cell_updates) / all.seconds : 0;
  if (all.cluster) {
    json.update(all.division);
    json.update(to_json(*all.cluster));
  }
  return json;
}

void print(std::ostream& out, const amr_summary& all) {
  const ramify::amr_setup& flow = all.settings.flow;
  out << static_cast<const ramify::run_report&>(all.report)
      << "problem: " << to_string(flow.problem) << " in " << flow.dimensions << "D, precision "
      << to_string(flow.precision) << "\ntime: " << all.report.time
      << "\nsteps: " << all.report.steps << "\nregrids: " << all.report.regrids << " ("
      << all.report.refined << " blocks refined, " << all.report.coarsened
      << " families coarsened)\nleaves:";
  for (std::size_t level = 0; level < all.leaves_of_level.size(); ++level) {
    out << (level == 0 ? " " : ", ") << all.leaves_of_level[level] << " of level " << level;
  }
  if (flow.keep_positive) {
    out << "\ncells kept positive: " << all.report.fallback_cells << " by fluxes of first order, "
        << all.report.floored_cells << " by floors";
  }
  const double cells = double(all.report.leaves) * cells_of_a_block(flow);
  double uniform = cells_of_a_block(flow);
  for (int axis = 0; axis < flow.dimensions; ++axis) {
    uniform *=
        double(flow.options.mesh.roots[std::size_t(axis)]) * std::exp2(all.report.finest_level);
  }
  out << "\ncells: " << std::uint64_t(cells) << ", " << 100 * cells / uniform
      << " % of a uniform mesh of the finest level\n";
  const auto names = names_of_totals(flow);
  const auto conserved = conserved_totals(flow);
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (!conserved[v]) continue;
    const double change = all.last_totals[v] - all.first_totals[v];
    // A momentum's first value may be 0.
    const bool relative = v == 0 || v + 1 == names.size() || names[v] == "energy";
    out << "drift of " << names[v] << ": " << (relative ? change / all.first_totals[v] : change)
        << (relative ? " (relative)\n" : " (absolute)\n");
  }
  const auto fields = field_names(flow, ramify::amr_fields::conserved);
  for (std::size_t v = 0; v < all.errors.size(); ++v) {
    out << "L1 error of " << fields[v] << ": " << all.errors[v] << '\n';
  }
  out << "seconds: " << all.seconds
      << "\ncell updates/s: " << (all.seconds > 0 ? double(all.cell_updates) / all.seconds : 0)
      << '\n';
  print_launch_costs(out, all.report);
  if (!all.cluster) return;
  out << "moved blocks: " << all.division["moved_blocks"]
      << "\nhalo blocks: " << all.division["halo_blocks"]
      << "\nimbalance of costs: " << all.division["cost_imbalance"] << '\n'
      << *all.cluster;
}

}  // namespace common
