// SPDX-License-Identifier: BSD-3-Clause
#include "amr_checkpoint.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "checkpoint_file.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

constexpr auto program = "ramify amr";

/// Returns a whole number in [least, most]. \throws std::invalid_argument naming it
template <class T>
T whole_number(const std::string& name, const nlohmann::json& value, T least = 0,
               T most = std::numeric_limits<T>::max()) {
  // get() would convert -1, 1.5 and 2^40 to other numbers.
  if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0)) {
    const auto number = value.get<std::uint64_t>();
    if (number >= std::uint64_t(least) && number <= std::uint64_t(most)) return T(number);
  }
  throw std::invalid_argument(name + " is " + value.dump() + "; it must be a whole number in [" +
                              std::to_string(least) + ", " + std::to_string(most) + "]");
}

/// Returns a number in [least, most]. \throws std::invalid_argument naming it
double number(const std::string& name, const nlohmann::json& value, double least, double most) {
  if (value.is_number() && value.get<double>() >= least && value.get<double>() <= most) {
    return value.get<double>();
  }
  std::ostringstream text;
  text << name << " is " << value << "; it must be a number in [" << least << ", " << most << "]";
  throw std::invalid_argument(text.str());
}

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
  const ramify::amr_setup& o = s.flow;
  const auto& [mesh, regrid, step] = o.options;
  nlohmann::ordered_json json{{"problem", to_string(o.problem)}, {"dim", o.dimensions}};
  for (int axis = 0; axis < o.dimensions; ++axis) {
    json["blocks"].push_back(mesh.roots[std::size_t(axis)]);
  }
  json.update(nlohmann::ordered_json{{"max-level", mesh.max_level},
                                     {"max-blocks", mesh.max_blocks},
                                     {"balance", to_string(mesh.balance)},
                                     {"criterion", to_string(o.criterion)},
                                     {"refine-above", regrid.refine_above},
                                     {"coarsen-below", regrid.coarsen_below},
                                     {"regrid-every", regrid.every},
                                     {"cfl", step.cfl},
                                     {"limiter", to_string(step.limiter)},
                                     {"subcycle", step.subcycle},
                                     {"no-reflux", !step.reflux},
                                     {"precision", to_string(o.precision)},
                                     {"t-end", o.end_time},
                                     {"frames", s.frames},
                                     {"framed-until", s.framed_until},
                                     {"history-every", s.history_every},
                                     {"field", s.field},
                                     {"output-dir", s.output_dir}});
  return json;
}

void validate(const amr_settings& s) {
  validate(s.flow);
  const auto fields = field_names(s.flow, ramify::amr_fields::primitive);
  if (std::ranges::find(fields, s.field) == fields.end()) {
    std::string all;
    for (const std::string& name : fields) all += (all.empty() ? "" : ", ") + name;
    throw std::invalid_argument("--field '" + s.field + "' is none of " + all);
  }
  if (s.output_dir.empty()) throw std::invalid_argument("--output-dir is empty");
}

amr_settings settings_from_json(const nlohmann::json& json) {
  const auto text = [&](const char* name) { return json.at(name).get<std::string>(); };
  try {
    amr_settings s;
    ramify::amr_setup& o = s.flow;
    o = ramify::recommended_setup(ramify::parse_amr_problem(text("problem")),
                                  whole_number("dim", json.at("dim"), 2, 3));
    auto& [mesh, regrid, step] = o.options;
    for (int axis = 0; axis < o.dimensions; ++axis) {
      mesh.roots[std::size_t(axis)] =
          whole_number("blocks", json.at("blocks").at(std::size_t(axis)), 1u, 4096u);
    }
    mesh.max_level = whole_number("max-level", json.at("max-level"), 0, 18);
    mesh.max_blocks = whole_number<std::size_t>("max-blocks", json.at("max-blocks"));
    mesh.balance = ramify::parse_balance(text("balance"));
    o.criterion = ramify::parse_amr_criterion(text("criterion"));
    regrid.refine_above = number("refine-above", json.at("refine-above"), 0, 1e30);
    regrid.coarsen_below = number("coarsen-below", json.at("coarsen-below"), 0, 1e30);
    regrid.every = whole_number<unsigned>("regrid-every", json.at("regrid-every"));
    step.cfl = number("cfl", json.at("cfl"), 1e-30, 1);
    step.limiter = ramify::parse_limiter(text("limiter"));
    step.subcycle = json.at("subcycle");
    step.reflux = !json.at("no-reflux").get<bool>();
    o.precision = ramify::parse_amr_precision(text("precision"));
    o.end_time = number("t-end", json.at("t-end"), 1e-30, 1e30);
    s.frames = whole_number<std::uint32_t>("frames", json.at("frames"));
    s.framed_until = number("framed-until", json.at("framed-until"), 1e-30, 1e30);
    s.history_every = whole_number<std::uint64_t>("history-every", json.at("history-every"), 1);
    s.field = text("field");
    s.output_dir = json.value("output-dir", s.output_dir);  // earlier versions have none
    validate(s);
    return s;
  } catch (const nlohmann::json::exception& e) {
    throw std::invalid_argument(e.what());
  }
}

void check_for_checkpoint(const amr_settings& settings) {
  const auto options = to_json(settings);
  for (const auto& [name, value] : options.items()) {
    try {
      static_cast<void>(value.dump());
    } catch (const nlohmann::json::exception&) {
      throw std::invalid_argument("--" + name +
                                  " is not UTF-8 text, and --checkpoint can store no other");
    }
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
    to.frames_written =
        whole_number<std::uint32_t>("frames_written", file.settings.at("frames_written"));
    to.first_totals = file.values<double>("first_totals");
    const auto totals = field_names(to.settings.flow, ramify::amr_fields::conserved).size();
    if (to.first_totals.size() != totals) {
      throw std::invalid_argument("first_totals has " + std::to_string(to.first_totals.size()) +
                                  " numbers; it must have " + std::to_string(totals));
    }
    ramify::amr_state& state = to.state;
    const nlohmann::json& counts = file.settings.at("state");
    state.time = number("time", counts.at("time"), 0, 1e30);
    const nlohmann::json& roots = counts.at("roots");
    for (std::size_t axis = 0; axis < 3; ++axis) {
      state.roots[axis] = whole_number("roots", roots.at(axis), 1u, 4096u);
    }
    for_each_count(state, [&](const char* name, auto& value) {
      value = whole_number<std::remove_reference_t<decltype(value)>>(name, counts.at(name));
    });

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
