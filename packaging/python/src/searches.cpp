// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search; branch and bound: the knapsack, the flow shop and n queens.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ramify/branch_and_bound.hpp>
#include <ramify/tree_search.hpp>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace ramify::python {

namespace {

using integers = std::vector<std::int64_t>;

branch_and_bound_options limited(std::uint64_t max_nodes, double max_seconds) {
  branch_and_bound_options options;
  options.limits = {.max_nodes = max_nodes, .max_seconds = max_seconds};
  return options;
}

nb::tuple search_tree(const uts_parameters& tree, const std::string& strategy, std::size_t capacity,
                      const environment& env) {
  traverse_options options;
  options.strategy = parse_traverse_strategy(strategy);
  options.capacity = capacity;
  const auto found = without_lock([&] { return tree_search(tree, options, env); });
  return nb::make_tuple(found.counts.nodes, found.counts.leaves, found.counts.depth,
                        text_of(found.report));
}

nb::dict published_trees() {
  nb::dict found;
  for (const uts_named_tree& tree : uts_trees()) {
    found[nb::str(tree.name.data(), tree.name.size())] =
        nb::make_tuple(tree.counts.nodes, tree.counts.leaves, tree.counts.depth);
  }
  return found;
}

nb::tuple fill_knapsack(const integers& weights, const integers& profits, std::int64_t capacity,
                        std::uint64_t max_nodes, double max_seconds, const environment& env) {
  knapsack_instance instance;
  instance.capacity = capacity;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    instance.items.push_back({weights[i], profits.at(i)});
  }
  const auto best =
      without_lock([&] { return knapsack(instance, limited(max_nodes, max_seconds), env); });
  return nb::make_tuple(best.profit, best.weight, best.chosen, best.proof.is_optimal,
                        best.proof.bound, text_of(best.report));
}

nb::tuple order_flow_shop(std::size_t jobs, std::size_t machines, const integers& times,
                          std::uint64_t max_nodes, double max_seconds, const environment& env) {
  const flow_shop_instance shop{jobs, machines, times};
  const auto best =
      without_lock([&] { return flow_shop(shop, limited(max_nodes, max_seconds), env); });
  return nb::make_tuple(best.makespan, best.order, best.proof.is_optimal, best.proof.bound,
                        text_of(best.report));
}

/// Returns jobs, machines, times and optimum of an instance of Taillard's benchmark.
nb::tuple taillard(std::size_t number) {
  const taillard_benchmark instance = taillard_instance(number);
  return nb::make_tuple(instance.jobs, instance.machines, instance.shop().times, instance.optimum);
}

nb::tuple place_queens(unsigned n, bool symmetry, const environment& env) {
  queens_options options;
  options.symmetry = symmetry;
  const auto found = without_lock([&] { return count_queens(n, options, env); });
  return nb::make_tuple(found.counts.solutions, found.counts.nodes, text_of(found.report));
}

void set_type(uts_parameters& tree, const std::string& name) { tree.type = parse_uts_type(name); }
void set_shape(uts_parameters& tree, const std::string& name) {
  tree.shape = parse_uts_shape(name);
}

}  // namespace

void add_searches(nb::module_& module) {
  nb::class_<uts_parameters>(module, "UtsParameters")
      .def(nb::init<>())
      .def("set_type", &set_type, nb::arg("name"))
      .def("set_shape", &set_shape, nb::arg("name"))
      .def_rw("depth", &uts_parameters::depth)
      .def_rw("root_branches", &uts_parameters::root_branches)
      .def_rw("probability", &uts_parameters::probability)
      .def_rw("branches", &uts_parameters::branches)
      .def_rw("shift", &uts_parameters::shift)
      .def_rw("seed", &uts_parameters::seed);
  module.def(
      "uts_tree", [](const std::string& name) { return parse_uts_tree(name); }, nb::arg("name"));
  module.def("uts_trees", &published_trees);
  module.def("tree_search", &search_tree, nb::arg("tree"), nb::arg("strategy"), nb::arg("capacity"),
             nb::arg("env"));
  module.def("knapsack", &fill_knapsack, nb::arg("weights"), nb::arg("profits"),
             nb::arg("capacity"), nb::arg("max_nodes"), nb::arg("max_seconds"), nb::arg("env"));
  module.def("flow_shop", &order_flow_shop, nb::arg("jobs"), nb::arg("machines"), nb::arg("times"),
             nb::arg("max_nodes"), nb::arg("max_seconds"), nb::arg("env"));
  module.def("taillard", &taillard, nb::arg("number"));
  module.def("count_queens", &place_queens, nb::arg("n"), nb::arg("symmetry"), nb::arg("env"));
}

}  // namespace ramify::python
