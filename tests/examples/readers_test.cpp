// SPDX-License-Identifier: BSD-3-Clause
// The readers of the example programs read files that are almost valid. Each reader must soon
// return a result or an error message, and use memory in proportion to the file.
//
// Each reader is tested with a fixed number of changes, and then for the number of seconds in the
// environment variable RAMIFY_FUZZ_SECONDS.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <ramify/runtime/detail/launch_costs_file.hpp>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "common/text_file.hpp"
#include "effort.hpp"
#include "mutations.hpp"
#include "reader_table.hpp"

namespace {

std::size_t largest_allocation = 0;  // since it was last set to 0

}  // namespace

// Not inline: GCC 12 would warn that memory of the inlined malloc() is deleted.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  largest_allocation = std::max(largest_allocation, bytes);
  if (void* const memory = std::malloc(std::max<std::size_t>(bytes, 1))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

namespace fs = std::filesystem;
namespace runtime = ramify::detail::runtime;

using reader_tests::mutated;
using reader_tests::scratch_file;

// Of each reader, some of so many mutated texts are still valid.
constexpr std::size_t first_mutations = 1000;

/// Calls `read` for mutations of a valid text, each of which depends only on its number.
/// `read(text)` returns an error message, or an empty text.
void try_mutations(const std::string& valid,
                   const std::function<std::string(const std::string&)>& read) {
  BOOST_TEST_REQUIRE(read(valid) == "");
  const tests::random_cases cases(first_mutations);
  std::size_t rejected = 0;
  std::size_t number = 0;
  for (; cases.has(number); ++number) {
    std::mt19937_64 random(number);
    const std::string text = mutated(valid, random);
    BOOST_TEST_CONTEXT("mutation " << number) {
      largest_allocation = 0;
      const std::clock_t begin = std::clock();  // of this process: others may delay it
      const std::string message = read(text);
      const double taken = double(std::clock() - begin) / CLOCKS_PER_SEC;
      BOOST_TEST(largest_allocation <= (std::size_t{8} << 20) + 512 * text.size());
      BOOST_TEST(taken < 5);
      BOOST_TEST(message.size() < 1000);
      // In particular, the message contains no NUL, which would hide the rest.
      BOOST_TEST(
          std::ranges::none_of(message, [](unsigned char c) { return std::iscntrl(c) != 0; }));
      if (!message.empty()) ++rejected;
    }
  }
  BOOST_TEST(rejected > 0u);
  BOOST_TEST(rejected < number);
}

/// Does that for a function that reads a file, and throws bad_input if it is malformed.
template <class Read>
void try_file(const std::string& valid, Read read) {
  const scratch_file file("ramify_mutated_input");
  try_mutations(valid, [&](const std::string& text) -> std::string {
    file.write(text);
    try {
      read(file.path);
      return {};
    } catch (const common::bad_input& e) {
      const std::string message = e.what();
      BOOST_TEST(message.starts_with(file.path.string()));
      return message;
    }
  });
}

/// Checks that written numbers can be read again.
void read_and_write(const fs::path& path, bool pairs) {
  const common::numbers all = common::read_text(path, pairs);
  std::ostringstream text;
  common::write_text(text, all);
  const scratch_file copy("ramify_copied_numbers");
  copy.write(text.str());
  const common::numbers again = common::read_text(copy.path, pairs);
  const auto size = [](const auto& keys) { return keys.size(); };
  BOOST_TEST(std::visit(size, again.keys) == std::visit(size, all.keys));
  BOOST_TEST(again.values == all.values);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(readers)

BOOST_AUTO_TEST_CASE(numbers) {
  try_file("3\n-1\n  20\r\n0\n", [](const fs::path& path) { read_and_write(path, false); });
  try_file("1e3\n-0.5\nnan\n-inf\n9007199254740992\n",
           [](const fs::path& path) { read_and_write(path, false); });
}

BOOST_AUTO_TEST_CASE(pairs_of_numbers) {
  try_file("5 50\n1\t10\n3.5 18446744073709551615\n",
           [](const fs::path& path) { read_and_write(path, true); });
}

BOOST_AUTO_TEST_CASE(raw_numbers) {
  try_file(std::string(48, '\x7f'), [](const fs::path& path) {
    const common::numbers all = common::read_raw(path, "f32", true);
    BOOST_TEST(all.values.size() * 12 == fs::file_size(path));
  });
}

BOOST_AUTO_TEST_CASE(bodies) {
  try_file("x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n-1, 0.1,\t1e-300,0,0,0,0\r\n",
           [](const fs::path& path) {
             const common::bodies all = common::read_bodies(path);
             BOOST_TEST(all.positions.size() == all.size());
             BOOST_TEST(all.velocities.size() == all.size());
           });
}

BOOST_AUTO_TEST_CASE(points) {
  try_file("x,y,z\n1,2,3\n-1, 0.1,\t1e-300\r\n", [](const fs::path& path) {
    const common::point_set all = common::read_points(path);
    BOOST_TEST((all.dimensions == 2 || all.dimensions == 3));
    for (const auto& p : all.points) BOOST_TEST((all.dimensions == 3 || p[2] == 0));
  });
}

BOOST_AUTO_TEST_CASE(curves) {
  try_file("# one curve\n0 0 1 1 2 2 3 3\n\n0,0\t1 2  2,2 -3 1e-300\r\n", [](const fs::path& path) {
    for (const ramify::cubic_curve& curve : common::read_shapes(path).curves) {
      for (const auto& p : curve.points)
        BOOST_TEST((std::fabs(p.x) <= 1e100 && std::fabs(p.y) <= 1e100));
    }
  });
}

BOOST_AUTO_TEST_CASE(patches) {
  std::string line;
  for (int i = 0; i < 48; ++i) line += std::to_string(i) + ' ';
  try_file(line + "\n" + line, [](const fs::path& path) {
    const common::bezier_shapes all = common::read_shapes(path);
    BOOST_TEST(all.size() <= 2u);
  });
}

BOOST_AUTO_TEST_CASE(parents_of_nodes) {
  try_file("-1\n0\n 0\r\n1\n-1\n", [](const fs::path& path) {
    (void)common::read_forest(path, {.format = common::forest_format::parents});
  });
}

BOOST_AUTO_TEST_CASE(edges) {
  try_file("1 3\n0\t1\n0  2\n", [](const fs::path& path) {
    for (const std::int32_t parent :
         common::read_forest(path, {.format = common::forest_format::edges})) {
      BOOST_TEST_REQUIRE(parent >= -1);
    }
  });
}

BOOST_AUTO_TEST_CASE(knapsacks) {
  try_file("2 269\n55 95\r\n# an item\n10,4\n", [](const fs::path& path) {
    for (const auto& [weight, profit] : common::read_knapsack(path).instance.items) {
      BOOST_TEST((weight >= 0 && profit >= 0));
    }
  });
}

BOOST_AUTO_TEST_CASE(flow_shops_of_taillard) {
  try_file("jobs, machines; seed :\n3 2 12345 9 9\ntimes :\n1 4 3\n1\t1 2\n",
           [](const fs::path& path) {
             const auto shop = common::read_flow_shop(path).instance;
             BOOST_TEST(shop.times.size() == shop.jobs * shop.machines);
           });
}

// The largest number of a node is limited by the number of edges.
BOOST_AUTO_TEST_CASE(sparse_edges) {
  const scratch_file file("ramify_sparse_edges");
  file.write("0 1048576\n");
  BOOST_TEST(common::read_forest(file.path, {.format = common::forest_format::edges}).size() ==
             1048577u);
  file.write("0 5\n0 2000000000\n");
  largest_allocation = 0;
  BOOST_CHECK_EXCEPTION(
      (void)common::read_forest(file.path, {.format = common::forest_format::edges}),
      common::bad_input, [](const common::bad_input& e) {
        return std::string_view(e.what()).ends_with(
            "line 2: '0 2000000000' names node 2000000000, but a file of 2 edges must number its "
            "nodes up to 1048576 at most, unless --nodes states their number");
      });
  BOOST_TEST(largest_allocation < 100'000u);
}

BOOST_AUTO_TEST_CASE(launch_costs) {
  const runtime::launch_costs_origin origin{"NVIDIA H200", "580.159.04", 13000};
  const scratch_file folder("ramify_mutated_costs");
  ramify::launch_costs costs;
  for (const auto& field : ramify::launch_cost_fields) costs.*field.value = 3.25;
  runtime::save_launch_costs(folder.path, origin, costs);
  const fs::path path = runtime::launch_costs_path(folder.path, origin);
  const std::string valid = common::read_whole_file(path);
  try_mutations(valid, [&](const std::string& text) -> std::string {
    std::ofstream(path, std::ios::binary) << text;
    const auto loaded = runtime::load_launch_costs(folder.path, origin);
    if (!loaded) return "measured again";
    BOOST_TEST(runtime::are_plausible(*loaded));
    return {};
  });
  fs::remove(path);
}

// The text that a message quotes cannot change the terminal, and has a limited length.
BOOST_AUTO_TEST_CASE(quotations) {
  using namespace std::string_view_literals;
  BOOST_TEST(common::in_quotes("3\0x\x1b[2J\x7f\n"sv) == R"('3\x00x\x1b[2J\x7f\n')");
  BOOST_TEST(common::in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
  BOOST_TEST(common::in_quotes(std::string(61, 'a')) == "'" + std::string(60, 'a') + "...'");
  // Characters of UTF-8 are not divided.
  BOOST_TEST(common::in_quotes(std::string(59, 'a') + "\xc3\xa9\xc3\xa9") ==
             "'" + std::string(59, 'a') + "...'");
}

BOOST_AUTO_TEST_SUITE_END()
