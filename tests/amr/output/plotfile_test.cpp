// SPDX-License-Identifier: BSD-3-Clause
// What plotfiles refuse. The tests of the program amr read plotfiles with read_plotfile.py.
#include "amr/output/plotfile.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "made_up_mesh.hpp"
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

/// In a process of a privileged user, which may write all files, takes the rights of another user
/// until the destructor.
class other_user {
 public:
  /// Gives a folder to the user.
  explicit other_user(const fs::path& folder = {}) : was_(::geteuid()) {
    if (was_ != 0) return;
    constexpr uid_t nobody = 65534;
    if (!folder.empty()) BOOST_REQUIRE(::chown(folder.c_str(), nobody, gid_t(-1)) == 0);
    BOOST_REQUIRE(::seteuid(nobody) == 0);
  }
  ~other_user() { BOOST_TEST(::seteuid(was_) == 0); }
  other_user(const other_user&) = delete;
  other_user& operator=(const other_user&) = delete;

 private:
  uid_t was_;
};

/// Makes a folder whose path has at least `length` bytes, and at most 100 more.
fs::path deep_folder(fs::path folder, std::size_t length) {
  fs::create_directory(folder);
  while (folder.string().size() < length) {
    folder /= std::string(std::min<std::size_t>(99, length - folder.string().size()), 'd');
    fs::create_directory(folder);
  }
  return folder;
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
  refuses(made_up(2, 1, "den\nsity"), "the name of field 0 has a space or a line end");
  refuses(made_up(2, 1, "mass density"), "the name of field 0 has a space or a line end");
  ramify::mesh_snapshot mesh = made_up(2, 1, "density");
  mesh.values.pop_back();
  refuses(mesh, "values instead of");
  refuses({}, "no leaves");
  // The largest index of a cell is 2^31 - 1.
  mesh = made_up(2, 0, "density");
  mesh.roots[0] = (1u << 30) + 1;
  refuses(mesh, "level 0 has more than 2^31 cells along axis 0");
  mesh.roots[0] = 1u << 30;
  write(work / "plt", mesh);
  fs::remove_all(work / "plt");
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

BOOST_AUTO_TEST_CASE(what_cannot_be_replaced_is_refused_by_the_check) {
  const tests::work_folder work;
  const auto refuses = [](const fs::path& folder, const std::string& what) {
    BOOST_CHECK_EXCEPTION(common::check_plotfile(folder, true), common::bad_output, says(what));
  };
  fs::create_symlink(work / "nothing", work / "dangling");
  refuses(work / "dangling", "dangling: it is a link to nothing");
  BOOST_CHECK_EXCEPTION(write(work / "dangling", made_up(2, 1, "density")), common::bad_output,
                        says("dangling: it is a link to nothing"));
  fs::create_symlink(work / "loop", work / "loop");
  refuses(work / "loop", "Too many levels of symbolic links");
  refuses(work / "nowhere" / "plt", "plt: no such folder");
  refuses(work / std::string(300, 'x'), "File name too long");
  set_content(work / "file", "");
  refuses(work / "file", "file: it is not a folder");
  refuses(work / "file" / "plt", "Not a directory");
  refuses(".", "it is the working folder");
  const other_user user(work / "");
  fs::create_directory(work / "closed");
  fs::permissions(work / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  refuses(work / "closed" / "plt", "Permission denied");
  BOOST_TEST(work.files() == 4);
}

BOOST_AUTO_TEST_CASE(a_folder_of_another_user_is_refused_by_the_check) {
  if (::geteuid() != 0) return;
  const tests::work_folder work;
  write(work / "plt", made_up(2, 1, "density"));
  fs::permissions(work / "", fs::perms::all | fs::perms::sticky_bit);
  const other_user user;
  BOOST_CHECK_EXCEPTION(common::check_plotfile(work / "plt", true), common::bad_output,
                        says("plt: Operation not permitted"));
  BOOST_CHECK_EXCEPTION(write(work / "plt", made_up(2, 1, "pressure")), common::bad_output,
                        says("plt: Operation not permitted"));
  BOOST_TEST(content(work / "plt" / "Header").starts_with("HyperCLaw-V1.1\n1\ndensity\n"));
  BOOST_TEST(work.files() == 1);
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_refused_by_the_check) {
  if (::geteuid() != 0) return;
  const tests::work_folder work;
  set_content(work / "old", "old");
  fs::permissions(work / "old", fs::perms::all);
  common::check_output_file(work / "old");  // root may replace it
  fs::permissions(work / "", fs::perms::all | fs::perms::sticky_bit);
  {
    const other_user user;
    BOOST_CHECK_EXCEPTION(common::check_output_file(work / "old"), common::bad_output,
                          says("old: Operation not permitted"));
    common::check_output_file(work / "new");
  }
  fs::permissions(work / "", fs::perms::all);  // not sticky
  const other_user user;
  common::check_output_file(work / "old");
  BOOST_TEST(content(work / "old") == "old");
  BOOST_TEST(work.files() == 1);
}

BOOST_AUTO_TEST_CASE(a_path_too_long_for_the_files_is_refused_by_the_check) {
  const tests::work_folder work;
  const fs::path deep = deep_folder(work / "deep", 4000);
  // 35 bytes remain: enough for the temporary folder, but not for the files in it.
  const fs::path folder = deep / std::string(4060 - deep.string().size() - 1, 'p');
  BOOST_CHECK_EXCEPTION(common::check_plotfile(folder, false), common::bad_output,
                        says("File name too long"));
  BOOST_TEST(fs::is_empty(deep));
}

BOOST_AUTO_TEST_CASE(the_target_of_a_link_is_replaced) {
  const tests::work_folder work;
  fs::create_directory(work / "plt");
  fs::create_directory_symlink(work / "plt", work / "link");
  for (const std::string name : {"link", "link/"}) {
    common::check_plotfile(work / name, true);
    write(work / name, made_up(2, 1, "density"));
    BOOST_TEST(fs::is_symlink(work / "link"));
    BOOST_TEST(fs::exists(work / "plt" / "Header"));
    BOOST_TEST(work.files() == 2);
  }
}

BOOST_AUTO_TEST_CASE(a_failed_write_leaves_the_old_plotfile_and_nothing_else) {
  const tests::work_folder work;
  write(work / "plt", made_up(2, 1, "density"));
  // A path has at most 4095 bytes. The name of the temporary folder leaves 7 bytes, too few for
  // "/Level_0", or 14, too few for the files in it.
  const fs::path deep = deep_folder(work / "deep", 4000);
  for (const std::size_t left : {7, 14}) {
    const fs::path part = deep / std::string(4095 - deep.string().size() - 1 - left, 'p');
    BOOST_CHECK_EXCEPTION(common::write_plotfile(work / "plt", part, made_up(2, 1, "pressure")),
                          common::bad_output, says("File name too long"));
    BOOST_TEST(fs::is_empty(deep));
  }
  BOOST_TEST(content(work / "plt" / "Header").starts_with("HyperCLaw-V1.1\n1\ndensity\n"));
  BOOST_TEST(work.files() == 2);
}

BOOST_AUTO_TEST_CASE(a_folder_that_other_ranks_still_use_is_removed_later) {
  const tests::work_folder work;
  const other_user user(work / "");
  const ramify::mesh_snapshot mesh = made_up(2, 1, "density");
  const fs::path part = work / "part";
  const fs::path used = part / "Level_0";
  std::jthread other_rank;
  int calls = 0;
  common::mesh_ranks ranks;
  ranks.size = 2;
  ranks.owners.assign(mesh.leaves.size(), 0);
  ranks.exchange = [](const auto&, auto&) {};
  ranks.barrier = [&] {
    if (++calls == 1) return;
    fs::permissions(used, fs::perms::owner_read | fs::perms::owner_exec);
    other_rank = std::jthread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      fs::permissions(used, fs::perms::owner_all);
    });
    throw std::runtime_error("rank 1 has failed");
  };
  BOOST_CHECK_EXCEPTION(common::write_plotfile(work / "plt", part, mesh, ranks), std::runtime_error,
                        says("rank 1 has failed"));
  other_rank.join();
  BOOST_TEST(work.files() == 0);
}

