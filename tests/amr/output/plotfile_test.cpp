// SPDX-License-Identifier: BSD-3-Clause
// What plotfiles refuse. The tests of the program amr read plotfiles with read_plotfile.py.
#include "plotfile.hpp"

#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "made_up_mesh.hpp"
#include "output_file.hpp"
#include "text_file.hpp"
#include "work_folder.hpp"

using tests::content;
using tests::says;
using tests::set_content;
namespace fs = std::filesystem;

namespace {

ramify::mesh_snapshot made_up(int cells, int deepest, const std::string& field) {
  ramify::mesh_snapshot mesh;
  mesh.cells = cells;
  mesh.roots = {2, 1, 1};
  return tests::refined_at_sphere(mesh, {0.3, 0.4, 0}, 0.2, deepest,
                                  {{field, [](const tests::place& at) { return at[0]; }}});
}

void write(const fs::path& folder, const ramify::mesh_snapshot& mesh) {
  common::write_plotfile(folder, common::part_of_plotfile(folder, 1), mesh);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plotfile)

BOOST_AUTO_TEST_CASE(bad_meshes_are_refused_and_leave_nothing) {
  const tests::work_folder work;
  const auto refuses = [&](const ramify::mesh_snapshot& mesh, const std::string& what) {
    BOOST_CHECK_EXCEPTION(write(work / "plt", mesh), std::invalid_argument, says(what));
    BOOST_TEST(work.files() == 0);
  };
  refuses(made_up(3, 1, "density"), "refined blocks of 3 cells along an edge, which is odd");
  refuses(made_up(2, 1, "den\nsity"), "the name of field 0 has a line end");
  ramify::mesh_snapshot mesh = made_up(2, 1, "density");
  mesh.values.pop_back();
  refuses(mesh, "values instead of");
  refuses({}, "no leaves");
  write(work / "plt", made_up(3, 0, "density"));  // no block is refined
  BOOST_TEST(fs::exists(work / "plt" / "Level_0" / "Cell_D_00000"));
}

BOOST_AUTO_TEST_CASE(only_plotfiles_are_replaced_and_only_if_requested) {
  const tests::work_folder work;
  const fs::path folder = work / "plt";
  common::check_plotfile(folder, false);
  fs::create_directory(folder);
  common::check_plotfile(folder, false);
  set_content(folder / "notes", "mine");
  BOOST_CHECK_EXCEPTION(common::check_plotfile(folder, true), common::bad_output,
                        says("plt: it has files, and is no plotfile"));
  fs::remove(folder / "notes");
  write(folder, made_up(2, 1, "density"));
  BOOST_CHECK_EXCEPTION(common::check_plotfile(folder, false), std::invalid_argument,
                        says("plt is a plotfile; choose another name"));
  common::check_plotfile(folder, true);
  write(folder, made_up(2, 2, "pressure"));
  BOOST_TEST(content(folder / "Header").starts_with("HyperCLaw-V1.1\n1\npressure\n2\n0\n2\n"));
  BOOST_TEST(!fs::exists(work / "plt.part1"));
  BOOST_TEST(!fs::exists(work / "plt.part1.old"));
}

BOOST_AUTO_TEST_CASE(a_failed_write_leaves_the_old_plotfile) {
  const tests::work_folder work;
  write(work / "plt", made_up(2, 1, "density"));
  set_content(work / "file", "");
  BOOST_CHECK_EXCEPTION(
      common::write_plotfile(work / "plt", work / "file" / "part", made_up(2, 1, "pressure")),
      common::bad_output, says("cannot write"));
  BOOST_TEST(content(work / "plt" / "Header").starts_with("HyperCLaw-V1.1\n1\ndensity\n"));
  set_content(work / "link", "");
  BOOST_CHECK_EXCEPTION(write(work / "link" / "plt", made_up(2, 1, "density")), common::bad_output,
                        says("cannot write"));
}

BOOST_AUTO_TEST_SUITE_END()
