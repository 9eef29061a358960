// SPDX-License-Identifier: BSD-3-Clause
#include "amr_checkpoint.hpp"

#include <stdexcept>
#include <utility>

#include "checkpoint_file.hpp"
#include "text_file.hpp"

namespace common {
namespace {

constexpr auto program = "ramify amr";

/// Calls `with(name, value)` for each integer of a state.
template <class State, class With>
void for_each_count(State& state, With with) {
  with("dimensions", state.dimensions);
  with("cells", state.cells);
  with("variables", state.variables);
  with("real_bytes", state.real_bytes);
  with("steps", state.steps);
  with("next_regrid", state.next_regrid);
  with("cell_updates", state.cell_updates);
  with("regrids", state.regrids);
  with("refined", state.refined);
  with("coarsened", state.coarsened);
}

}  // namespace

nlohmann::ordered_json to_json(const amr_settings& s) {
  const ramify::amr_options& o = s.flow;
  nlohmann::ordered_json json{{"problem", to_string(o.problem)}, {"dim", o.dimensions}};
  for (int axis = 0; axis < o.dimensions; ++axis) {
    json["blocks"].push_back(o.mesh.roots[std::size_t(axis)]);
  }
  json.update(nlohmann::ordered_json{{"max-level", o.mesh.max_level},
                                     {"max-blocks", o.mesh.max_blocks},
                                     {"balance", to_string(o.mesh.balance)},
                                     {"criterion", to_string(o.criterion)},
                                     {"refine-above", o.regrid.refine_above},
                                     {"coarsen-below", o.regrid.coarsen_below},
                                     {"regrid-every", o.regrid.every},
                                     {"cfl", o.step.cfl},
                                     {"limiter", to_string(o.step.limiter)},
                                     {"subcycle", o.step.subcycle},
                                     {"no-reflux", !o.step.reflux},
                                     {"precision", to_string(o.precision)},
                                     {"t-end", o.end_time},
                                     {"frames", s.frames},
                                     {"framed-until", s.framed_until},
                                     {"history-every", s.history_every},
                                     {"field", s.field}});
  return json;
}

amr_settings settings_from_json(const nlohmann::json& json) {
  const auto text = [&](const char* name) { return json.at(name).get<std::string>(); };
  try {
    amr_settings s;
    ramify::amr_options& o = s.flow;
    o = ramify::recommended_options(ramify::parse_amr_problem(text("problem")), json.at("dim"));
    for (int axis = 0; axis < o.dimensions; ++axis) {
      o.mesh.roots[std::size_t(axis)] = json.at("blocks").at(std::size_t(axis));
    }
    o.mesh.max_level = json.at("max-level");
    o.mesh.max_blocks = json.at("max-blocks");
    o.mesh.balance = ramify::parse_balance(text("balance"));
    o.criterion = ramify::parse_amr_criterion(text("criterion"));
    o.regrid.refine_above = json.at("refine-above");
    o.regrid.coarsen_below = json.at("coarsen-below");
    o.regrid.every = json.at("regrid-every");
    o.step.cfl = json.at("cfl");
    o.step.limiter = ramify::parse_limiter(text("limiter"));
    o.step.subcycle = json.at("subcycle");
    o.step.reflux = !json.at("no-reflux").get<bool>();
    o.precision = ramify::parse_amr_precision(text("precision"));
    o.end_time = json.at("t-end");
    s.frames = json.at("frames");
    s.framed_until = json.at("framed-until");
    s.history_every = json.at("history-every");
    s.field = text("field");
    validate(o);
    return s;
  } catch (const nlohmann::json::exception& e) {
    throw std::invalid_argument(e.what());
  }
}

void write_amr_checkpoint(const std::filesystem::path& path, const amr_checkpoint& from) {
  const ramify::amr_state& state = from.state;
  nlohmann::json counts{{"time", state.time}, {"roots", state.roots}};
  for_each_count(state, [&](const char* name, const auto& value) { counts[name] = value; });

  std::vector<std::int32_t> levels;
  std::vector<std::uint32_t> indices;
  levels.reserve(state.leaves.size());
  indices.reserve(3 * state.leaves.size());
  for (const ramify::block_position& leaf : state.leaves) {
    levels.push_back(leaf.level);
    indices.insert(indices.end(), leaf.index.begin(), leaf.index.end());
  }
  write_checkpoint(path, {program,
                          {{"options", to_json(from.settings)},
                           {"state", counts},
                           {"frames_written", from.frames_written}},
                          {{"first_totals", from.first_totals},
                           {"levels", levels},
                           {"indices", indices},
                           {"idle", state.idle},
                           {"values", state.real_bytes == 4 ? "f32" : "f64", state.values}}});
}

amr_checkpoint read_amr_checkpoint(const std::filesystem::path& path) {
  checkpoint file = read_checkpoint(path, program);
  try {
    amr_checkpoint to;
    to.settings = settings_from_json(file.settings.at("options"));
    to.frames_written = file.settings.at("frames_written");
    to.first_totals = file.values<double>("first_totals");
    ramify::amr_state& state = to.state;
    const nlohmann::json& counts = file.settings.at("state");
    state.time = counts.at("time");
    state.roots = counts.at("roots");
    for_each_count(state, [&](const char* name, auto& value) { counts.at(name).get_to(value); });

    const auto levels = file.values<std::int32_t>("levels");
    const auto indices = file.values<std::uint32_t>("indices");
    if (indices.size() != 3 * levels.size()) throw std::invalid_argument("indices without levels");
    for (std::size_t leaf = 0; leaf < levels.size(); ++leaf) {
      const std::uint32_t* const index = &indices[3 * leaf];
      state.leaves.push_back({levels[leaf], {index[0], index[1], index[2]}});
    }
    state.idle = file.values<std::uint32_t>("idle");
    for (checkpoint_array& array : file.arrays) {
      if (array.name == "values") state.values = std::move(array.bytes);
    }
    return to;
  } catch (const nlohmann::json::exception& e) {
    throw bad_input(path.string() + " cannot be continued: " + e.what());
  } catch (const std::logic_error& e) {  // std::invalid_argument, std::out_of_range
    throw bad_input(path.string() + " cannot be continued: " + e.what());
  }
}

}  // namespace common
