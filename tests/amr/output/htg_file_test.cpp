// SPDX-License-Identifier: BSD-3-Clause
// What a hyper tree grid cannot have. read_vtu.sh reads files with VTK.
#include "amr/output/htg_file.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/output_file.hpp"
#include "made_up_mesh.hpp"
#include "work_folder.hpp"

namespace {

/// Two root blocks, of which the second one is refined.
ramify::mesh_snapshot five_blocks() {
  ramify::mesh_snapshot mesh;
  mesh.cells = 2;
  mesh.roots = {2, 1, 1};
  mesh.leaves = {{0, {0, 0, 0}}, {1, {2, 0, 0}}, {1, {3, 0, 0}}, {1, {2, 1, 0}}, {1, {3, 1, 0}}};
  mesh.fields = {"density"};
  mesh.values.assign(20, 1.0);
  return mesh;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(htg_file)

BOOST_AUTO_TEST_CASE(meshes_without_a_tree_are_rejected) {
  const tests::work_folder folder;
  const auto path = folder / "mesh.htg";
  const auto rejected = [&](auto change, const char* what) {
    ramify::mesh_snapshot mesh = five_blocks();
    change(mesh);
    mesh.values.assign(mesh.leaves.size() * mesh.fields.size() * mesh.cells_of_a_block(), 1.0);
    BOOST_CHECK_EXCEPTION(common::write_htg(path, mesh), std::invalid_argument, tests::says(what));
    BOOST_TEST(!std::filesystem::exists(path));
  };
  const char* const order = "the leaves do not cover the domain in Morton order";
  rejected([](auto& m) { m.leaves.clear(); }, order);
  rejected([](auto& m) { m.leaves.pop_back(); }, order);
  rejected([](auto& m) { m.leaves.erase(m.leaves.begin()); }, order);
  rejected([](auto& m) { m.leaves.push_back(m.leaves.front()); }, order);
  rejected([](auto& m) { std::swap(m.leaves[2], m.leaves[3]); }, order);
  rejected([](auto& m) { m.leaves[2] = m.leaves[1]; }, order);
  rejected([](auto& m) { m.leaves[4] = {2, {6, 2, 0}}; }, order);
  rejected([](auto& m) { m.leaves[0] = {20, {0, 0, 0}}; }, "a leaf of level 20");
  rejected([](auto& m) { m.cells = 3; }, "blocks of 3 cells along an edge");
  rejected([](auto& m) { m.fields = {"level"}; }, "a field 'level' of its own");
  rejected([](auto& m) { m.fields = {"a", "a"}; }, "two fields 'a'");
  common::write_htg(path, five_blocks());  // the negative control
  BOOST_TEST(std::filesystem::file_size(path) > 0u);
  BOOST_CHECK_THROW(common::write_htg(folder / "no" / "mesh.htg", five_blocks()),
                    common::bad_output);
}

BOOST_AUTO_TEST_SUITE_END()
