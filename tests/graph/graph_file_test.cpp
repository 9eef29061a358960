// SPDX-License-Identifier: BSD-3-Clause
// Graphs of text files for the facade. The tests of the example programs test all formats.
#include <boost/test/unit_test.hpp>
#include <ramify/graph.hpp>
#include <ramify/graph_file.hpp>

#include "exceptions.hpp"
#include "graph_checks.cuh"

using namespace tests;

BOOST_AUTO_TEST_SUITE(graph_files)

BOOST_AUTO_TEST_CASE(a_list_of_snap_is_searched) {
  const auto list = ramify::read_graph_text(
      "small.txt", "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n0\t2\n2\t3\n");
  BOOST_TEST(list.list.vertices == 4u);
  const ramify::stored_graph graph(list.list);
  std::vector<std::int32_t> levels(4);
  (void)ramify::breadth_first_search(graph.view(), 0, {.levels = levels},
                                     {.backend = backend_under_test()});
  BOOST_TEST((levels == std::vector<std::int32_t>{0, 1, 1, 2}));
}

BOOST_AUTO_TEST_CASE(a_matrix_market_file_has_lengths) {
  const auto matrix = ramify::read_graph_text(
      "m.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 1.25\n",
      {.has_lengths = true});
  const ramify::stored_graph graph(matrix.list);
  BOOST_TEST(graph.is_undirected);
  BOOST_TEST(
      (std::get<std::vector<double>>(graph.lengths) == std::vector<double>{0.5, 0.5, 1.25, 1.25}));
}

BOOST_AUTO_TEST_CASE(errors_name_the_file_and_the_line) {
  const auto expect = [](const std::string& text, const std::string& what) {
    BOOST_CHECK_EXCEPTION((void)ramify::read_graph_text("some.txt", text), ramify::bad_input,
                          names(what));
  };
  expect("0 1\n1 x\n", "some.txt, line 2: '1 x'");
  expect("0 1\n\n# comment\n-1 2\n", "some.txt, line 4: '-1 2'");
  expect("\x1f\x8b\x08", "some.txt is compressed by gzip; decompress it first");
  BOOST_CHECK_EXCEPTION((void)ramify::read_graph("/no/such/file"), ramify::bad_input,
                        names("cannot read /no/such/file: No such file or directory"));
}

BOOST_AUTO_TEST_CASE(bad_lists_are_refused) {
  const auto expect = [](const ramify::edge_list& list, const std::string& what) {
    BOOST_CHECK_EXCEPTION(ramify::stored_graph{list}, std::invalid_argument, names(what));
  };
  expect({.vertices = 2, .edges = {{0, 1}, {1, 2}}},
         "edge_list: edges[1] names vertex 2; it must be in [0, 2)");
  expect({.vertices = 2, .edges = {{-1, 0}}}, "edges[0] names vertex -1");
  expect({.vertices = 2, .edges = {{0, 1}}, .lengths = std::vector<float>(2)},
         "lengths has 2 elements; it must have none, or as many as edges, 1");
  BOOST_TEST(ramify::stored_graph(ramify::edge_list{}).vertices() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
