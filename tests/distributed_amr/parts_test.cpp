// SPDX-License-Identifier: BSD-3-Clause
// How a mesh is divided among ranks, and what they exchange. The plans of all ranks are made in one
// process.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <numeric>
#include <ramify/amr/ghost.cuh>
#include <ramify/amr/physics/advection.cuh>
#include <ramify/amr/physics/problems.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/distributed_amr/part_plan.cuh>
#include <ramify/distributed_amr/value_slots.hpp>
#include <set>

namespace data = boost::unit_test::data;
using namespace ramify::detail::amr;

namespace {

using ramify::block_place;
using ramify::boundary;

constexpr int rank_counts[] = {1, 2, 3, 4, 7, 50};

/// A mesh of four levels: on each level the blocks around the center of the domain are refined.
template <int dim>
struct centered_mesh {
  mesh_tree<dim> shape;
  std::unique_ptr<tree_copy<dim>> copy;

  explicit centered_mesh(boundary side) {
    shape = {};
    for (int axis = 0; axis < dim; ++axis) {
      shape.roots[axis] = 4;
      shape.sides[axis][0] = shape.sides[axis][1] = side;
    }
    shape.max_level = 3;
    shape.balance_codimension = dim;
    std::vector<ramify::block_position> leaves;
    std::vector<int> roots(shape.root_count());
    std::iota(roots.begin(), roots.end(), 0);
    for (const int root : roots) add_leaves(shape.place_of_root(unsigned(root)), leaves);
    const host_forest<dim> forest(shape, leaves);
    copy = std::make_unique<tree_copy<dim>>(shape, roots, forest.places.size());
    std::ranges::copy(forest.places, copy->places.begin());
    std::ranges::copy(forest.parents, copy->parents.begin());
    std::ranges::copy(forest.first_children, copy->first_children.begin());
    for (std::size_t node = 0; node < copy->places.size(); ++node) {
      for (int face = 0; face < copy->tree.faces; ++face) {
        block_place<dim> there = copy->places[node];
        int step[dim] = {};
        step[face / 2] = face % 2 == 0 ? -1 : 1;
        int& found = copy->neighbors[node * std::size_t(copy->tree.faces) + std::size_t(face)];
        if (!copy->tree.move(there, step)) continue;
        found = copy->tree.find(there);
        if (copy->level_of(found) < there.level) found = coarser_neighbor;
      }
    }
  }

  void add_leaves(const block_place<dim>& place, std::vector<ramify::block_position>& leaves) {
    bool refined = place.level < shape.max_level;
    for (int axis = 0; axis < dim; ++axis) {
      const unsigned middle = 2u << place.level;
      refined = refined && (place.index[axis] == middle || place.index[axis] == middle - 1);
    }
    if (!refined) {
      leaves.push_back(position_of(place));
      return;
    }
    for (int child = 0; child < shape.siblings; ++child) {
      add_leaves(shape.place_of_child(place, child), leaves);
    }
  }
};

template <int dim>
std::vector<part_plan> plans(const tree_copy<dim>& tree, const std::vector<int>& owners, int ranks,
                             bool subcycle) {
  std::vector<part_plan> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(part_planner<dim>(tree, owners, rank, ranks, subcycle).take());
  }
  return all;
}

/// Returns the regions that `lists` has for a peer.
std::vector<std::array<int, 2>> regions_for(const std::vector<block_region>& regions,
                                            const std::vector<unsigned>& counts, int peer) {
  std::size_t first = 0;
  for (int before = 0; before < peer; ++before) first += counts[std::size_t(before)];
  std::vector<std::array<int, 2>> found;
  for (std::size_t i = first; i < first + counts[std::size_t(peer)]; ++i) {
    found.push_back({regions[i].node, regions[i].face});
  }
  return found;
}

