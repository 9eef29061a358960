// SPDX-License-Identifier: BSD-3-Clause
// Pictures of meshes, pixel by pixel.
#include "amr/output/mesh_image.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "common/pixel_text.hpp"
#include "made_up_mesh.hpp"
#include "work_folder.hpp"

using common::draw_mesh;
using common::mesh_color;
using common::mesh_image_options;
using common::rgb;
using common::rgb_image;
using tests::says;

namespace common {
std::ostream& operator<<(std::ostream& out, const mesh_image_options&) { return out; }
}  // namespace common

namespace {

/// Two root blocks of 2 x 2 cells side by side; the right one is refined. Values from 0 on.
ramify::mesh_snapshot tiny() {
  ramify::mesh_snapshot mesh;
  mesh.cells = 2;
  mesh.roots = {2, 1, 1};
  mesh.upper = {2, 1, 1};
  mesh.leaves = {{0, {0, 0, 0}}, {1, {2, 0, 0}}, {1, {3, 0, 0}}, {1, {2, 1, 0}}, {1, {3, 1, 0}}};
  mesh.fields = {"other", "value"};
  for (int leaf = 0; leaf < 5; ++leaf) {
    for (int cell = 0; cell < 4; ++cell) mesh.values.push_back(-1);
    for (int cell = 0; cell < 4; ++cell) mesh.values.push_back(4 * leaf + cell);
  }
  return mesh;
}

mesh_image_options plain(unsigned longer_edge) {
  mesh_image_options options;
  options.longer_edge = longer_edge;
  options.outlines = false;
  return options;
}

/// Whether colors agree up to the last digit: logarithms may round a share either way.
bool alike(const rgb& a, const rgb& b) {
  return std::ranges::equal(a, b, [](int x, int y) { return std::abs(x - y) <= 1; });
}

/// Whether the pixels, `scale` for each number, have these shares of the range of colors.
void check_pixels(const rgb_image& image, const std::vector<std::vector<double>>& shares,
                  unsigned scale = 1) {
  BOOST_REQUIRE(image.height == shares.size() * scale);
  BOOST_REQUIRE(image.width == shares[0].size() * scale);
  BOOST_REQUIRE(image.pixels.size() == std::size_t{image.height} * image.width);
  for (unsigned row = 0; row < image.height; ++row) {
    for (unsigned column = 0; column < image.width; ++column) {
      const rgb expected = mesh_color(shares[row / scale][column / scale]);
      BOOST_TEST((image.pixels[row * image.width + column] == expected),
                 "row " << row << ", column " << column);
    }
  }
}

std::vector<std::vector<double>> divided(std::vector<std::vector<double>> values, double by) {
  for (auto& row : values) {
    for (double& value : row) value /= by;
  }
  return values;
}

/// A block of 2 x 2 x 2 cells: 1 x + 2 y + 4 z.
ramify::mesh_snapshot cube() {
  ramify::mesh_snapshot mesh;
  mesh.dimensions = 3;
  mesh.cells = 2;
  mesh.upper = {1, 1, 1};
  mesh.leaves = {{0, {0, 0, 0}}};
  mesh.fields = {"value"};
  mesh.values = {0, 1, 2, 3, 4, 5, 6, 7};
  return mesh;
}

/// Returns whether an image has a black text on white somewhere.
bool contains_text(const rgb_image& image, std::string_view text) {
  const unsigned width = common::text_width(text, 1);
  const unsigned height = common::text_height(1);
  const rgb white{255, 255, 255};
  rgb_image wanted{width, height, std::vector<rgb>(std::size_t{width} * height, white)};
  common::draw_text(wanted, 0, 0, text, 1, {0, 0, 0});
  for (unsigned top = 0; top + height <= image.height; ++top) {
    for (unsigned left = 0; left + width <= image.width; ++left) {
      bool same = true;
      for (unsigned row = 0; row < height && same; ++row) {
        const rgb* const from = &wanted.pixels[std::size_t{row} * width];
        same = std::equal(from, from + width,
                          &image.pixels[std::size_t{top + row} * image.width + left]);
      }
      if (same) return true;
    }
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mesh_image)

BOOST_AUTO_TEST_CASE(a_pixel_shows_the_cell_it_lies_in_and_y_goes_up) {
  const std::vector<std::vector<double>> rows{{2, 2, 3, 3, 14, 15, 18, 19},
                                              {2, 2, 3, 3, 12, 13, 16, 17},
                                              {0, 0, 1, 1, 6, 7, 10, 11},
                                              {0, 0, 1, 1, 4, 5, 8, 9}};
  check_pixels(draw_mesh(tiny(), "value", plain(8)), divided(rows, 19));
  check_pixels(draw_mesh(tiny(), "value", plain(40)), divided(rows, 19), 5);
}

BOOST_AUTO_TEST_CASE(any_size_covers_the_domain) {
  for (unsigned edge = 1; edge < 80; ++edge) {
    const rgb_image image = draw_mesh(tiny(), "value", plain(edge));
    BOOST_TEST(image.width == edge);
    BOOST_TEST(image.height == std::max(1u, unsigned(std::lround(edge / 2.0))));
    const auto* no_block = std::ranges::find(image.pixels, rgb{96, 96, 96}).base();
    BOOST_TEST(no_block == image.pixels.data() + image.pixels.size());
  }
}

BOOST_AUTO_TEST_CASE(a_domain_that_is_higher_than_wide) {
  ramify::mesh_snapshot mesh = tiny();
  mesh.upper = {2, 8, 1};
  const rgb_image image = draw_mesh(mesh, "value", plain(100));
  BOOST_TEST(image.height == 100u);
  BOOST_TEST(image.width == 25u);
}

BOOST_AUTO_TEST_CASE(missing_blocks_and_values_that_are_not_finite) {
  ramify::mesh_snapshot mesh = tiny();
  mesh.leaves.erase(mesh.leaves.begin());
  mesh.values.erase(mesh.values.begin(), mesh.values.begin() + 8);
  mesh.values[4] = std::numeric_limits<double>::infinity();  // the lower left cell that remains
  mesh.values[5] = std::numeric_limits<double>::quiet_NaN();
  const rgb_image image = draw_mesh(mesh, "value", plain(8));
  const rgb* lowest = &image.pixels[24];
  BOOST_TEST((lowest[3] == rgb{96, 96, 96}));
  BOOST_TEST((lowest[4] == rgb{255, 0, 255}));
  BOOST_TEST((lowest[5] == rgb{255, 0, 255}));
  BOOST_TEST((lowest[6] == mesh_color((8.0 - 6) / (19 - 6))));  // the range of the finite values
  mesh.leaves.clear();
  mesh.values.clear();
  for (const rgb& pixel : draw_mesh(mesh, "value", plain(8)).pixels) {
    BOOST_TEST((pixel == rgb{96, 96, 96}));
  }
}

BOOST_AUTO_TEST_CASE(ranges) {
  const auto lower_row = [](const ramify::mesh_snapshot& mesh, mesh_image_options options) {
    options.longer_edge = 2;
    options.outlines = false;
    const auto image = draw_mesh(mesh, "value", options);
    return std::vector<rgb>(image.pixels.end() - 2, image.pixels.end());
  };
  ramify::mesh_snapshot mesh = cube();
  mesh.dimensions = 2;
  const auto expect = [&](double left, double right, const mesh_image_options& options,
                          const std::array<double, 2>& shares) {
    mesh.values = {left, right, right, left};
    const auto row = lower_row(mesh, options);
    BOOST_TEST(alike(row[0], mesh_color(shares[0])), left << " among " << left << " and " << right);
    BOOST_TEST(alike(row[1], mesh_color(shares[1])),
               right << " among " << left << " and " << right);
  };
  mesh_image_options options;
  expect(-3, 5, options, {0, 1});
  expect(5, 5, options, {0, 0});
  expect(-1.7e308, 1.7e308, options, {0, 1});
  options.least = 0;
  expect(-3, 5, options, {0, 1});
  expect(2, 8, options, {0.25, 1});
  expect(-3, -2, options, {0, 0});
  options.greatest = 4;
  expect(1, 3, options, {0.25, 0.75});
  expect(5, 9, options, {1, 1});
  options.least.reset();
  expect(6, 9, options, {1, 1});
  expect(0, 3, options, {0, 0.75});
  options = {};
  options.logarithmic = true;
  expect(1e-3, 1e5, options, {0, 1});
  expect(0, 1, options, {0, 0});
  expect(-1, -2, options, {0, 0});
  options.least = 1;
  options.greatest = 1e4;
  expect(10, 1000, options, {0.25, 0.75});
  expect(0, 1e9, options, {0, 1});
}

BOOST_AUTO_TEST_CASE(cuts_through_three_dimensions) {
  const auto expect = [](int normal, double position,
                         const std::vector<std::vector<double>>& rows) {
    mesh_image_options options = plain(6);
    options.normal = normal;
    options.position = position;
    options.least = 0;
    options.greatest = 7;
    check_pixels(draw_mesh(cube(), "value", options), divided(rows, 7), 3);
  };
  expect(2, 0.2, {{2, 3}, {0, 1}});
  expect(2, 0.5, {{6, 7}, {4, 5}});
  expect(2, 1, {{6, 7}, {4, 5}});
  expect(1, 0, {{4, 5}, {0, 1}});
  expect(1, 0.7, {{6, 7}, {2, 3}});
  expect(0, 0.2, {{4, 6}, {0, 2}});
  expect(0, 0.9, {{5, 7}, {1, 3}});
  // By default in the middle, and with the range of the cut alone.
  check_pixels(draw_mesh(cube(), "value", plain(2)), {{2.0 / 3, 1}, {0, 1.0 / 3}});
}

BOOST_AUTO_TEST_CASE(a_cut_meets_every_level_in_the_same_plane) {
  ramify::mesh_snapshot mesh;
  mesh.dimensions = 3;
  mesh.cells = 4;
  mesh.roots = {2, 3, 1};
  mesh.lower = {-0.3, 0.1, 7};
  mesh.upper = {1.7, 3.1, 8};
  mesh = tests::refined_at_sphere(mesh, {0.8, 1.3, 7.5}, 0.6, 3,
                                  {{"z", [](const tests::place& p) { return p[2]; }},
                                   {"one", [](const tests::place&) { return 1.0; }}});
  mesh_image_options options = plain(97);
  for (int k = 0; k <= 40; ++k) {
    options.normal = k % 3;
    const auto a = std::size_t(options.normal);
    options.position = mesh.lower[a] + (mesh.upper[a] - mesh.lower[a]) * (k / 40.0);
    for (const rgb& pixel : draw_mesh(mesh, "one", options).pixels) {
      BOOST_REQUIRE((pixel == mesh_color(0)));  // a leaf is there
    }
  }
}

BOOST_AUTO_TEST_CASE(outlines_are_visible_on_dark_and_light_cells) {
  mesh_image_options options;
  options.longer_edge = 64;
  const rgb_image with = draw_mesh(tiny(), "value", options);
  options.outlines = false;
  const rgb_image without = draw_mesh(tiny(), "value", options);
  for (unsigned row = 0; row < 32; ++row) {
    for (unsigned column = 0; column < 64; ++column) {
      // The blocks: 32 pixels wide on the left, 16 on the right.
      const bool edge = column == 0 || column == 32 || column == 48 || column == 63 || row == 0 ||
                        row == 31 || (row == 15 && column > 32);
      const rgb& is = with.pixels[row * 64 + column];
      const rgb& was = without.pixels[row * 64 + column];
      if (!edge) {
        BOOST_TEST((is == was), row << ' ' << column);
        continue;
      }
      int apart = 0;
      for (std::size_t c = 0; c < 3; ++c) apart += std::abs(int(is[c]) - int(was[c]));
      BOOST_TEST(apart >= 150, row << ' ' << column);
    }
  }
  options.longer_edge = 20;  // too small for outlines, except for the first block
  options.outlines = false;
  const rgb_image small = draw_mesh(tiny(), "value", options);
  options.outlines = true;
  BOOST_TEST((draw_mesh(tiny(), "value", options).pixels == small.pixels));
}

BOOST_AUTO_TEST_CASE(colors_become_lighter) {
  const auto lightness = [](const rgb& c) { return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]; };
  for (int i = 0; i < 100; ++i) {
    BOOST_TEST(lightness(mesh_color(i / 100.0)) < lightness(mesh_color((i + 1) / 100.0)), i);
  }
  BOOST_TEST((mesh_color(-1) == mesh_color(0)));
  BOOST_TEST((mesh_color(2) == mesh_color(1)));
}

BOOST_AUTO_TEST_CASE(labels_are_beside_the_picture) {
  ramify::mesh_snapshot mesh = tiny();
  mesh.time = 0.125;
  mesh_image_options options;
  options.longer_edge = 512;
  options.least = -1;
  options.greatest = 7;
  const rgb_image inner = draw_mesh(mesh, "value", options);
  const rgb_image all = draw_labeled_mesh(mesh, "value", options, {"g/cm^3", "s"});
  const unsigned top = common::text_height(1) + 6;
  BOOST_TEST(all.height == inner.height + top + 3);
  for (unsigned row = 0; row < inner.height; ++row) {
    BOOST_TEST(std::equal(inner.pixels.data() + row * inner.width,
                          inner.pixels.data() + (row + 1) * inner.width,
                          all.pixels.data() + (top + row) * all.width));
  }
  for (const char* text : {"value (g/cm^3)  time 0.125 s", "-1", "1", "3", "5", "7"}) {
    BOOST_TEST(contains_text(all, text), text);
  }
  BOOST_TEST(!contains_text(all, "time 0.126"));
  BOOST_TEST(contains_text(draw_labeled_mesh(mesh, "value", options), "value  time 0.125"));
  // The lightest color is at the upper end.
  const auto bar = [&](unsigned row) { return all.pixels[row * all.width + inner.width + 6]; };
  BOOST_TEST((bar(top) == mesh_color(1)));
  BOOST_TEST((bar(top + inner.height - 1) == mesh_color(0)));
  options.logarithmic = true;
  options.least = 0.01;
  options.greatest = 100;
  const rgb_image decades = draw_labeled_mesh(mesh, "value", options);
  for (const char* text : {"0.01", "0.1", "1", "10", "100"}) {
    BOOST_TEST(contains_text(decades, text), text);
  }
  options.longer_edge = 1;  // a picture smaller than its labels
  BOOST_TEST(contains_text(draw_labeled_mesh(mesh, "value", options), "0.125"));
}

BOOST_AUTO_TEST_CASE(letters_have_their_places) {
  rgb_image image{40, 10, std::vector<rgb>(400)};
  common::draw_text(image, 1, 1, "1-", 1, {255, 0, 0});
  BOOST_TEST((image.pixels[1 * 40 + 3] == rgb{255, 0, 0}));  // the tip of the 1
  BOOST_TEST((image.pixels[4 * 40 + 7] == rgb{255, 0, 0}));  // the dash
  BOOST_TEST(std::ranges::count(image.pixels, rgb{255, 0, 0}) == 18);
  BOOST_TEST(common::text_width("1-", 1) == 11u);
  BOOST_TEST(common::text_width("", 3) == 0u);
  common::draw_text(image, 38, 8, "888", 5, {0, 255, 0});  // most of it is outside
}

BOOST_AUTO_TEST_CASE(invalid_meshes_and_options_are_rejected) {
  const auto rejected = [](const char* what, auto change, const char* field = "value") {
    mesh_image_options options;
    change(options);
    BOOST_CHECK_EXCEPTION((void)draw_mesh(cube(), field, options), std::invalid_argument,
                          says(what));
  };
  rejected(
      "field 'no' is none of value", [](auto&) {}, "no");
  rejected("a picture of 0 pixels", [](auto& o) { o.longer_edge = 0; });
  rejected("a picture of 32769 pixels", [](auto& o) { o.longer_edge = 32769; });
  rejected("axis 3 is none", [](auto& o) { o.normal = 3; });
  rejected("outside the domain", [](auto& o) { o.position = 1.01; });
  rejected("outside the domain", [](auto& o) { o.position = NAN; });
  rejected("is not finite", [](auto& o) { o.least = NAN; });
  rejected("not greater than its beginning", [](auto& o) { o.least = o.greatest = 1; });
  rejected("not greater than 0", [](auto& o) {
    o.least = 0;
    o.logarithmic = true;
  });
  ramify::mesh_snapshot mesh = cube();
  mesh.values.pop_back();
  BOOST_CHECK_EXCEPTION((void)draw_mesh(mesh, "value"), std::invalid_argument, says("7 values"));
}

BOOST_AUTO_TEST_SUITE_END()
