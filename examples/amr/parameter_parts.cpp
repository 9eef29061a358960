// SPDX-License-Identifier: BSD-3-Clause
// The parts of a parameter file that have names: regions of initial states, and boxes that stay
// refined.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "common/text_file.hpp"
#include "parameter_file.hpp"

namespace common {
namespace {

using key_of_option = parameter_file::key_of_option;

/// The keys of a region, [region.NAME], with the field of amr_region.
constexpr std::array region_keys{
    key_of_option{"box_lo", "point"},        key_of_option{"box_hi", "upper"},
    key_of_option{"sphere_center", "point"}, key_of_option{"sphere_radius", "radius"},
    key_of_option{"plane_point", "point"},   key_of_option{"plane_normal", "normal"},
    key_of_option{"density", "density"},     key_of_option{"velocity", "velocity"},
    key_of_option{"pressure", "pressure"},
};

/// The keys of a box, [amr.NAME], with the field of amr_refined_box.
constexpr std::array box_keys{
    key_of_option{"in_box_lo", "lower"},
    key_of_option{"in_box_hi", "upper"},
    key_of_option{"max_level", "level"},
};

}  // namespace

parameter_file::part_list* parameter_file::parts_with(const std::string& key) const {
  if (key.starts_with("region.")) return &regions_;
  constexpr std::string_view amr = "amr.";
  return key.starts_with(amr) && key.find('.', amr.size()) != key.npos ? &boxes_ : nullptr;
}

void parameter_file::add_to(part_list& parts, const entry& from) const {
  const std::size_t end = std::min(from.key.find('.', from.key.find('.') + 1), from.key.size());
  const std::string name = from.key.substr(0, end);
  const std::string key = from.key.substr(std::min(end + 1, from.key.size()));
  auto part = std::ranges::find(parts, name, &part_entries::name);
  if (part == parts.end()) {
    parts.push_back({name, from.line, {}});
    part = parts.end() - 1;
  }
  if (from.words.empty()) return;  // [region.NAME]
  const bool is_region = &parts == &regions_;
  const std::span<const key_of_option> keys =
      is_region ? std::span<const key_of_option>(region_keys) : box_keys;
  if (std::ranges::find(keys, key, &key_of_option::key) == keys.end()) {
    std::string names = is_region ? "region are" : "refined box are";
    for (const key_of_option& one : keys) {
      names += (&one == keys.data() ? " " : ", ") + name + '.' + std::string(one.key);
    }
    reject(from, "is no key; those of a " + names);
  }
  part->entries.emplace(key, from);
}

void parameter_file::read(const part_entries& from, const char* key, int count, double* to) const {
  const auto found = from.entries.find(key);
  if (found == from.entries.end()) {
    throw bad_input(place(from.line) + from.name + " has no " + key);
  }
  const entry& one = found->second;
  if (one.words.size() != std::size_t(count)) {
    reject(one, "has " + counted(one.words.size(), "number") + "; it must have " +
                    std::to_string(count));
  }
  for (const std::string& word : one.words) {
    const number_error error = parse_number(word, *to);
    if (error != number_error::none || !std::isfinite(*to)) {
      reject(one, "is " + in_quotes(word) + "; it must be a finite number");
    }
    ++to;
  }
}

ramify::amr_region parameter_file::region_of(const part_entries& from, int dimensions) const {
  const auto has = [&](const char* key) { return from.entries.contains(key); };
  const auto read_vector = [&](const char* key, std::array<double, 3>& to) {
    read(from, key, dimensions, to.data());
  };
  const auto read_scalar = [&](const char* key, double& to) { read(from, key, 1, &to); };
  ramify::amr_region region;
  const bool is_box = has("box_lo") || has("box_hi");
  const bool is_ball = has("sphere_center") || has("sphere_radius");
  const bool is_half_space = has("plane_point") || has("plane_normal");
  if (int(is_box) + int(is_ball) + int(is_half_space) > 1) {
    throw bad_input(place(from.line) + from.name +
                    " has two shapes; it must be a box, a sphere, a plane or everywhere");
  }
  if (is_box) {
    region.shape = ramify::amr_shape::box;
    read_vector("box_lo", region.point);
    read_vector("box_hi", region.upper);
  } else if (is_ball) {
    region.shape = ramify::amr_shape::ball;
    read_vector("sphere_center", region.point);
    read_scalar("sphere_radius", region.radius);
  } else if (is_half_space) {
    region.shape = ramify::amr_shape::half_space;
    read_vector("plane_point", region.point);
    read_vector("plane_normal", region.normal);
  }
  read_scalar("density", region.density);
  read_scalar("pressure", region.pressure);
  if (has("velocity")) read_vector("velocity", region.velocity);
  return region;
}

std::vector<ramify::amr_region> parameter_file::regions(int dimensions) const {
  std::vector<ramify::amr_region> all;
  for (const part_entries& one : regions_) all.push_back(region_of(one, dimensions));
  return all;
}

std::vector<ramify::amr_refined_box> parameter_file::refined_boxes(int dimensions,
                                                                   int max_level) const {
  std::vector<ramify::amr_refined_box> all;
  for (const part_entries& one : boxes_) {
    constexpr std::size_t most = 8;
    if (all.size() == most) {
      throw bad_input(place(one.line) + one.name + " is one refined box too many; the most are " +
                      std::to_string(most));
    }
    ramify::amr_refined_box& box = all.emplace_back();
    read(one, "in_box_lo", dimensions, box.lower.data());
    read(one, "in_box_hi", dimensions, box.upper.data());
    box.level = max_level;
    const auto level = one.entries.find("max_level");
    if (level == one.entries.end()) continue;
    if (level->second.words.size() > 1) {
      reject(level->second,
             "has " + std::to_string(level->second.words.size()) + " values; it must have one");
    }
    const auto given = parse<unsigned>(level->second.words[0]);
    if (!given || *given > unsigned(max_level)) {
      reject(level->second, "is " + in_quotes(level->second.words[0]) +
                                "; it must be a whole number in [0, " + std::to_string(max_level) +
                                "], up to amr.max_level");
    }
    box.level = int(*given);
  }
  return all;
}

std::string parameter_file::about_part(const std::string& message) const {
  struct kind {
    std::string_view list;
    const part_list& parts;
    std::span<const key_of_option> keys;
  };
  for (const auto& [list, parts, keys] : {kind{"amr_setup.regions[", regions_, region_keys},
                                          kind{"amr_setup.refined_boxes[", boxes_, box_keys}}) {
    if (!message.starts_with(list)) continue;
    const std::size_t end = message.find("].");
    const auto number = parse<std::size_t>(message.substr(list.size(), end - list.size()));
    if (!number || *number >= parts.size()) return {};
    const part_entries& part = parts[*number];
    const std::string rest = message.substr(end + 2);
    const std::string field = rest.substr(0, rest.find_first_of(" ["));
    for (const auto& [name, from] : part.entries) {
      const auto row = std::ranges::find(keys, name, &key_of_option::key);
      if (row->option == field) return place(from.line) + from.key + rest.substr(field.size());
    }
    return place(part.line) + part.name + ": " + rest;
  }
  return {};
}

}  // namespace common
