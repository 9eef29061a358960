// SPDX-License-Identifier: BSD-3-Clause
#include "amr_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "checkpoint_file.hpp"
#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "mesh_rows.hpp"

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

/// The names of the enumerators of boundary.
constexpr std::array<std::string_view, 4> side_names{"periodic", "outflow", "reflecting", "inflow"};

/// Calls `with(name, value, least)` for each number and vector of a region, with the least value.
template <class Region, class With>
void for_each_number(Region& region, With with) {
  with("point", region.point, -1e18);
  with("upper", region.upper, -1e18);
  with("radius", region.radius, 0);
  with("normal", region.normal, -1e18);
  with("density", region.density, 0);
  with("velocity", region.velocity, -1e18);
  with("pressure", region.pressure, 0);
}

nlohmann::ordered_json to_json(const ramify::amr_region& region) {
  nlohmann::ordered_json json{{"shape", to_string(region.shape)}};
  for_each_number(region, [&](const char* name, const auto& value, double) { json[name] = value; });
  return json;
}

ramify::amr_region region_from_json(const nlohmann::json& json) {
  ramify::amr_region region;
  region.shape = ramify::parse_choice<ramify::amr_shape>(
      "shape", json.at("shape").get_ref<const std::string&>());
  for_each_number(region, [&](const char* name, auto& value, double least) {
    if constexpr (std::is_same_v<decltype(value), double&>) {
      value = number(name, json.at(name), least, 1e18);
    } else {
      for (std::size_t axis = 0; axis < value.size(); ++axis) {
        value[axis] = number(name, json.at(name).at(axis), least, 1e18);
      }
    }
  });
  return region;
}

/// Adds what an own problem sets to the settings of a checkpoint.
void add_problem(nlohmann::ordered_json& json, const ramify::amr_setup& flow) {
  const auto& mesh = flow.options.mesh;
  for (std::size_t axis = 0; axis < std::size_t(flow.dimensions); ++axis) {
    json["prob-lo"].push_back(mesh.lower[axis]);
    json["prob-hi"].push_back(mesh.upper[axis]);
    json["lo-bc"].push_back(side_names[std::size_t(mesh.sides[axis][0])]);
    json["hi-bc"].push_back(side_names[std::size_t(mesh.sides[axis][1])]);
    json["gravity"].push_back(flow.gravity[axis]);
  }
  json["gamma"] = flow.gamma;
  for (const ramify::amr_region& region : flow.regions) json["regions"].push_back(to_json(region));
}

/// Reads what add_problem() wrote. Checkpoints of earlier versions have the customary values.
void read_problem(ramify::amr_setup& flow, const nlohmann::json& json) {
  if (!json.contains("gamma")) return;
  auto& mesh = flow.options.mesh;
  const auto side = [&](const char* name, std::size_t axis) {
    const auto& text = json.at(name).at(axis).get_ref<const std::string&>();
    const auto found = parse_side(text);
    if (!found) throw std::invalid_argument(std::string(name) + " is '" + text + "'");
    return *found;
  };
  for (std::size_t axis = 0; axis < std::size_t(flow.dimensions); ++axis) {
    mesh.lower[axis] = number("prob-lo", json.at("prob-lo").at(axis), -1e90, 1e90);
    mesh.upper[axis] = number("prob-hi", json.at("prob-hi").at(axis), -1e90, 1e90);
    mesh.sides[axis] = {side("lo-bc", axis), side("hi-bc", axis)};
    flow.gravity[axis] = number("gravity", json.at("gravity").at(axis), -1e18, 1e18);
  }
  flow.gamma = number("gamma", json.at("gamma"), 1, 1e6);
  if (flow.problem != ramify::amr_problem::regions) return;
  flow.regions.clear();
  for (const auto& region : json.at("regions")) flow.regions.push_back(region_from_json(region));
}

/// Reads the settings of the output that earlier versions do not have.
void read_output(amr_settings& s, const nlohmann::json& json) {
  s.float32 = json.at("float32");
  if (const auto& range = json.at("range"); !range.is_null()) {
    s.range = {number("range", range.at(0), -1e300, 1e300),
               number("range", range.at(1), -1e300, 1e300)};
  }
  s.units = {json.at("units").at(0).get<std::string>(), json.at("units").at(1).get<std::string>()};
  s.slices = json.at("slice").get<std::vector<std::string>>();
  s.lines = json.at("line").get<std::vector<std::string>>();
  s.probes = json.at("probe").get<std::vector<std::string>>();
}

