// SPDX-License-Identifier: BSD-3-Clause
#include "bodies.hpp"

#include <cmath>
#include <limits>
#include <new>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "common/sampler.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

using row = std::array<double, 7>;
constexpr std::array<std::string_view, 7> names{"x", "y", "z", "vx", "vy", "vz", "m"};

// Returns the column of a header line with one of the names. Throws bad_input.
std::size_t column_of(const text_line& line, std::string_view name) {
  const auto column = line.column(name);
  if (!column) {
    throw bad_input(line.message("is a header line without the column " + in_quotes(name) +
                                 "; it must name x,y,z,vx,vy,vz,m in any order"));
  }
  return *column;
}

// Checks that a float has the range for a word, and does not round it if it is a whole number.
void require_float(const text_line& line, std::string_view name, std::string_view word) {
  const auto number = line.parse_word<float>(name, word);
  if (number != 0 && std::fabs(number) < std::numeric_limits<float>::min()) {
    line.reject_word(name, word, describe<float>(number_error::underflow));
  }
  if (rounds_whole_number<float>(word)) {
    line.reject_word(name, word, "a float would round; --precision double does not");
  }
}

void append(bodies& all, const row& r) {
  all.positions.push_back({r[0], r[1], r[2]});
  all.velocities.push_back({r[3], r[4], r[5]});
  all.masses.push_back(r[6]);
}

// Draws the stars of a Plummer sphere.
class plummer_sampler {
 public:
  explicit plummer_sampler(std::uint64_t seed) : random_(seed) {}

  // Draws a star, in units in which G, the total mass and the scale radius are 1.
  row star() {
    constexpr double max_radius = 10;
    double r = 0;
    do {  // the radius that contains a uniform random fraction of the mass
      r = 1 / std::sqrt(std::pow(1 - random_.uniform(), -2.0 / 3) - 1);
    } while (!(r <= max_radius));
    // The speed is a fraction q of the escape speed, with the density q^2 (1 - q^2)^(7/2), which is
    // less than 0.1. Draw q by rejection.
    double q = 0;
    double height = 0;
    do {
      q = random_.uniform();
      height = 0.1 * random_.uniform();
    } while (height > q * q * std::pow(1 - q * q, 3.5));
    const double v = q * std::numbers::sqrt2 * std::pow(1 + r * r, -0.25);
    const auto x = direction();
    const auto to = direction();
    return {r * x[0], r * x[1], r * x[2], v * to[0], v * to[1], v * to[2], 0};
  }

 private:
  bodies::vector direction() {
    const double z = 1 - 2 * random_.uniform();
    const double around = 2 * std::numbers::pi * random_.uniform();
    const double rest = std::sqrt(1 - z * z);
    return {rest * std::cos(around), rest * std::sin(around), z};
  }

  sampler random_;
};

// Subtracts the mean from all vectors.
void center(std::vector<bodies::vector>& vectors) {
  bodies::vector mean{};
  for (const auto& v : vectors) {
    for (std::size_t axis = 0; axis < 3; ++axis) mean[axis] += v[axis];
  }
  for (auto& v : vectors) {
    for (std::size_t axis = 0; axis < 3; ++axis) v[axis] -= mean[axis] / double(vectors.size());
  }
}

}  // namespace

bodies make_plummer_sphere(std::size_t n, std::uint64_t seed) {
  // The scale radius in standard units; the unit of speed follows from G M = 1.
  constexpr double scale = 3 * std::numbers::pi / 16;
  const double speed = 1 / std::sqrt(scale);
  plummer_sampler stars(seed);
  bodies all;
  if (n > all.positions.max_size()) throw std::bad_alloc();
  all.positions.reserve(n);
  all.velocities.reserve(n);
  all.masses.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    row star = stars.star();
    for (std::size_t k = 0; k < 3; ++k) star[k] *= scale;
    for (std::size_t k = 3; k < 6; ++k) star[k] *= speed;
    star[6] = 1 / double(n);
    append(all, star);
  }
  center(all.positions);
  center(all.velocities);
  return all;
}

bodies read_bodies(const std::filesystem::path& path, body_precision precision) {
  bodies all;
  std::array<std::size_t, 7> columns{0, 1, 2, 3, 4, 5, 6};
  std::vector<std::string_view> words(7);
  for_each_data_line(path, [&](const text_line& line) {
    if (line.is_first && line.is_header()) {
      for (std::size_t i = 0; i < names.size(); ++i) columns[i] = column_of(line, names[i]);
      words.resize(line.words().size());
      return;
    }
    if (const std::size_t count = line.split(words); count != words.size()) {
      line.reject(words.size() == 7 ? "is not seven numbers x,y,z,vx,vy,vz,m"
                                    : "has " + counted(count, "column") + "; the header line has " +
                                          std::to_string(words.size()));
    }
    row numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string_view word = words[columns[i]];
      numbers[i] = line.parse_finite(names[i], word);
      if (precision == body_precision::float32) require_float(line, names[i], word);
    }
    append(all, numbers);
    all.lines.add(line.number);
  });
  return all;
}

void write_bodies(std::ostream& out, const bodies& all) {
  for (std::size_t k = 0; k < names.size(); ++k) out << (k == 0 ? "" : ",") << names[k];
  out << '\n';
  std::string line;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& x = all.positions[i];
    const auto& v = all.velocities[i];
    line.clear();
    for (const double number : {x[0], x[1], x[2], v[0], v[1], v[2], all.masses[i]}) {
      append_number(line, number);
      line += ',';
    }
    line.back() = '\n';
    out << line;
  }
}

}  // namespace common
