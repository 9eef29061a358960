// SPDX-License-Identifier: BSD-3-Clause
#include "bezier_shapes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <new>
#include <ramify/runtime/report.hpp>
#include <span>
#include <string>

#include "common/sampler.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

constexpr std::size_t numbers_of_curve = 8;
constexpr std::size_t numbers_of_patch = 48;

std::vector<ramify::cubic_curve> make_curves(std::size_t n, sampler random) {
  std::vector<ramify::cubic_curve> curves;
  if (n > curves.max_size()) throw std::bad_alloc();
  curves.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = random.between(0, 1);
    const double y = random.between(0, 1);
    const double size = 0.3 * std::exp2(random.between(-4, 0));
    ramify::cubic_curve& curve = curves.emplace_back();
    for (ramify::curve_point& p : curve.points) {
      p.x = x + size * random.between(-1, 1);
      p.y = y + size * random.between(-1, 1);
    }
  }
  return curves;
}

/// The heights of a terrain at the control points of its patches, in rows. Neighbors share those of
/// their border.
class terrain {
 public:
  terrain(std::size_t rows, std::size_t columns, sampler random)
      : points_in_row_(3 * columns + 1), heights_((3 * rows + 1) * points_in_row_) {
    const std::size_t last_row = 3 * rows;
    const std::size_t last_column = 3 * columns;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const double steepness = std::exp2(random.between(-5, 0));
        for (const std::size_t i : {3 * r + 1, 3 * r + 2}) {
          for (const std::size_t j : {3 * c + 1, 3 * c + 2}) {
            at(i, j) = steepness * random.between(-1, 1);
          }
        }
      }
    }
    // The means of the neighbors on both sides of a border: so tangents at it are equal.
    for (std::size_t i = 0; i <= last_row; i += 3) {
      for (std::size_t j = 0; j <= last_column; ++j) {
        at(i, j) = (at(i == 0 ? 1 : i - 1, j) + at(i == last_row ? i - 1 : i + 1, j)) / 2;
      }
    }
    for (std::size_t i = 0; i <= last_row; ++i) {
      for (std::size_t j = 0; j <= last_column; j += 3) {
        at(i, j) = (at(i, j == 0 ? 1 : j - 1) + at(i, j == last_column ? j - 1 : j + 1)) / 2;
      }
    }
  }

  [[nodiscard]] ramify::bicubic_patch patch(std::size_t row, std::size_t column) const {
    ramify::bicubic_patch made;
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t x = 3 * column + j;
        const std::size_t y = 3 * row + i;
        made.points[j][i] = {double(x) / 3, double(y) / 3, heights_[y * points_in_row_ + x]};
      }
    }
    return made;
  }

 private:
  double& at(std::size_t i, std::size_t j) { return heights_[i * points_in_row_ + j]; }

  std::size_t points_in_row_;
  std::vector<double> heights_;
};

std::vector<ramify::bicubic_patch> make_patches(std::size_t n, sampler random) {
  std::vector<ramify::bicubic_patch> patches;
  if (n > patches.max_size()) throw std::bad_alloc();
  patches.reserve(n);
  const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(double(n))));
  const terrain land((n + columns - 1) / columns, columns, random);
  for (std::size_t i = 0; i < n; ++i) patches.push_back(land.patch(i / columns, i % columns));
  return patches;
}

/// Parses the coordinates of a shape, in their order in memory.
template <class Shape>
void parse_shape(const text_line& line, std::span<const std::string_view> words, Shape& shape) {
  static_assert(sizeof(Shape) % sizeof(double) == 0);
  std::array<double, sizeof(Shape) / sizeof(double)> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string name = "number " + std::to_string(i + 1);
    numbers[i] = line.parse_finite(name, words[i]);
    if (std::fabs(numbers[i]) > ramify::max_control_coordinate) {
      line.reject_word(name, words[i], "is more than 1e100 in magnitude");
    }
  }
  shape = std::bit_cast<Shape>(numbers);
}

/// Writes the bytes of values of one type.
template <class T>
void write_bytes(std::ostream& out, std::span<const T> values) {
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
}

/// Text with numbers in their shortest form.
class svg_text {
 public:
  svg_text& operator<<(const char* part) {
    text_ += part;
    return *this;
  }
  svg_text& operator<<(double number) {
    append_number(text_, number);
    return *this;
  }
  /// Writes the text and clears it.
  void flush_to(std::ostream& out) {
    out << text_;
    text_.clear();
  }

 private:
  std::string text_;
};

/// The box around points of the plane.
struct plane_box {
  ramify::curve_point low{HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL};