/// Checks the parts of the mesh that are written as tables. \throws std::invalid_argument
void check_tables(const amr_settings& s) {
  const auto& mesh = s.flow.options.mesh;
  const int dim = s.flow.dimensions;
  const auto checked = [&](const char* option, const std::vector<std::string>& texts, auto is_in) {
    if (texts.size() > 1000) {
      throw std::invalid_argument(std::string(option) + " is given more than 1000 times");
    }
    for (const std::string& text : texts) {
      bool is_inside = false;
      try {
        is_inside = is_in(text);
      } catch (const std::invalid_argument& e) {
        throw std::invalid_argument(std::string(option) + ": " + e.what());
      }
      if (!is_inside) {
        throw std::invalid_argument(std::string(option) + " " + in_quotes(text) +
                                    " is outside of the domain");
      }
    }
  };
  const auto is_on_axis = [&](std::size_t axis, double at) {
    return at >= mesh.lower[axis] && at <= mesh.upper[axis];
  };
  const auto is_in_domain = [&](const mesh_point& point) {
    bool inside = true;
    for (std::size_t axis = 0; axis < std::size_t(dim); ++axis) {
      inside = inside && is_on_axis(axis, point[axis]);
    }
    return inside;
  };
  checked("--slice", s.slices, [&](const std::string& text) {
    const mesh_slice slice = parse_slice(text, dim);
    return is_on_axis(std::size_t(slice.axis), slice.position);
  });
  checked("--line", s.lines, [&](const std::string& text) {
    const mesh_line line = parse_line(text, dim);
    return is_in_domain(line.from) && is_in_domain(line.to);
  });
  checked("--probe", s.probes,
          [&](const std::string& text) { return is_in_domain(parse_point(text, dim)); });
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
  add_problem(json, o);
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
                                     {"output-dir", s.output_dir},
                                     {"float32", s.float32},
                                     {"range", nullptr},
                                     {"units", {s.units.field, s.units.time}},
                                     {"slice", s.slices},
                                     {"line", s.lines},
                                     {"probe", s.probes}});
  if (s.range) json["range"] = *s.range;
  return json;
}

std::optional<ramify::boundary> parse_side(std::string_view name) {
  const auto found = std::ranges::find(side_names, name);
  if (found == side_names.end()) return std::nullopt;
  return ramify::boundary(found - side_names.begin());
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
  if (s.range && !((*s.range)[0] < (*s.range)[1])) {
    throw std::invalid_argument("--range has an end that is not greater than its beginning");
  }
  if (s.units.field.size() > 32 || s.units.time.size() > 32) {
    throw std::invalid_argument("--units has more than 32 characters");
  }
  check_tables(s);
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
    read_problem(o, json);
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
    if (json.contains("float32")) read_output(s, json);
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

void keep_checkpoints(const std::filesystem::path& path, std::uint64_t count) {
  namespace fs = std::filesystem;
  std::error_code why;
  if (count < 2 || !fs::exists(path, why)) return;
  const auto earlier = [&](std::uint64_t number) {
    return fs::path(path.string() + '.' + std::to_string(number));
  };
  const auto check = [&](const fs::path& file) {
    if (why) throw bad_output("cannot write " + file.string() + ": " + why.message());
  };
  for (std::uint64_t number = count - 1; number > 1; --number) {
    if (!fs::exists(earlier(number - 1), why)) continue;
    fs::rename(earlier(number - 1), earlier(number), why);
    check(earlier(number));
  }
  fs::remove(earlier(1), why);
  check(earlier(1));
  // write_file() replaces FILE by a new file, so this name keeps the old content.
  if (!fs::is_symlink(path)) fs::create_hard_link(path, earlier(1), why);
  // A link would lead to the new content, and some file systems have no hard links.
  if (why || fs::is_symlink(path)) fs::copy_file(path, earlier(1), why);
  check(earlier(1));
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