BOOST_AUTO_TEST_CASE(files_of_a_killed_process_are_not_in_a_new_plotfile) {
  const tests::work_folder work;
  write(work / "plt", made_up(2, 1, "density"));
  for (const char* const name : {"plt.part1", "plt.part1.old"}) {
    fs::create_directories(work / name / "Level_7");
    set_content(work / name / "Level_7" / "Cell_D_00009", "stale");
  }
  write(work / "plt", made_up(2, 1, "pressure"));
  BOOST_TEST(content(work / "plt" / "Header").starts_with("HyperCLaw-V1.1\n1\npressure\n"));
  BOOST_TEST(!fs::exists(work / "plt" / "Level_7"));
  BOOST_TEST(work.files() == 1);
}

BOOST_AUTO_TEST_CASE(an_old_plotfile_that_cannot_be_removed_is_no_failure) {
  const tests::work_folder work;
  const other_user user(work / "");
  write(work / "plt", made_up(2, 1, "density"));
  fs::permissions(work / "plt" / "Level_0", fs::perms::owner_read | fs::perms::owner_exec);
  std::ostringstream printed;
  std::streambuf* const usual = std::cerr.rdbuf(printed.rdbuf());
  write(work / "plt", made_up(2, 1, "pressure"));
  std::cerr.rdbuf(usual);
  BOOST_TEST(printed.str().find("plt is complete; cannot remove the old plotfile") !=
             std::string::npos);
  BOOST_TEST(content(work / "plt" / "Header").starts_with("HyperCLaw-V1.1\n1\npressure\n"));
  fs::permissions(work / "plt.part1.old" / "Level_0", fs::perms::owner_all);
}

BOOST_AUTO_TEST_SUITE_END()
