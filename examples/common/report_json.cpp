// SPDX-License-Identifier: BSD-3-Clause
#include "report_json.hpp"

#include <algorithm>
#include <iostream>
#include <ramify/runtime/error.hpp>

#include "cli.hpp"
#include "output_file.hpp"

namespace common {
namespace {

nlohmann::ordered_json to_json(const ramify::launch_costs& costs) {
  nlohmann::ordered_json json;
  for (const ramify::launch_cost_field& field : ramify::launch_cost_fields) {
    json[std::string(field.name) + "_us"] = costs.*field.value;
  }
  return json;
}

/// Returns the launch costs of the GPU of a run. Returns none if the run was not on a GPU, or the
/// costs cannot be measured.
std::optional<ramify::launch_costs> launch_costs_of(const ramify::run_report& r) {
  if (r.ran_on != ramify::backend::cuda) return std::nullopt;
  try {
    return ramify::launch_costs_of_device();
  } catch (const ramify::unavailable&) {  // the route's reason states it
    return std::nullopt;
  }
}

}  // namespace

nlohmann::ordered_json new_report(const char* program) {
  return {{"program", program}, {"version", program_version()}};
}

void write_report(const std::string& requested, std::ostream& out,
                  const std::function<nlohmann::ordered_json()>& json,
                  const std::function<void(std::ostream&)>& print) {
  // Names of files need not be UTF-8.
  const auto dump = [&](std::ostream& to) {
    to << json().dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  };
  if (requested == "json") {
    dump(out);
  } else {
    if (requested != "text") write_file(requested, dump);
    print(out);
  }
  // Only standard error is checked here; run_program() checks standard output.
  if (&out == &std::cerr && !out.flush()) throw bad_output("cannot write standard error");
}

void print_numbers(std::ostream& out, const nlohmann::ordered_json& numbers) {
  for (const auto& [name, value] : numbers.items()) {
    std::string text = name;
    std::ranges::replace(text, '_', ' ');
    out << text << ':';
    if (value.is_string()) {
      out << ' ' << value.get<std::string>();
    } else if (!value.is_array()) {
      out << ' ' << value;
    }
    for (const auto& element : value.is_array() ? value : nlohmann::ordered_json::array()) {
      out << ' ' << element;
    }
    out << '\n';
  }
}

void print_launch_costs(std::ostream& out, const ramify::run_report& r) {
  if (const auto costs = launch_costs_of(r)) out << *costs;
}

nlohmann::ordered_json to_json(const ramify::run_report& r) {
  nlohmann::ordered_json json{
      {"backend", ramify::to_string(r.ran_on)},
      {"backend_reason", r.backend_reason},
  };
  if (r.ran_on == ramify::backend::cuda) {
    const ramify::gpu_identity device = ramify::gpu_and_driver();
    json["gpu"] = device.gpu;
    json["driver"] = device.driver;
  }
  json.update(nlohmann::ordered_json{
      {"route", ramify::to_string(r.taken)},
      {"route_reason", r.route_reason},
      {"looped_by", ramify::to_string(r.looped_by)},
      {"flat_loop_reason", r.flat_loop_reason},
      {"host_grids", r.host_grids},
      {"child_grids", r.child_grids},
      {"graph_grids", r.graph_grids},
      {"deepest_level", r.deepest_level},
      {"spilled_tasks", r.spilled_tasks},
      {"peak_slots", r.peak_slots},
      {"pending_launch_limit", r.pending_launch_limit},
      {"scratch_bytes", r.scratch_bytes},
      {"copy_in_ms", r.copy_in_ms},
      {"work_ms", r.work_ms},
      {"copy_out_ms", r.copy_out_ms},
      {"total_ms", r.total_ms},
  });
  if (const auto costs = launch_costs_of(r)) json["launch_costs"] = to_json(*costs);
  return json;
}

nlohmann::ordered_json to_json(const ramify::quicksort_report& r) {
  nlohmann::ordered_json json{{"strategy", ramify::to_string(r.strategy)}, {"keys", r.keys}};
  json.update(to_json(static_cast<const ramify::run_report&>(r)));
  json["merge_sorted_segments"] = r.merge_sorted_segments;
  if (r.runs > 0) {
    json["runs"] = r.runs;
    json["buckets"] = r.buckets;
  }
  return json;
}

nlohmann::ordered_json to_json(const ramify::cluster_report& r) {
  return {{"ranks", r.ranks},
          {"bytes_sent", r.bytes_sent},
          {"bytes_received", r.bytes_received},
          {"communication_ms", r.communication_ms},
          {"imbalance", r.imbalance}};
}

nlohmann::ordered_json to_json(const ramify::rooted_tree_report& r) {
  nlohmann::ordered_json json{{"nodes", r.nodes}};
  json.update(to_json(static_cast<const ramify::run_report&>(r)));
  json["ranking_levels"] = r.ranking_levels;
  json["rootfix_rounds"] = r.rootfix_rounds;
  return json;
}

nlohmann::ordered_json to_json(const ramify::amr_report& r) {
  nlohmann::ordered_json json{{"time", r.time},
                              {"steps", r.steps},
                              {"cell_updates", r.cell_updates},
                              {"regrids", r.regrids},
                              {"refined_blocks", r.refined},
                              {"coarsened_blocks", r.coarsened},
                              {"leaves", r.leaves},
                              {"blocks", r.blocks},
                              {"peak_blocks", r.peak_blocks},
                              {"finest_level", r.finest_level},
                              {"fallback_cells", r.fallback_cells},
                              {"floored_cells", r.floored_cells}};
  json.update(to_json(static_cast<const ramify::run_report&>(r)));
  return json;
}

}  // namespace common