/// Calls check(lists of rank a, lists of rank b) for each kind of messages.
template <class Check>
void for_each_kind(const part_plan& a, const part_plan& b, Check check) {
  check(a.halo, b.halo);
  for (const auto member :
       {&part_plan::same_level, &part_plan::finer, &part_plan::registers, &part_plan::children}) {
    BOOST_REQUIRE((a.*member).size() == (b.*member).size());
    for (std::size_t i = 0; i < (a.*member).size(); ++i) check((a.*member)[i], (b.*member)[i]);
  }
}

/// Records the nodes whose values are read.
struct recording_slots {
  static inline std::set<int> read;
  [[nodiscard]] int slot_of(int node) const {
    read.insert(node);
    return 0;
  }
};

template <int dim>
void check_plans(boundary side, bool subcycle) {
  const centered_mesh<dim> mesh(side);
  const tree_copy<dim>& tree = *mesh.copy;
  for (const int ranks : rank_counts) {
    const division divided = divide(tree, ranks, subcycle);
    const auto all = plans(tree, divided.owners, ranks, subcycle);
    std::size_t nodes = 0;
    std::size_t messages = 0;
    for (int a = 0; a < ranks; ++a) {
      nodes += all[std::size_t(a)].nodes.size();
      for (int b = 0; b < ranks; ++b) {
        for_each_kind(all[std::size_t(a)], all[std::size_t(b)],
                      [&](const region_lists& of_a, const region_lists& of_b) {
                        const auto sent = regions_for(of_a.send, of_a.send_counts, b);
                        BOOST_TEST((sent == regions_for(of_b.receive, of_b.receive_counts, a)));
                        for (const auto& region : sent) {
                          BOOST_TEST(divided.owners[std::size_t(region[0])] == a);
                        }
                        messages += sent.size();
                      });
      }
    }
    BOOST_TEST(nodes == tree.places.size());
    BOOST_TEST((messages > 0) == (ranks > 1));
  }
}

/// Checks that a rank receives each block that ghost_reader reads.
template <int dim>
void check_reads(boundary side, bool subcycle) {
  using physics = ramify::advection<double, dim, ramify::reversing_vortex<double, dim>>;
  constexpr int n = 4;
  using cells = block_cells<dim, n>;
  const centered_mesh<dim> mesh(side);
  const tree_copy<dim>& tree = *mesh.copy;
  constexpr int ranks = 7;
  const division divided = divide(tree, ranks, subcycle);
  const auto all = plans(tree, divided.owners, ranks, subcycle);
  std::vector<double> values(cells::count, 1.0);
  block_values<physics, n, recording_slots> u;
  u.data = values.data();
  const ghost_reader<physics, n, recording_slots> ghosts{
      tree.tree, physics{}, u, u, u, 0.5, ramify::limiter::minmod};
  std::size_t from_others = 0;
  tree.for_each([&](int node) {
    if (!tree.tree.is_leaf(node) && !subcycle) return;
    recording_slots::read.clear();
    for (int cell = 0; cell < cells::count; ++cell) {
      int at[dim];
      cells::coordinates(cell, at);
      for (int axis = 0; axis < dim; ++axis) {
        for (const int depth : {1, 2}) {
          if (at[axis] == 0) static_cast<void>(ghosts.ghost(node, at, axis, 0, depth));
          if (at[axis] == n - 1) static_cast<void>(ghosts.ghost(node, at, axis, 1, depth));
        }
      }
    }
    const int owner = divided.owners[std::size_t(node)];
    const part_plan& plan = all[std::size_t(owner)];
    bool reads_own_level = false;
    for (const int read : recording_slots::read) {
      const bool other = divided.owners[std::size_t(read)] != owner;
      BOOST_TEST(std::ranges::binary_search(plan.present, read));
      from_others += other ? 1 : 0;
      reads_own_level =
          reads_own_level || (other && (!subcycle || tree.level_of(read) == tree.level_of(node)));
    }
    // A block that reads others' values is not among those that are advanced meanwhile.
    const stage_range& range = plan.stages[subcycle ? std::size_t(tree.level_of(node)) : 0];
    const auto first = plan.stage_nodes.begin() + range.begin;
    const auto found = std::find(first, first + range.count, node) - first;
    BOOST_TEST(found < range.count);
    if (reads_own_level) BOOST_TEST(found >= range.interior);
  });
  BOOST_TEST(from_others > 50u);
}

