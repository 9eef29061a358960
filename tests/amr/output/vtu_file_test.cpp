// SPDX-License-Identifier: BSD-3-Clause
// Checks of .vtu and .pvd files without VTK. read_vtu.sh reads them with VTK.
#include "amr/output/vtu_file.hpp"

#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "amr/output/pvd_series.hpp"
#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "made_up_mesh.hpp"
#include "work_folder.hpp"

using common::pvd_series;
using tests::content;
using tests::says;
using tests::set_content;

namespace common {
std::ostream& operator<<(std::ostream& out, const pvd_series::entry& e) {
  return out << e.time << ' ' << e.file;
}
}  // namespace common

namespace {

ramify::mesh_snapshot two_blocks() {
  ramify::mesh_snapshot mesh;
  mesh.cells = 2;
  mesh.roots = {2, 1, 1};
  mesh.leaves = {{0, {0, 0, 0}}, {0, {1, 0, 0}}};
  mesh.fields = {"density"};
  mesh.values = {1, 2, 3, 4, 5, 6, 7, 8};
  return mesh;
}

/// Returns the arrays after the XML, uncompressed.
std::vector<std::string> arrays_of(const std::string& file) {
  const std::size_t begin = file.find("\n_") + 2;
  const std::size_t end = file.rfind("\n  </AppendedData>");
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, file.data() + at, sizeof value);
    return std::size_t(value);
  };
  std::vector<std::string> arrays;
  std::size_t at = begin;
  std::size_t place = 0;
  while (at < end) {
    // The next offset in the XML is that of this array.
    place = file.find(" offset=\"", place) + 9;
    BOOST_TEST(std::stoull(file.substr(place, 20)) == at - begin);
    const std::size_t blocks = number(at);
    const std::size_t size = number(at + 8);
    const std::size_t last = number(at + 16);
    std::size_t data = at + 24 + 8 * blocks;
    std::string array;
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t bytes = number(at + 24 + 8 * block);
      uLongf count = block + 1 == blocks && last != 0 ? last : size;
      std::string part(count, '\0');
      BOOST_TEST(uncompress(reinterpret_cast<Bytef*>(part.data()), &count,
                            reinterpret_cast<const Bytef*>(file.data() + data), bytes) == Z_OK);
      BOOST_TEST(count == part.size());
      array += part;
      data += bytes;
    }
    arrays.push_back(array);
    at = data;
  }
  BOOST_TEST(at == end);
  return arrays;
}

std::vector<pvd_series::entry> entries_at(std::initializer_list<int> times) {
  std::vector<pvd_series::entry> entries;
  for (const int t : times) entries.push_back({double(t), "at" + std::to_string(t) + ".vtu"});
  return entries;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vtu)