  explicit plane_box(const std::vector<ramify::curve_point>& points) {
    for (const auto& p : points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
};

}  // namespace

std::string_view to_string(shape_kind kind) {
  return ramify::choice_name(kind, {"curves", "patches"});
}

shape_kind parse_shape_kind(std::string_view text) {
  return ramify::parse_choice<shape_kind>("kind", text);
}

bezier_shapes make_shapes(shape_kind kind, std::size_t n, std::uint64_t seed) {
  const sampler random(seed);
  if (kind == shape_kind::curves) return {kind, make_curves(n, random), {}};
  return {kind, {}, make_patches(n, random)};
}

bezier_shapes read_shapes(const std::filesystem::path& path) {
  bezier_shapes all;
  for_each_data_line(path, [&](const text_line& line) {
    std::array<std::string_view, numbers_of_patch> words;
    const std::size_t count = line.split(words);
    if (count != numbers_of_curve && count != numbers_of_patch) {
      line.reject("is neither a curve of 8 numbers nor a patch of 48, but has " +
                  std::to_string(count));
    }
    const auto kind = count == numbers_of_curve ? shape_kind::curves : shape_kind::patches;
    if (all.size() == 0) all.kind = kind;
    if (kind != all.kind) {
      line.reject("has " + std::to_string(count) + " numbers, but the file begins with " +
                  std::string(to_string(all.kind)));
    }
    if (kind == shape_kind::curves) {
      parse_shape(line, words, all.curves.emplace_back());
    } else {
      parse_shape(line, words, all.patches.emplace_back());
    }
  });
  return all;
}

void write_svg(std::ostream& out, const ramify::polylines& lines) {
  const plane_box box(lines.points);
  const double width = box.high.x - box.low.x;
  const double height = box.high.y - box.low.y;
  const double longer = std::max(width, height) > 0 ? std::max(width, height) : 1;
  const double margin = longer / 50;
  constexpr double pixels = 1024;  // of the longer side
  const double left = box.low.x - margin;
  const double top = -box.high.y - margin;
  const double full_width = width + 2 * margin;
  const double full_height = height + 2 * margin;
  const double scale = pixels / (longer + 2 * margin);
  const double dot = longer / 300;  // its diameter
  svg_text text;
  text << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << std::round(scale * full_width)
       << "\" height=\"" << std::round(scale * full_height) << "\" viewBox=\"" << left << " " << top
       << " " << full_width << " " << full_height << "\">\n<rect x=\"" << left << "\" y=\"" << top
       << "\" width=\"" << full_width << "\" height=\"" << full_height
       << "\" fill=\"#ffffff\"/>\n<marker id=\"dot\" markerUnits=\"userSpaceOnUse\" markerWidth=\""
       << dot << "\" markerHeight=\"" << dot << "\" refX=\"" << dot / 2 << "\" refY=\"" << dot / 2
       << "\"><circle cx=\"" << dot / 2 << "\" cy=\"" << dot / 2 << "\" r=\"" << dot / 2
       << "\" fill=\"#aa2814\"/></marker>\n";
  // The y axis of SVG points down.
  text << "<g transform=\"scale(1 -1)\" fill=\"none\" stroke=\"#1e3c6e\" stroke-width=\""
       << longer / 1000
       << "\" marker-start=\"url(#dot)\" marker-mid=\"url(#dot)\" marker-end=\"url(#dot)\">\n";
  for (std::size_t i = 0; i + 1 < lines.offsets.size(); ++i) {
    text << "<polyline points=\"";
    const char* space = "";
    for (const ramify::curve_point& p : lines.line(i)) {
      text << space << p.x << "," << p.y;
      space = " ";
    }
    text << "\"/>\n";
    text.flush_to(out);
  }
  out << "</g>\n</svg>\n";
}

void write_ply(std::ostream& out, const ramify::triangle_mesh& mesh) {
  static_assert(std::endian::native == std::endian::little);
  out << "ply\nformat binary_little_endian 1.0\nelement vertex " << mesh.vertices.size()
      << "\nproperty double x\nproperty double y\nproperty double z\nelement face "
      << mesh.triangles.size() << "\nproperty list uchar int vertex_indices\nend_header\n";
  write_bytes<ramify::surface_point>(out, mesh.vertices);
  // All readers support int. It is large enough: the 2^30 triangles of a mesh have at most 2^31
  // vertices.
  constexpr std::size_t bytes = 1 + 3 * sizeof(std::uint32_t);
  std::string faces;
  for (const ramify::mesh_triangle& t : mesh.triangles) {
    faces += '\3';
    faces.append(reinterpret_cast<const char*>(t.vertices), bytes - 1);
    if (faces.size() < 5000 * bytes) continue;
    out << faces;
    faces.clear();
  }
  out << faces;
}

}  // namespace common