template <int dim>
void check_division(bool subcycle) {
  const centered_mesh<dim> mesh(boundary::outflow);
  const tree_copy<dim>& tree = *mesh.copy;
  for (const int ranks : rank_counts) {
    const division divided = divide(tree, ranks, subcycle);
    int last = 0;
    std::vector<double> costs(std::size_t(ranks), 0);
    double largest_unit = 0;
    tree.for_each([&](int node) {
      const int owner = divided.owners[std::size_t(node)];
      const int parent = tree.parents[std::size_t(node)];
      const bool leaf = tree.tree.is_leaf(node);
      BOOST_TEST((owner >= 0 && owner < ranks));
      if (leaf && parent >= 0) {
        BOOST_TEST(owner == divided.owners[std::size_t(parent)]);
      } else {
        BOOST_TEST(owner >= last);  // pieces of the curve
        last = owner;
      }
      const double cost = subcycle ? std::ldexp(1.0, tree.level_of(node)) : leaf ? 1.0 : 0.0;
      costs[std::size_t(owner)] += cost;
      largest_unit = std::max(largest_unit, cost * (tree.tree.siblings + 0.5));
    });
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    for (const double cost : costs) BOOST_TEST(std::abs(cost - all / ranks) <= largest_unit);
    const double imbalance = *std::ranges::max_element(costs) * ranks / all;
    BOOST_TEST(divided.imbalance == imbalance, boost::test_tools::tolerance(1e-12));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parts_of_a_mesh)

BOOST_DATA_TEST_CASE(ranks_have_pieces_of_the_curve_of_equal_cost, data::make({false, true}),
                     subcycle) {
  check_division<2>(subcycle);
  check_division<3>(subcycle);
}

BOOST_DATA_TEST_CASE(what_a_rank_sends_is_what_the_other_expects,
                     data::make({false, true}) * data::make({false, true}), periodic, subcycle) {
  const boundary side = periodic ? boundary::periodic : boundary::outflow;
  check_plans<2>(side, subcycle);
  check_plans<3>(side, subcycle);
}

BOOST_DATA_TEST_CASE(the_halo_has_all_blocks_that_kernels_read,
                     data::make({false, true}) * data::make({false, true}), periodic, subcycle) {
  const boundary side = periodic ? boundary::periodic : boundary::outflow;
  check_reads<2>(side, subcycle);
  check_reads<3>(side, subcycle);
}

BOOST_AUTO_TEST_CASE(nodes_keep_their_slots_and_free_slots_are_used_again) {
  value_slots slots;
  slots.resize(6);
  slots.give_only_to({0, 1, 2, 3});
  BOOST_TEST(slots.needed() == 4u);
  const std::vector<int> before = slots.of_nodes();
  slots.give_only_to({1, 3, 5});
  BOOST_TEST(slots.of_nodes()[1] == before[1]);
  BOOST_TEST(slots.of_nodes()[3] == before[3]);
  BOOST_TEST(slots.of_nodes()[0] == -1);
  BOOST_TEST((slots.of_nodes()[5] == before[0] || slots.of_nodes()[5] == before[2]));
  BOOST_TEST(slots.used() == 3u);
  slots.resize(2);  // nodes 3 and 5 are gone
  slots.resize(6);
  for (const int node : {0, 2, 3}) slots.give(node);
  BOOST_TEST(slots.used() == 4u);
  BOOST_TEST(slots.needed() == 4u);
  std::set<int> used;
  for (const int slot : slots.of_nodes()) {
    if (slot >= 0) BOOST_TEST(used.insert(slot).second);
  }
}

BOOST_AUTO_TEST_SUITE_END()
