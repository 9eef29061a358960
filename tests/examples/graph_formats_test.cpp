// SPDX-License-Identifier: BSD-3-Clause
// The reader of graphs: each format, files that it must not guess, and files with a mutation.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/text_file.hpp"
#include "effort.hpp"
#include "graph/graph_file.hpp"
#include "mutations.hpp"
#include "reader_table.hpp"

namespace {

using common::graph_file_options;
using common::graph_format;
using common::length_type;
using ends = std::vector<std::pair<std::int32_t, std::int32_t>>;

const graph_file_options with_lengths{.has_lengths = true};
const graph_file_options as_edges{.format = graph_format::edges};

/// Reads a text from a file.
common::graph_from_file read(std::string_view text, const graph_file_options& options = {}) {
  const reader_tests::scratch_file file("ramify_graph");
  file.write(text);
  return common::read_graph(file.path, options);
}

ends ends_of(const common::edge_list& list) {
  ends made;
  for (const auto& [from, to] : list.edges) made.emplace_back(from, to);
  return made;
}

/// Reads a text, and checks the graph: the edges as the file has them, counted from 0.
void check(std::string_view text, std::size_t vertices, bool is_undirected, const ends& expected,
           const graph_file_options& options = {}) {
  BOOST_TEST_CONTEXT(text) {
    const auto made = read(text, options);
    BOOST_TEST(made.list.vertices == vertices);
    BOOST_TEST(made.list.is_undirected == is_undirected);
    BOOST_TEST((ends_of(made.list) == expected));
  }
}

/// Reads a text that must be refused with a message that contains `what`.
void refuse(std::string_view text, const std::string& what,
            const graph_file_options& options = {}) {
  BOOST_TEST_CONTEXT(text) {
    BOOST_CHECK_EXCEPTION((void)read(text, options), common::bad_input, [&](const auto& e) {
      BOOST_TEST_MESSAGE(e.what());
      return std::string_view(e.what()).find(what) != std::string_view::npos;
    });
  }
}

template <class T>
void check_lengths(std::string_view text, const std::vector<T>& expected,
                   length_type type = length_type::automatic, std::size_t rounded = 0) {
  BOOST_TEST_CONTEXT(text) {
    const auto made = read(text, {.has_lengths = true, .type = type});
    const auto* const lengths = std::get_if<std::vector<T>>(&made.list.lengths);
    BOOST_REQUIRE(lengths != nullptr);
    BOOST_TEST((*lengths == expected));
    BOOST_TEST(made.rounded == rounded);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_formats)

BOOST_AUTO_TEST_CASE(lists_of_edges) {
  const ends edges{{0, 1}, {1, 2}};
  for (const std::string_view text :
       {"0 1\n1 2\n", "0,1\n1,2", "0;1\r\n1;2\r\n", "# c\n\n0\t1\n% c\n+1 2\n",
        "\xef\xbb\xbf"
        "0 1\n1 2\n",
        "0 1 {}\n1 2 {}\n", "0 1 {'weight': 3}\n1 2 {'color': 'a, b'}\n", "0,1,{}\n1,2,{}\n",
        "0 1 {'color': 'a;b', 'weight': 3}\n1 2 {}\n", "0 1 {'color': ',,'}\n1 2 {}\n"}) {
    check(text, 3, false, edges);
  }
  check("0 1 x\n1 2 -3\n", 3, false, edges);  // lengths that are not needed are not read
  check("1 2\n2 3\n", 3, false, edges, {.first_vertex = 1});
  check("1 2\n2 3\n", 4, false, {{1, 2}, {2, 3}});
  BOOST_TEST(read("0 1\n").names_first_vertex);
  BOOST_TEST(!read("1 2\n").names_first_vertex);
  check("", 0, false, {});
  refuse("0 1\n1 2\n", "names vertex 0; it must be in [1,", {.first_vertex = 1});
  refuse("source,target,weight\n0,1,2\n", "header");
  refuse("0 1 2 3\n", "graph_file_options.format konect reads four columns");
  refuse("0 1 {'weight': 3\n", "attributes that do not end with }");
  refuse("0 1 {'weight': x}\n", "has a length of 'x', which is not a number", with_lengths);
  refuse("0,,1\n", "empty field");
  refuse("0 1\n0 1048576\n",
         "line 2: '0 1048576' names vertex 1048576, but a file of 2 edges must name vertices below "
         "1048576, unless graph_file_options.vertices states their number");
}

// A first line that states the size of the rest may be meant as a header.
BOOST_AUTO_TEST_CASE(sizes_are_not_read_as_edges) {
  for (const std::string_view text :
       {"4 3\n0 1\n1 2\n2 3\n", "3 3\n1 2\n2 3\n3 1\n", "3 3 2\n2 1\n3 2\n", "9 2\n\n0 1\n1 2\n"}) {
    refuse(text, "line 1: ");
  }
  check("4 3\n0 1\n1 2\n2 3\n", 5, false, {{4, 3}, {0, 1}, {1, 2}, {2, 3}}, as_edges);
  check("4 2\n0 1\n1 2\n2 3\n", 5, false, {{4, 2}, {0, 1}, {1, 2}, {2, 3}});
}

BOOST_AUTO_TEST_CASE(banners_of_matrix_market) {
  const std::string rest = " matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
  for (const std::string begin :
       {"%%MatrixMarket", "\n%%MatrixMarket", "\r\n \n%%MATRIXMARKET", "\xef\xbb\xbf%%MatrixMarket",
        "# made today\n%%MatrixMarket", "%%matrixmarket"}) {
    if (begin.front() == '#') {
      refuse(begin + rest, "is before the banner");
    } else {
      check(begin + rest, 3, true, {{1, 0}, {2, 1}});
    }
  }
  for (const std::string begin : {"%MatrixMarket", "% %MatrixMarket", "%%Matrix Market",
                                  "#%%MatrixMarket", "MatrixMarket", "%%%MatrixMarket"}) {
    refuse(begin + rest, "resembles the banner of a Matrix Market file");
  }
  refuse("0 1\n%%MatrixMarket" + rest, "resembles the banner");
  refuse("%%MatrixMarket" + rest + "%%MatrixMarket" + rest, "is a second banner");
  check("%MatrixMarket\n0 1\n", 2, false, {{0, 1}}, as_edges);  // a comment
}

BOOST_AUTO_TEST_CASE(kinds_of_matrix_market) {
  const std::string banner = "%%MatrixMarket matrix ";
  const ends edges{{1, 0}, {1, 1}};
  for (const std::string field : {"real", "double", "integer", "unsigned-integer"}) {
    check(banner + "coordinate " + field + " general\n2 2 2\n2 1 -7\n2 2 nan\n", 2, false, edges);
    check_lengths<float>(banner + "coordinate " + field + " symmetric\n2 2 2\n2 1 3\n2 2 4\n",
                         {3, 4});
  }
  check(banner + "coordinate real skew-symmetric\n2 2 1\n2 1 3\n", 2, true, {{1, 0}});
  check(banner + "coordinate complex hermitian\n2 2 2\n2 1 3 4\n2 2 1 0\n", 2, true, edges);
  // Columns follow one another, and 0 is no edge.
  check(banner + "array real general\n2 2\n0\n5\n0\n1\n", 2, false, edges);
  check(banner + "array real symmetric\n2 2\n0\n5\n1\n", 2, true, edges);
  check(banner + "array real skew-symmetric\n3 3\n2\n0\n-1\n", 3, true, {{1, 0}, {2, 1}});
  check_lengths<double>(banner + "array real general\n2 2\n0\n.5\n0\n1\n", {.5, 1});
  refuse(banner + "array real general\n2 2\n0\n5\n0\n", "has 3 entries; its size states 4");
  refuse(banner + "array real general\n2 2\n0\n5\n0\n1\n1\n", "is after the last value");
  refuse(banner + "array pattern general\n2 2\n", "is not a graph");
  refuse(banner + "coordinate real hermitian\n2 2 0\n", "is not a graph");
  refuse(banner + "coordinate complex general\n2 2 0\n", "has complex values", with_lengths);
  refuse(banner + "coordinate real skew-symmetric\n2 2 0\n", "is skew-symmetric", with_lengths);
  refuse(banner + "coordinate real skew-symmetric\n2 2 1\n1 1 3\n", "is on the diagonal");
  refuse(banner + "coordinate real general\n2 2 1\n2 1 -7\n", "not at least 0", with_lengths);
  refuse(banner + "coordinate real general\n2 2 1\n2 1\n", "is not an entry");
  refuse(banner + "coordinate real general\n2 3 1\n", "is not the size of a square matrix");
  // Comments are those of all files.
  check(banner + "coordinate real general\n# 5,,;\n2 2 2\n%\n2 1 -7\n # 1\n2 2 4\n", 2, false,
        edges);
  refuse("%%MatrixMarket matrix,,coordinate real general\n2 2 0\n", "line 1: ");
}

BOOST_AUTO_TEST_CASE(dimacs_files) {
  check("c roads\np sp 3 2\na 1 2 5\na 3 1 7\n", 3, false, {{0, 1}, {2, 0}});
  check_lengths<float>("p sp 3 2\na 1 2 5\nc here\na 3 1 7\n", {5, 7});
  refuse("p sp 3 2\na 1 2 5\n", "has 1 edge; its size states 2");
  refuse("p edge 3 2\ne 1 2\n", "is not the problem 'p sp vertices edges'");
  refuse("a 1 2 5\n", "is before the problem");
  refuse("p sp 3 1\na 0 2 5\n", "names vertex 0; it must be in [1, 4)");
  refuse("p sp 3 1\na 1 2\n", "is not an edge 'a from to length'");
}

BOOST_AUTO_TEST_CASE(konect_files) {
  check("% sym unweighted\n% 2 3 3\n1 2\n3 2\n", 3, true, {{0, 1}, {2, 1}});
  check("% asym positive\n1 2 4 1082040961\n1 2\t1\t7\n", 2, false, {{0, 1}, {0, 1}});
  check_lengths<float>("% asym positive\n1 2 4 1082040961\n", {1});  // the column counts edges
  check_lengths<float>("% asym posweighted\n1 2 4 1082040961\n", {4});
  // Comments have any text.
  check("% sym unweighted\n% see a;b, c,,\n# 1 2 3\n1 2\n%;,\n3 2\n", 3, true, {{0, 1}, {2, 1}});
  check("% sym unweighted, of 2; of 3\n0 1\n", 2, false, {{0, 1}});  // a comment of a list
  refuse("% asym positive\n1 2 4 x\n", "line 2: '1 2 4 x' has a time of 'x'");
  refuse("% bip unweighted\n1 1\n", "bipartite");
  refuse("% sym unweighted\n% 3 3 3\n1 2\n", "has 1 edge; its size states 3");
  refuse("1 2\n", "is not after the header", {.format = graph_format::konect});
}

BOOST_AUTO_TEST_CASE(metis_files) {
  // The star of vertex 1. Lines have one or three words, so this is no list of edges.
  check("% star\n4 3\n2 3 4\n1\n1\n1\n", 4, true, {{0, 1}, {0, 2}, {0, 3}});
  check("3 1\n2\n1\n\n", 3, true, {{0, 1}});
  check("# two vertices\n3 1\n2\n#\n1\n\n", 3, true, {{0, 1}});
  check_lengths<float>("3 2 001\n2 9\n1 9 3 4\n2 4\n", {9, 4});
  check("2 1 11 2\n5 5 2 9\n6 6 1 9\n", 2, true, {{0, 1}});
  const graph_file_options metis{.format = graph_format::metis};
  check("4 4\n2 3\n1 4\n1 4\n2 3\n", 4, true, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, metis);
  refuse("4 4\n2 3\n1 4\n1 4\n2 3\n",
         "give graph_file_options.format metis or graph_file_options.format edges");
  refuse("3 1\n2\n\n1\n", "line 2: the edge from 1 to 2 is not in the line of vertex 2", metis);
  refuse("2 1 001\n2 9\n1 8\n", "with the same length", metis);
  refuse("2 1\n2\n", "has lines of 1 vertex; its first line states 2", metis);
  refuse("2 1\n1 2\n1\n", "has vertex 1 as its own neighbor", metis);
  refuse("2 1\n3\n1\n", "names vertex 3; it must be in [1, 3)", metis);
}

// The type holds all lengths, and float holds all distances exactly.
BOOST_AUTO_TEST_CASE(types_of_lengths) {
  check_lengths<float>("0 1 16777215\n1 2 1\n", {16777215, 1});
  check_lengths<std::uint64_t>("0 1 16777216\n1 2 1\n", {16777216, 1});
  check_lengths<float>("0 1 3.0\n1 2 1e3\n1 3\n", {3, 1000, 1});
  check_lengths<double>("0 1 3\n1 2 0.1\n", {3, 0.1});
  check_lengths<double>("0 1 inf\n1 2 1\n", {std::numeric_limits<double>::infinity(), 1});
  check_lengths<std::uint64_t>("0 1 18446744073709551613\n", {18446744073709551613u});
  const double big = 18446744073709551616.0;
  check_lengths<double>("0 1 18446744073709551616\n", {big}, length_type::double_precision);
  check_lengths<float>("0 1 0.1\n1 2 16777217\n", {0.1f, 16777216.0f},
                       length_type::single_precision, 2);
  check_lengths<double>("0 1 9007199254740993\n", {9007199254740992.0},
                        length_type::double_precision, 1);
  refuse("0 1 18446744073709551616\n", "is more than 2^64 - 3", with_lengths);
  refuse("0 1 9007199254740993\n1 2 .5\n",
         "line 1: '0 1 9007199254740993' has a length that double", with_lengths);
  refuse("0 1 .5\n1 2 9007199254740993\n", "line 2: ", with_lengths);
  refuse("0 1 9007199254740993.0\n", "a double would round", with_lengths);
  refuse("0 1 .5\n", "is not a whole number", {.has_lengths = true, .type = length_type::integer});
  refuse("0 1 1e39\n", "too large for float",
         {.has_lengths = true, .type = length_type::single_precision});
  refuse("0 1 1e-400\n", "underflow", with_lengths);
  refuse("0 1 -1\n", "has a length that is not at least 0", with_lengths);
  refuse("0 1 nan\n", "has a length that is not at least 0", with_lengths);
}

BOOST_AUTO_TEST_CASE(files_with_a_mutation) {
  const std::vector<std::string> seeds{
      "0 1 0.5\n1 2 {'weight': 3}\n# c\n5,5\n",
      "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 1.5\n3 3 2\n",
      "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n2\n3\n",
      "c c\np sp 3 2\na 1 2 5\na 2 3 6\n",
      "% sym posweighted\n% 2 3 3\n1 2 3 4\n2 3 1 1\n",
      "4 3 001\n2 1 3 1 4 1\n1 1\n1 1\n1 1\n"};
  std::size_t read_files = 0;
  std::size_t refused = 0;
  const tests::random_cases cases(3000);
  for (std::uint64_t number = 0; cases.has(number); ++number) {
    std::mt19937_64 random(number);
    const std::string text = reader_tests::mutated(seeds[random() % seeds.size()], random);
    BOOST_TEST_CONTEXT("mutation " << number) {
      try {
        const auto made = read(text, {.has_lengths = random() % 2 == 0});
        for (const auto& [from, to] : made.list.edges) {
          BOOST_TEST_REQUIRE(std::size_t(from) < made.list.vertices);
          BOOST_TEST_REQUIRE(std::size_t(to) < made.list.vertices);
        }
        ++read_files;
      } catch (const common::bad_input&) {
        ++refused;
      }
    }
  }
  BOOST_TEST_MESSAGE(read_files << " files read, " << refused << " refused");
  BOOST_TEST(read_files > 0u);
  BOOST_TEST(refused > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
