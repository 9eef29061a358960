// SPDX-License-Identifier: BSD-3-Clause
#include "points.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>
#include <ramify/runtime/report.hpp>
#include <span>
#include <string>

#include "sampler.hpp"
#include "text_file.hpp"

namespace common {
namespace {

using point = std::array<double, 3>;
constexpr std::array<std::string_view, 3> names{"x", "y", "z"};

// Returns the number of fields of a line, or 0 if it is neither 2 nor 3.
int dimensions_of(std::string_view line) {
  std::array<std::string_view, 3> fields;
  for (const int dimensions : {2, 3}) {
    const std::span used(fields.data(), static_cast<std::size_t>(dimensions));
    if (split_at_commas(line, used)) return dimensions;
  }
  return 0;
}

bool is_header(std::string_view line) {
  std::array<std::string_view, 3> fields;
  const std::span used(fields.data(), static_cast<std::size_t>(dimensions_of(line)));
  return !used.empty() && split_at_commas(line, used) &&
         std::ranges::equal(used, std::span(names).first(used.size()));
}

// Parses a line. Returns the fault, or an empty string.
std::string parse(std::string_view line, int dimensions, point& to) {
  std::array<std::string_view, 3> fields;
  const std::span used(fields.data(), static_cast<std::size_t>(dimensions));
  if (!split_at_commas(line, used)) {
    return dimensions == 2 ? "is not two numbers x,y" : "is not three numbers x,y,z";
  }
  for (std::size_t axis = 0; axis < used.size(); ++axis) {
    if (auto fault = parse_finite(names[axis], used[axis], to[axis]); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace

std::string_view to_string(cloud_kind kind) {
  return ramify::choice_name(kind, {"uniform", "clusters", "curve"});
}

cloud_kind parse_cloud_kind(std::string_view text) {
  return ramify::parse_choice<cloud_kind>("kind", text);
}

point_set make_cloud(cloud_kind kind, std::size_t n, int dimensions, std::uint64_t seed) {
  point_set made{dimensions};
  if (n > made.points.max_size()) throw std::bad_alloc();
  made.points.reserve(n);
  const auto axes = static_cast<std::size_t>(dimensions);
  sampler random(seed);
  struct cluster {
    point center{};
    double radius = 0;
  };
  std::array<cluster, 32> clusters;
  for (cluster& c : clusters) {
    for (double& x : c.center) x = 0.1 + 0.8 * random.uniform();
    c.radius = 0.002 * std::pow(25, random.uniform());
  }
  for (std::size_t i = 0; i < n; ++i) {
    point p{};
    const cluster& around = clusters[i % clusters.size()];
    const double angle = 2 * std::numbers::pi * random.uniform();
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto order = static_cast<double>(axis);
      switch (kind) {
        case cloud_kind::uniform: p[axis] = random.uniform(); break;
        case cloud_kind::clusters:
          p[axis] = around.center[axis] + around.radius * random.normal();
          break;
        case cloud_kind::curve:
          p[axis] =
              0.5 + 0.45 * std::sin((3 + order) * angle + 1 - order) + 0.001 * random.normal();
          break;
      }
    }
    made.points.push_back(p);
  }
  return made;
}

point_set read_points(const std::filesystem::path& path) {
  point_set all;
  bool knows_dimensions = false;
  for_each_line(path, [&](const text_line& line) {
    if (!knows_dimensions) {
      all.dimensions = dimensions_of(line.text);
      if (all.dimensions == 0) line.reject("is neither two numbers x,y nor three numbers x,y,z");
      knows_dimensions = true;
      if (is_header(line.text)) return;
    }
    point p{};
    if (const auto fault = parse(line.text, all.dimensions, p); !fault.empty()) line.reject(fault);
    all.points.push_back(p);
  });
  return all;
}

}  // namespace common