BOOST_AUTO_TEST_CASE(the_arrays_have_their_declared_sizes) {
  const tests::work_folder folder;
  common::write_vtu(folder / "m.vtu", two_blocks());
  const std::string file = content(folder / "m.vtu");
  for (const char* part : {"byte_order=\"LittleEndian\"", "header_type=\"UInt64\"",
                           "NumberOfPoints=\"18\"", "compressor=\"vtkZLibDataCompressor\"",
                           "NumberOfCells=\"8\"", "Name=\"density\"", "encoding=\"raw\""}) {
    BOOST_TEST(file.find(part) != file.npos, part);
  }
  std::vector<std::size_t> sizes;
  for (const std::string& array : arrays_of(file)) sizes.push_back(array.size());
  const std::vector<std::size_t> expected{8, 8, 18 * 24, 8 * 32, 8 * 8, 8, 8 * 8, 8, 8 * 4};
  BOOST_TEST(sizes == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_values_are_doubles_or_floats) {
  const tests::work_folder folder;
  ramify::mesh_snapshot mesh = two_blocks();
  mesh.values[0] = 1 + 1e-12;
  mesh.values[1] = 1e300;
  const auto values = [&](common::vtu_numbers numbers) {
    common::write_vtu(folder / "m.vtu", mesh, numbers);
    return arrays_of(content(folder / "m.vtu"))[6];
  };
  const std::string doubles = values(common::vtu_numbers::float64);
  BOOST_TEST(doubles.size() == 8 * sizeof(double));
  BOOST_TEST(std::memcmp(doubles.data(), mesh.values.data(), doubles.size()) == 0);
  const std::string bytes = values(common::vtu_numbers::float32);
  float floats[8];
  BOOST_REQUIRE(bytes.size() == sizeof floats);
  std::memcpy(floats, bytes.data(), sizeof floats);
  BOOST_TEST(floats[0] == 1.0f);
  BOOST_TEST(std::isinf(floats[1]));
  BOOST_TEST(floats[7] == 8.0f);
}

BOOST_AUTO_TEST_CASE(long_arrays_have_several_compressed_blocks) {
  const tests::work_folder folder;
  // The connectivity of the first mesh has 2 MiB, that of the second one a smaller last block.
  for (const int cells : {256, 200}) {
    ramify::mesh_snapshot mesh;
    mesh.cells = cells;
    mesh.leaves = {{0, {0, 0, 0}}};
    mesh.fields = {"density"};
    mesh.values.assign(std::size_t(cells) * std::size_t(cells), 0.25);
    common::write_vtu(folder / "m.vtu", mesh);
    const std::string file = content(folder / "m.vtu");
    const auto arrays = arrays_of(file);
    const auto all = std::size_t(cells) * std::size_t(cells);
    BOOST_TEST(arrays[3].size() == all * 32);
    std::int64_t corner = 0;
    std::memcpy(&corner, arrays[3].data() + arrays[3].size() - sizeof corner, sizeof corner);
    BOOST_TEST(corner == std::int64_t(cells + 1) * (cells + 1) - 1);
    BOOST_TEST(file.size() < 20 * all);  // without compression 105 bytes a cell
  }
}

BOOST_AUTO_TEST_CASE(an_inconsistent_mesh_is_rejected) {
  const tests::work_folder folder;
  const auto rejected = [&](const char* what, auto change) {
    ramify::mesh_snapshot mesh = two_blocks();
    change(mesh);
    BOOST_CHECK_EXCEPTION(common::write_vtu(folder / "m.vtu", mesh), std::invalid_argument,
                          says(what));
  };
  rejected("4 dimensions", [](auto& m) { m.dimensions = 4; });
  rejected("7 values instead of 8", [](auto& m) { m.values.pop_back(); });
  rejected("leaf 1 is outside", [](auto& m) { m.leaves[1].index[0] = 2; });
  rejected("leaf 1 is outside", [](auto& m) { m.leaves[1].index[2] = 1; });
  rejected("leaf 0 is of level 32", [](auto& m) { m.leaves[0].level = 32; });
  rejected("without extent along axis 1", [](auto& m) { m.upper[1] = 0; });
  rejected("blocks of 0 cells", [](auto& m) { m.cells = 0; });
  rejected("a field 'level'", [](auto& m) { m.fields[0] = "level"; });
  rejected("two fields 'density'", [](auto& m) { m.fields.push_back("density"); });
  BOOST_TEST(folder.files() == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_named) {
  const tests::work_folder folder;
  BOOST_CHECK_EXCEPTION(common::write_vtu(folder / "no/m.vtu", two_blocks()), common::bad_output,
                        says("no/m.vtu: no such folder"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pvd)

BOOST_AUTO_TEST_CASE(a_series_continues_at_a_time) {
  const tests::work_folder folder;
  const auto path = folder / "all.pvd";
  pvd_series first(path);
  for (const auto& [time, file] : entries_at({0, 1, 2, 3})) {
    first.add(time, folder / file);
    BOOST_TEST(pvd_series::resume(path, 10).entries() == first.entries(),
               boost::test_tools::per_element());
  }
  BOOST_TEST(first.entries() == entries_at({0, 1, 2, 3}), boost::test_tools::per_element());

  pvd_series second = pvd_series::resume(path, 2);
  BOOST_TEST(second.entries() == entries_at({0, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(pvd_series::resume(path, 10).entries().size() == 4u);  // nothing is written yet
  second.add(5, folder / "at5.vtu");
  BOOST_TEST(pvd_series::resume(path, 10).entries() == entries_at({0, 1, 2, 5}),
             boost::test_tools::per_element());
  second.add(2, folder / "at2.vtu");
  BOOST_TEST(second.entries() == entries_at({0, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(pvd_series::resume(folder / "none.pvd", 1).entries().empty());
  BOOST_TEST(folder.files() == 1u);
}

BOOST_AUTO_TEST_CASE(times_and_names_are_read_exactly) {
  const tests::work_folder folder;
  const auto path = folder / "all.pvd";
  pvd_series series(path);
  const std::vector<pvd_series::entry> all{{-1e300, "a\" file=\"b.vtu"},
                                           {0.1, "<&>'\n\t.vtu"},
                                           {0.1 + 0.2, "sub/&amp;.vtu"},
                                           {1e-3 + 1, "../elsewhere/\"/>.vtu"}};
  for (const auto& [time, file] : all) series.add(time, folder / file);
  BOOST_TEST(pvd_series::resume(path, 2).entries() == all, boost::test_tools::per_element());
  BOOST_TEST(pvd_series::resume(path, 0.1 + 0.2).entries().size() == 3u);
}

BOOST_AUTO_TEST_CASE(another_collection_is_rejected) {
  const tests::work_folder folder;
  const auto path = folder / "all.pvd";
  const auto rejected = [&](const std::string& text, const char* what) {
    set_content(path, text);
    BOOST_CHECK_EXCEPTION((void)pvd_series::resume(path, 1), common::bad_input, says(what));
    BOOST_TEST(content(path) == text);
  };
  rejected("", "all.pvd is not a complete");
  rejected("time,mass\n", "all.pvd, line 1: 'time,mass' is not what");
  pvd_series series(path);
  series.add(0, folder / "a.vtu");
  series.add(1, folder / "b.vtu");
  const std::string good = content(path);
  (void)pvd_series::resume(path, 1);
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    set_content(path, good.substr(0, length));
    BOOST_CHECK_THROW((void)pvd_series::resume(path, 1), common::bad_input);
  }
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  rejected(changed("timestep=\"1\"", "timestep=\"one\""), "line 5: ");
  rejected(changed("timestep=\"1\"", "timestep=\"0\""), "line 5: ");
  rejected(changed("timestep=\"1\"", "timestep=\"nan\""), "line 5: ");
  rejected(changed("a.vtu", "&eacute;.vtu"), "line 4: ");
  rejected(changed("<Collection>", "<Collection><!-- ours -->"), "line 3: ");
  rejected(good + "more\n", "line 8: 'more' is not what");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  BOOST_CHECK_EXCEPTION((void)pvd_series::resume(path, 1), common::bad_input,
                        says("is a directory"));
}

BOOST_AUTO_TEST_CASE(a_failed_add_changes_nothing) {
  const tests::work_folder folder;
  pvd_series series(folder / "no/all.pvd");
  BOOST_CHECK_EXCEPTION(series.add(0, "a.vtu"), common::bad_output, says("no/all.pvd: no such"));
  BOOST_CHECK_THROW(series.add(std::numeric_limits<double>::quiet_NaN(), "a.vtu"),
                    std::invalid_argument);
  BOOST_CHECK_THROW(
      (void)pvd_series::resume(folder / "all.pvd", std::numeric_limits<double>::quiet_NaN()),
      std::invalid_argument);
  BOOST_TEST(series.entries().empty());
}

BOOST_AUTO_TEST_SUITE_END()
