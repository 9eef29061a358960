// SPDX-License-Identifier: BSD-3-Clause
#include "amr_settings.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "common/text_file.hpp"
#include "json_numbers.hpp"
#include "mesh_rows.hpp"

namespace common {
namespace {

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

/// Reads a number, or three.
void read_number(const nlohmann::json& json, const char* name, auto& value, double least,
                 double most) {
  if constexpr (std::is_same_v<decltype(value), double&>) {
    value = number(name, json.at(name), least, most);
  } else {
    for (std::size_t axis = 0; axis < value.size(); ++axis) {
      value[axis] = number(name, json.at(name).at(axis), least, most);
    }
  }
}

ramify::amr_region region_from_json(const nlohmann::json& json) {
  ramify::amr_region region;
  region.shape = ramify::parse_choice<ramify::amr_shape>(
      "shape", json.at("shape").get_ref<const std::string&>());
  for_each_number(region, [&](const char* name, auto& value, double least) {
    read_number(json, name, value, least, 1e18);
  });
  return region;
}

nlohmann::ordered_json to_json(const ramify::amr_refined_box& box) {
  return {{"lower", box.lower}, {"upper", box.upper}, {"level", box.level}};
}

ramify::amr_refined_box box_from_json(const nlohmann::json& json) {
  ramify::amr_refined_box box;
  constexpr double most = std::numeric_limits<double>::max();
  read_number(json, "lower", box.lower, -most, most);
  read_number(json, "upper", box.upper, -most, most);
  box.level = whole_number("level", json.at("level"), 0, 18);
  return box;
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
  json["keep-positive"] = flow.keep_positive;
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
  flow.keep_positive = json.value("keep-positive", false);
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
  s.htg = json.value("htg", false);
  if (!json.contains("derived")) return;
  for (const auto& name : json.at("derived")) {
    s.derived.push_back(ramify::parse_derived_field(name.get_ref<const std::string&>()));
  }
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
                                     {"buffer-cells", o.buffer_cells},
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
                                     {"htg", s.htg},
                                     {"range", nullptr},
                                     {"units", {s.units.field, s.units.time}},
                                     {"slice", s.slices},
                                     {"line", s.lines},
                                     {"probe", s.probes}});
  for (const auto& box : o.refined_boxes) json["refined-boxes"].push_back(to_json(box));
  if (s.range) json["range"] = *s.range;
  json["derived"] = nlohmann::ordered_json::array();
  for (const ramify::derived_field field : s.derived) json["derived"].push_back(to_string(field));
  return json;
}

std::optional<ramify::boundary> parse_side(std::string_view name) {
  const auto found = std::ranges::find(side_names, name);
  if (found == side_names.end()) return std::nullopt;
  return ramify::boundary(found - side_names.begin());
}

std::vector<std::string> output_fields(const amr_settings& s) {
  auto fields = field_names(s.flow, ramify::amr_fields::primitive);
  for (const ramify::derived_field field : s.derived) fields.emplace_back(to_string(field));
  return fields;
}

ramify::mesh_snapshot with_fields(const ramify::mesh_snapshot& mesh,
                                  const ramify::mesh_snapshot& more) {
  ramify::mesh_snapshot all = mesh;
  all.fields.insert(all.fields.end(), more.fields.begin(), more.fields.end());
  all.values.clear();
  all.values.reserve(mesh.values.size() + more.values.size());
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (const ramify::mesh_snapshot* from : {&mesh, &more}) {
      const double* const first = from->field(leaf, 0);
      all.values.insert(all.values.end(), first,
                        first + from->fields.size() * from->cells_of_a_block());
    }
  }
  return all;
}

void validate(const amr_settings& s) {
  validate(s.flow);
  const auto fields = output_fields(s);
  const auto has = [&](const char* name) {
    return std::ranges::find(fields, name) != fields.end();
  };
  for (const ramify::derived_field field : s.derived) {
    if (has("pressure") && (has("psi") || !is_magnetic(field))) continue;
    throw std::invalid_argument(std::string("--derived needs a problem of a ") +
                                (is_magnetic(field) ? "plasma" : "gas") + ", and " +
                                std::string(to_string(s.flow.problem)) + " is none");
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (std::find(fields.begin(), fields.begin() + std::ptrdiff_t(i), fields[i]) !=
        fields.begin() + std::ptrdiff_t(i)) {
      throw std::invalid_argument("--derived has " + fields[i] + " twice");
    }
  }
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
    if (json.contains("buffer-cells")) {  // earlier versions have none
      o.buffer_cells = whole_number("buffer-cells", json.at("buffer-cells"), 0, 16);
    }
    for (const auto& box : json.value("refined-boxes", nlohmann::json::array())) {
      o.refined_boxes.push_back(box_from_json(box));
    }
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

}  // namespace common
