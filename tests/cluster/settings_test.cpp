// SPDX-License-Identifier: BSD-3-Clause
// Settings that differ between ranks are found before any work, and all ranks throw the same
// exception. Then the ranks still agree.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr.hpp>
#include <ramify/distributed_amr/settings.hpp>
#include <ramify/distributed_branch_and_bound.hpp>
#include <ramify/distributed_sort.cuh>
#include <ramify/distributed_sort.hpp>
#include <ramify/distributed_traverse.cuh>
#include <ramify/distributed_traverse.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "exceptions.hpp"

namespace tests::settings {
namespace {

using ramify::communicator;
using ramify::reduction;
using ramify::shared_settings;

const ramify::cluster_options on_cpu{.backend = ramify::backend::cpu};

// Calls call(is_other), whose argument is true on the last rank only. Checks that all ranks throw
// "<text> on rank 0, but ... on rank <last>", and that they can communicate after that.
void expect_difference(communicator& comm, const std::string& text,
                       const std::function<void(bool)>& call) {
  BOOST_TEST_CONTEXT(text) {
    const int last = comm.size() - 1;
    if (last == 0) {
      BOOST_CHECK_NO_THROW(call(false));
      return;
    }
    const auto is_right = [&](const std::invalid_argument& e) {
      return names(text)(e) && names("on rank 0, but ")(e) &&
             std::string(e.what()).ends_with("on rank " + std::to_string(last));
    };
    BOOST_CHECK_EXCEPTION(call(comm.rank() == last), std::invalid_argument, is_right);
    BOOST_TEST(comm.all_reduce(1, reduction::sum) == comm.size());
  }
}

struct halves {
  __host__ __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
  __host__ __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
};
struct one {
  __host__ __device__ std::uint64_t operator()(unsigned, unsigned) const { return 1; }
};
struct add {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a + b;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(settings_of_ranks)

BOOST_AUTO_TEST_CASE(equal_settings_are_accepted) {
  for (const bool check_calls : {true, false}) {
    communicator comm({.backend = ramify::backend::cpu, .check_calls = check_calls});
    shared_settings settings("work");
    settings.add("depth", 3);
    settings.add("name", "a file");
    settings.add("nothing", std::optional<int>());
    settings.add("route", ramify::route::flat);
    comm.require_equal(settings);
    comm.require_equal(shared_settings("nothing"));
    BOOST_TEST(comm.report().bytes_sent == 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_first_difference_is_named_with_its_ranks_and_values) {
  for (const bool check_calls : {true, false}) {
    communicator comm({.backend = ramify::backend::cpu, .check_calls = check_calls});
    if (comm.size() == 1) return;
    const auto message = [&](const std::function<void(shared_settings&, int)>& add) {
      shared_settings settings("work");
      settings.add("common", 1);
      add(settings, comm.rank());
      try {
        comm.require_equal(settings);
      } catch (const std::invalid_argument& e) {
        return std::string(e.what());
      }
      return std::string("no exception");
    };
    // The first rank with another value, not the last one; and the first setting.
    BOOST_TEST(message([](auto& all, int rank) {
                 all.add("depth", rank == 0 ? 3 : 3 + rank);
                 all.add("width", rank);
               }) == "depth is '3' on rank 0, but '4' on rank 1");
    BOOST_TEST(message([](auto& all, int rank) { all.add("x", rank == 1 ? 0.1 : 0.1f); }) ==
               "x is '0.10000000149011612' on rank 0, but '0.1' on rank 1");
    BOOST_TEST(message([](auto& all, int rank) { all.add("x", rank == 1 ? -0.0 : 0.0); }) ==
               "x is '0' on rank 0, but '-0' on rank 1");
    BOOST_TEST(message([](auto& all, int rank) { all.add("empty", rank == 1 ? "" : " "); }) ==
               "empty is ' ' on rank 0, but '' on rank 1");
    BOOST_TEST(message([](auto& all, int rank) {
                 all.add("maybe", rank == 1 ? std::optional(7) : std::nullopt);
               }) == "maybe is 'none' on rank 0, but '7' on rank 1");
    BOOST_TEST(message([](auto& all, int rank) {
                 all.add("loop", rank == 1 ? ramify::flat_loop::host : ramify::flat_loop::graph);
               }) == "loop is 'graph' on rank 0, but 'host' on rank 1");
    BOOST_TEST(message([](auto& all, int rank) {
                 if (rank == 1) all.add("more", true);
               }) == "a setting is '' on rank 0, but 'more' on rank 1");
    const std::string text(100'000, 'a');  // longer than what MPI sends at once
    BOOST_TEST(message([&](auto& all, int rank) { all.add("text", text + char('b' + rank)); }) ==
               "text is '" + text + "b' on rank 0, but '" + text + "c' on rank 1");
    comm.barrier();
  }
}

BOOST_AUTO_TEST_CASE(a_rank_with_another_call_is_named) {
  communicator comm(on_cpu);
  if (comm.size() == 1) return;
  BOOST_CHECK_EXCEPTION(comm.require_equal(shared_settings(comm.rank() == 1 ? "search" : "sort")),
                        ramify::cluster_error,
                        names("rank 1: calls search (settings), but rank 0 calls sort"));
  communicator second(on_cpu);
  BOOST_CHECK_EXCEPTION(
      comm.rank() == 1 ? second.barrier() : second.require_equal(shared_settings("sort")),
      ramify::cluster_error, names("rank 1: calls barrier, but rank 0 calls sort (settings)"));
}

BOOST_AUTO_TEST_CASE(options_of_communicators_are_compared) {
  communicator all(on_cpu);
  const auto expect = [&](const std::string& text,
                          const std::function<void(ramify::cluster_options&)>& change) {
    expect_difference(all, text, [&](bool is_other) {
      ramify::cluster_options options = on_cpu;
      if (is_other) change(options);
      const communicator comm(options);
    });
  };
  expect("cluster_options.message_bytes is '8388608'", [](auto& o) { o.message_bytes = 100; });
  expect("cluster_options.message_bytes is '8388608'", [](auto& o) { o.message_bytes = 0; });
  expect("cluster_options.check_calls is 'true'", [](auto& o) { o.check_calls = false; });
  expect("cluster_options.backend is 'cpu'", [](auto& o) { o.backend = ramify::backend::cuda; });
}

BOOST_AUTO_TEST_CASE(options_of_sorts_are_compared) {
  communicator comm(on_cpu);
  struct arguments {
    ramify::sort_order order = ramify::sort_order::ascending;
    ramify::sorted_parts parts = ramify::sorted_parts::sampled;
    ramify::quicksort_options options;
    ramify::environment env;
  };
  const auto expect = [&](const std::string& text, const std::function<void(arguments&)>& change) {
    expect_difference(comm, text, [&](bool is_other) {
      std::vector<int> keys{3, 1, 2};
      arguments all;
      if (is_other) change(all);
      ramify::distributed_sort(comm, keys, all.order, all.parts, all.options, all.env);
    });
  };
  alignas(256) std::byte memory[256];
  expect("distributed_sort: order is 'ascending'",
         [](auto& a) { a.order = ramify::sort_order::descending; });
  expect("distributed_sort: parts is 'sampled'",
         [](auto& a) { a.parts = ramify::sorted_parts::equal; });
  expect("quicksort_options.strategy is 'sample_sort'",
         [](auto& a) { a.options.strategy = ramify::quicksort_strategy::binary; });
  expect("quicksort_options.depth_limit is '0'",
         [](auto& a) { a.options.depth_limit = 256; });  // invalid on one rank only
  expect("quicksort_options.device_memory is '0'", [](auto& a) { a.options.device_memory = 1; });
  expect("whether quicksort_options.temporary is null is 'true'",
         [&](auto& a) { a.options.temporary = memory; });
  expect("quicksort_options.launches.threshold is '0'",
         [](auto& a) { a.options.launches.threshold = 9; });
  expect("environment.backend is 'automatic'",
         [](auto& a) { a.env.backend = ramify::backend::cpu; });
  expect("environment.route is 'automatic'", [](auto& a) { a.env.route = ramify::route::flat; });
  expect("environment.pending_launches is '0'", [](auto& a) { a.env.pending_launches = 100; });
  expect("whether environment.memory is empty is 'true'",
         [&](auto& a) { a.env.memory = std::span(memory); });
  expect_difference(comm, "the size of a key is '4'", [&](bool is_other) {
    std::vector<int> of_4(5);
    std::vector<double> of_8(5);
    is_other ? ramify::distributed_sort(comm, of_8) : ramify::distributed_sort(comm, of_4);
  });
  expect_difference(comm, "the kind of the keys", [&](bool is_other) {
    std::vector<int> with_sign(5);
    std::vector<float> with_point(5);
    is_other ? ramify::distributed_sort(comm, with_point)
             : ramify::distributed_sort(comm, with_sign);
  });
  expect_difference(comm, "the size of a value is '0'", [&](bool is_other) {
    std::vector<int> keys(5);
    std::vector<std::uint64_t> values(5);
    is_other ? ramify::distributed_sort_pairs(comm, keys, values)
             : ramify::distributed_sort(comm, keys);
  });
  expect_difference(comm, "quicksort_options.depth_limit is '0'", [&](bool is_other) {
    ramify::device_buffer<int> keys;
    ramify::distributed_sort(comm, keys, ramify::ascending{}, ramify::sorted_parts::sampled,
                             {.depth_limit = is_other ? 9u : 0u});
  });
}

// A trace and a stream on one rank only are no difference.
BOOST_AUTO_TEST_CASE(a_trace_of_one_rank_is_accepted) {
  communicator comm(on_cpu);
  ramify::launch_trace trace;
  const ramify::host_stream stream;
  ramify::environment env;
  if (comm.rank() == 0) env = {.stream = stream, .trace = &trace};
  std::vector<int> keys{3, 1, 2};
  BOOST_CHECK_NO_THROW(ramify::distributed_sort(comm, keys, ramify::sort_order::ascending,
                                                ramify::sorted_parts::sampled, env));
}

BOOST_AUTO_TEST_CASE(options_and_trees_of_searches_are_compared) {
  communicator comm(on_cpu);
  struct search_arguments {
    ramify::uts_parameters tree;
    ramify::traverse_options options;
    ramify::exchange_options exchange;
    ramify::environment env;
  };
  const auto expect = [&](const std::string& text,
                          const std::function<void(search_arguments&)>& change) {
    expect_difference(comm, text, [&](bool is_other) {
      search_arguments a;
      if (is_other) change(a);
      ramify::distributed_tree_search(comm, a.tree, a.options, a.exchange, a.env);
    });
  };
  expect("uts_parameters.seed is '0'", [](auto& a) { a.tree.seed = 1; });
  expect("uts_parameters.shift is '0.5'", [](auto& a) { a.tree.shift = 9; });
  expect("exchange_options.steps is '512'", [](auto& a) { a.exchange.steps = 8; });
  expect("exchange_options.rounds is '8'", [](auto& a) { a.exchange.rounds = 0; });
  expect("traverse_options.capacity is '0'", [](auto& a) { a.options.capacity = 1 << 20; });
  expect("traverse_options.strategy is 'work_sharing'",
         [](auto& a) { a.options.strategy = ramify::traverse_strategy::task_per_node; });
  expect("environment.route is 'automatic'", [](auto& a) { a.env.route = ramify::route::flat; });
  expect("environment.flat_loop is 'automatic'",
         [](auto& a) { a.env.flat_loop = ramify::flat_loop::host; });
  expect("environment.pending_launches is '0'", [](auto& a) { a.env.pending_launches = 4096; });
  const auto expect_traverse = [&](const std::string& text, unsigned root, std::uint64_t identity,
                                   unsigned steps) {
    expect_difference(comm, text, [&](bool is_other) {
      ramify::exchange_options exchange;
      if (is_other) exchange.steps = steps;
      ramify::distributed_traverse(comm, is_other ? root : 5u, halves{}, one{}, add{},
                                   is_other ? identity : std::uint64_t{0}, {}, exchange);
    });
  };
  expect_traverse("distributed_traverse: root is '5'", 6, 0, 512);
  expect_traverse("distributed_traverse: identity is '0'", 5, 1, 512);
  expect_traverse("exchange_options.steps is '512'", 5, 0, 2);
}

BOOST_AUTO_TEST_CASE(options_and_instances_of_branch_and_bound_are_compared) {
  communicator comm(on_cpu);
  expect_difference(comm, "distributed_count_queens: n is '6'", [&](bool is_other) {
    static_cast<void>(ramify::distributed_count_queens(comm, is_other ? 7 : 6));
  });
  expect_difference(comm, "queens_options.leaf_rows is 'none'", [&](bool is_other) {
    ramify::queens_options options;
    if (is_other) options.leaf_rows = 3;
    static_cast<void>(ramify::distributed_count_queens(comm, 6, options, {}));
  });
  expect_difference(comm, "knapsack_instance.items[1].profit is '5'", [&](bool is_other) {
    const ramify::knapsack_instance bag{{{1, 2}, {3, is_other ? 4 : 5}}, 3};
    static_cast<void>(ramify::distributed_knapsack(comm, bag));
  });
  expect_difference(comm, "knapsack_instance.items.size() is '2'", [&](bool is_other) {
    ramify::knapsack_instance bag{{{1, 2}, {3, 5}}, 3};
    if (is_other) bag.items.push_back({1, 1});
    static_cast<void>(ramify::distributed_knapsack(comm, bag));
  });
  expect_difference(comm, "flow_shop_instance.times[3] is '4'", [&](bool is_other) {
    const ramify::flow_shop_instance shop{2, 2, {1, 2, 3, is_other ? 5 : 4}};
    static_cast<void>(ramify::distributed_flow_shop(comm, shop));
  });
  const ramify::flow_shop_instance shop{2, 2, {1, 2, 3, 4}};
  expect_difference(comm, "exchange_options.rounds is '8'", [&](bool is_other) {
    static_cast<void>(
        ramify::distributed_flow_shop(comm, shop, {}, {.rounds = is_other ? 1u : 8u}));
  });
  expect_difference(comm, "environment.route is 'automatic'", [&](bool is_other) {
    static_cast<void>(ramify::distributed_flow_shop(
        comm, shop, {.route = is_other ? ramify::route::flat : ramify::route::automatic}));
  });
  const auto expect_limits = [&](const std::string& text, const ramify::search_limits& limits) {
    expect_difference(comm, "branch_and_bound_options.limits." + text, [&](bool is_other) {
      ramify::branch_and_bound_options options;
      if (is_other) options.limits = limits;
      const ramify::knapsack_instance bag{{{1, 2}, {3, 5}}, 3};
      static_cast<void>(ramify::distributed_knapsack(comm, bag, options, {}));
    });
  };
  expect_limits("max_nodes is '0'", {.max_nodes = 7});
  expect_limits("max_seconds is '0'", {.max_seconds = 1.5});
}

BOOST_AUTO_TEST_CASE(options_of_simulations_are_compared) {
  communicator comm(on_cpu);
  using setup_type = ramify::amr_setup;
  setup_type setup = ramify::recommended_setup(ramify::amr_problem::sod, 2);
  setup.options.mesh.max_level = 0;
  const auto expect = [&](const std::string& text, const std::function<void(setup_type&)>& change) {
    expect_difference(comm, text, [&](bool is_other) {
      setup_type own = setup;
      if (is_other) change(own);
      const ramify::distributed_amr_simulation flow(comm, own);
    });
  };
  expect("amr_options.mesh.max_level is '0'", [](auto& o) { o.options.mesh.max_level = 1; });
  expect("amr_options.mesh.upper[0] is '1'", [](auto& o) { o.options.mesh.upper[0] = 2; });
  expect("amr_options.mesh.sides[1][0] is", [](auto& o) {
    o.options.mesh.sides[1] = {ramify::boundary::reflecting, ramify::boundary::outflow};
  });
  expect("amr_options.step.cfl is '0.4'", [](auto& o) { o.options.step.cfl = 2; });
  expect("amr_options.regrid.every is '4'", [](auto& o) { o.options.regrid.every = 5; });
  expect("amr_setup.problem is 'sod'", [](auto& o) { o.problem = ramify::amr_problem::sedov; });
  expect("amr_setup.gamma is '1.4'", [](auto& o) { o.gamma = 1.5; });
  expect_difference(comm, "environment.route is 'automatic'", [&](bool is_other) {
    const ramify::environment flat{.route = ramify::route::flat};
    const ramify::distributed_amr_simulation flow(comm, setup,
                                                  is_other ? flat : ramify::environment{});
  });
  ramify::distributed_amr_simulation flow(comm, setup);
  expect_difference(comm, "distributed_amr_run: steps is '1'",
                    [&](bool is_other) { flow.advance(is_other ? 2 : 1); });
  expect_difference(comm, "distributed_amr_run: stop_time is '1'",
                    [&](bool is_other) { flow.advance(1, is_other ? 0.5 : 1.0); });
  const ramify::amr_state state = flow.state();
  expect_difference(comm, "whether it continues from a state is 'true'", [&](bool is_other) {
    is_other ? ramify::distributed_amr_simulation(comm, setup)
             : ramify::distributed_amr_simulation(comm, setup, state);
  });
}

// In run() all ranks throw cluster_error, whose cause is the same message. The message begins with
// the rank that announced it first.
BOOST_AUTO_TEST_CASE(a_difference_in_run_ends_it_on_all_ranks) {
  communicator comm(on_cpu);
  if (comm.size() == 1) return;
  const auto sort = [&] {
    std::vector<int> keys{3, 1, 2};
    ramify::distributed_sort(
        comm, keys,
        comm.rank() == 1 ? ramify::sort_order::descending : ramify::sort_order::ascending);
  };
  BOOST_CHECK_EXCEPTION(comm.run(sort), ramify::cluster_error,
                        names("distributed_sort: order is 'ascending' on rank 0, "
                              "but 'descending' on rank 1"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::settings
