// SPDX-License-Identifier: BSD-3-Clause
// Batches: recursions with several roots, a value for each. The quadtrees of the tiles of an image.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/fork_join.cuh>
#include <stdexcept>
#include <vector>

#include "counts_on_device.cuh"
#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "printing.hpp"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::environment;
using ramify::fork_join_options;
using ramify::fork_join_report;
using ramify::granularity;
using ramify::route;
using ramify::traverse_strategy;
using ramify::tree_roots;

namespace {

constexpr unsigned width = 64;  ///< of the image and of its rows, in pixels

/// A square of an image.
struct square {
  unsigned x;
  unsigned y;
  unsigned size;
};

/// The quadtree of a square: its number of leaves, and a hash of their colors in their order.
struct quadtree {
  unsigned leaves;
  std::uint32_t hash;
  bool operator==(const quadtree&) const = default;
};
__host__ __device__ quadtree append(const quadtree& a, const quadtree& b) {
  return {a.leaves + b.leaves, (a.hash ^ b.hash) * 0x01000193u + 1};
}

/// Splits squares whose pixels have different colors.
struct split_image {
  const std::uint8_t* pixels;

  [[nodiscard]] __device__ unsigned degree(const square& s) const {
    const std::uint8_t first = pixels[s.y * width + s.x];
    for (unsigned y = s.y; y < s.y + s.size; ++y) {
      for (unsigned x = s.x; x < s.x + s.size; ++x) {
        if (pixels[y * width + x] != first) return 4;
      }
    }
    return 0;
  }
  [[nodiscard]] __device__ square child(const square& s, unsigned i) const {
    const unsigned half = s.size / 2;
    return {s.x + i % 2 * half, s.y + i / 2 * half, half};
  }
  [[nodiscard]] __device__ quadtree leaf(const square& s) const {
    return {1, pixels[s.y * width + s.x]};
  }
  [[nodiscard]] __device__ quadtree combine(const square&, const quadtree* parts,
                                            unsigned count) const {
    quadtree all = parts[0];
    for (unsigned i = 1; i < count; ++i) all = append(all, parts[i]);
    return all;
  }
};

/// Returns a disk with a few noisy pixels.
std::vector<std::uint8_t> make_image() {
  std::vector<std::uint8_t> pixels(std::size_t{width} * width);
  for (unsigned i = 0; i < pixels.size(); ++i) {
    const int x = int(i % width) - 25;
    const int y = int(i / width) - 30;
    const bool is_noise = i * 2654435761u >> 24 == 0;
    pixels[i] = static_cast<std::uint8_t>((x * x + y * y < 400 ? 200 : 30) + (is_noise ? 1 : 0));
  }
  return pixels;
}

/// Returns the quadtrees of all tiles of `size` pixels, row by row. They are merged from the pixels
/// up: four squares of one color become one.
std::vector<quadtree> merged_tiles(const std::vector<std::uint8_t>& pixels, unsigned size) {
  struct merged {
    quadtree tree;
    int color;  // -1: several
  };
  std::vector<merged> level;
  level.reserve(pixels.size());
  for (const std::uint8_t p : pixels) level.push_back({{1, p}, p});
  unsigned side = width;
  for (unsigned s = 1; s < size; s *= 2, side /= 2) {
    std::vector<merged> next;
    for (unsigned y = 0; y < side; y += 2) {
      for (unsigned x = 0; x < side; x += 2) {
        const std::array<merged, 4> parts{level[y * side + x], level[y * side + x + 1],
                                          level[(y + 1) * side + x], level[(y + 1) * side + x + 1]};
        merged all = parts[0];
        for (unsigned i = 1; i < 4; ++i) {
          all.tree = append(all.tree, parts[i].tree);
          if (parts[i].color != all.color) all.color = -1;
        }
        if (all.color >= 0) all.tree = parts[0].tree;
        next.push_back(all);
      }
    }
    level = next;
  }
  std::vector<quadtree> trees;
  for (const merged& m : level) trees.push_back(m.tree);
  return trees;
}

std::vector<square> tiles_of(unsigned size) {
  std::vector<square> tiles;
  for (unsigned i = 0; i < width / size * (width / size); ++i) {
    tiles.push_back({i % (width / size) * size, i / (width / size) * size, size});
  }
  return tiles;
}

/// Makes the trees of all tiles in one call, and checks them.
fork_join_report expect_tiles(unsigned size, const fork_join_options& options,
                              const environment& env) {
  const auto pixels = make_image();
  const auto on_device = upload(pixels);
  const std::vector<square> tiles = tiles_of(size);
  std::vector<quadtree> found(tiles.size());
  const auto report = with_grids_counted([&] {
    return ramify::fork_join(tree_roots(tiles.data(), tiles.size()), split_image{on_device.data()},
                             found.data(), options, env);
  });
  BOOST_TEST((found == merged_tiles(pixels, size)));
  std::uint64_t leaves = 0;
  for (const quadtree& t : found) leaves += t.leaves;
  BOOST_TEST(report.leaves == leaves);
  BOOST_TEST(report.nodes == leaves + (leaves - tiles.size()) / 3);  // each split adds three leaves
  return report;
}

/// Returns options for each strategy and granularity.
std::vector<fork_join_options> options_of_batches() {
  std::vector<fork_join_options> all{{{}, 10'000}};
  for (const auto grain : {granularity::per_task, granularity::per_block, granularity::per_grid}) {
    all.push_back({{.capacity = 10'000,
                    .strategy = traverse_strategy::task_per_node,
                    .launches = {grain, 0, 2}},
                   10'000});
  }
  return all;
}

/// An interval of an integral over cos(w x), with the values at its ends and in the middle.
struct interval {
  double w;
  double begin;
  double end;
  double values[3];

  [[nodiscard]] __host__ __device__ static double f(double w, double x) { return cos(w * x); }
  [[nodiscard]] static interval whole(double w) { return {w, 0, 1, {f(w, 0), f(w, 0.5), f(w, 1)}}; }
  [[nodiscard]] __device__ interval half(unsigned i) const {
    const double middle = (begin + end) / 2;
    const double from = i == 0 ? begin : middle;
    const double to = i == 0 ? middle : end;
    return {w, from, to, {values[i], f(w, (from + to) / 2), values[i + 1]}};
  }
  [[nodiscard]] __device__ double simpson() const {
    return (end - begin) / 6 * (values[0] + 4 * values[1] + values[2]);
  }
};

/// Adaptive Simpson integration. An interval is split until the sum over its halves agrees.
struct adaptive_simpson {
  double tolerance;  ///< for an interval of length 1

  [[nodiscard]] __device__ unsigned degree(const interval& i) const {
    const double change = i.half(0).simpson() + i.half(1).simpson() - i.simpson();
    return fabs(change) <= 15 * tolerance * (i.end - i.begin) ? 0 : 2;
  }
  [[nodiscard]] __device__ interval child(const interval& i, unsigned number) const {
    return i.half(number);
  }
  [[nodiscard]] __device__ double leaf(const interval& i) const {
    const double halves = i.half(0).simpson() + i.half(1).simpson();
    return halves + (halves - i.simpson()) / 15;  // extrapolated
  }
  [[nodiscard]] __device__ double combine(const interval&, const double* halves, unsigned) const {
    return halves[0] + halves[1];
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fork_join)

BOOST_AUTO_TEST_CASE(a_thousand_integrals_are_one_batch) {
  std::vector<interval> roots;
  for (int i = 0; i < cut_down(1'000); ++i) roots.push_back(interval::whole(0.1 + 0.02 * i));
  std::vector<double> found(roots.size());
  (void)ramify::fork_join(tree_roots(roots.data(), roots.size()), adaptive_simpson{1e-8},
                          found.data());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const double w = roots[i].w;
    BOOST_TEST(std::fabs(found[i] - std::sin(w) / w) < 1e-8);
  }
}

BOOST_DATA_TEST_CASE(each_root_has_its_value, data::make(routes) * data::make({1, 32, 2048}), taken,
                     limit) {
  static int piece = 0;
  for (const fork_join_options& options : options_of_batches()) {
    for (const unsigned size : {1u, 8u, width}) {
      if (left_out(piece, 7)) continue;
      expect_tiles(size, options, {.route = taken, .pending_launches = std::size_t(limit)});
    }
  }
}

BOOST_AUTO_TEST_CASE(each_root_has_its_value_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  for (const fork_join_options& options : options_of_batches()) {
    (void)tests::count_interrupted(4, {}, [&](std::uint64_t) {
      expect_tiles(16, options, {.route = route::device});
      return true;
    });
  }
}

BOOST_AUTO_TEST_CASE(a_batch_has_the_number_of_roots_in_device_memory) {
  const auto pixels = make_image();
  const auto on_device = upload(pixels);
  const split_image split{on_device.data()};
  const auto tiles = upload(tiles_of(8));
  const auto expected = merged_tiles(pixels, 8);
  for (const int n : {0, 1, 40, 64}) {
    const device_number<> number(n);
    const auto values = zeros<quadtree>(64);
    const auto report =
        ramify::fork_join(tree_roots(tiles.data(), number.up_to(64)), split, values.data());
    const auto found = download(values);
    BOOST_TEST(std::equal(found.begin(), found.begin() + n, expected.begin()));
    // The values of other roots do not change.
    BOOST_TEST(std::all_of(found.begin() + n, found.end(),
                           [](const quadtree& t) { return t == quadtree{}; }));
    BOOST_TEST((n == 0) == (report.nodes == 0));
  }
  const device_number<> many(65);
  const auto values = zeros<quadtree>(64);
  BOOST_CHECK_EXCEPTION(
      (void)ramify::fork_join(tree_roots(tiles.data(), many.up_to(64)), split, values.data()),
      std::length_error, names("fork_join: the number of elements in device memory is 65"));
}

BOOST_AUTO_TEST_CASE(bad_batches_are_named) {
  const auto pixels = make_image();
  const auto on_device = upload(pixels);
  const split_image split{on_device.data()};
  const auto tiles = tiles_of(8);
  std::vector<quadtree> values(tiles.size());
  BOOST_CHECK_EXCEPTION(
      (void)ramify::fork_join(tree_roots(tiles.data(), tiles.size()), split, nullptr),
      std::invalid_argument, names("fork_join: values is null"));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::fork_join(tree_roots<square>(nullptr, 1), split, values.data()),
      std::invalid_argument, names("fork_join: roots is null"));
  BOOST_CHECK_EXCEPTION((void)ramify::fork_join(tree_roots(tiles.data(), tiles.size()), split,
                                                values.data(), fork_join_options{{}, 65}),
                        std::length_error, names("raise fork_join_options.max_nodes, which is 65"));
  // The list of roots is a node, too. The check comes before any root is read.
  for (const std::size_t n : {std::size_t{1} << 31, std::size_t{1} << 33}) {
    const fork_join_options most{{}, std::size_t{1} << 31};
    BOOST_CHECK_EXCEPTION(
        (void)ramify::fork_join(tree_roots(tiles.data(), n), split, values.data(), most),
        std::invalid_argument,
        names("fork_join: the number of roots is " + std::to_string(n) +
              "; it must be less than fork_join_options.max_nodes, which is 2147483648"));
  }
  BOOST_CHECK_EXCEPTION((void)ramify::fork_join(tree_roots(tiles.data(), tiles.size()), split,
                                                values.data(), fork_join_options{{}, 64}),
                        std::invalid_argument, names("fork_join: the number of roots is 64"));
}

BOOST_AUTO_TEST_SUITE_END()
