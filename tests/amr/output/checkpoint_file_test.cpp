// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint that is read equals the one that was written, bit by bit. Every damaged file is
// rejected.
#include "amr/output/checkpoint_file.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <stdexcept>

#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "full_disk.hpp"
#include "work_folder.hpp"

using common::checkpoint;
using common::read_checkpoint;
using common::write_checkpoint;
using tests::content;
using tests::says;
using tests::set_content;

namespace {

checkpoint small_state() {
  checkpoint state{"tests", {{"steps", 7}, {"dt", 0.1}}, {}};
  state.arrays.emplace_back("density", std::vector<double>{1.5, -0.0, 1e-310});
  state.arrays.emplace_back("levels", std::vector<std::uint8_t>{0, 3, 255});
  return state;
}

bool same(const checkpoint& a, const checkpoint& b) {
  return a.program == b.program && a.settings == b.settings && a.arrays == b.arrays;
}

template <class T>
void put(std::string& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

/// Corrects the checksums of a file whose first numbers or directory were changed.
void seal(std::string& file, std::size_t directory_bytes) {
  const auto crc = [&](std::size_t begin, std::size_t count) {
    return std::uint32_t(
        ::crc32(0, reinterpret_cast<const Bytef*>(file.data() + begin), uInt(count)));
  };
  put(file, 32, crc(40, directory_bytes));
  put(file, 36, crc(0, 36));
}

/// A file with correct checksums and any directory.
std::string file_with(const std::string& directory, const std::string& arrays) {
  std::string file(40, '\0');
  file.replace(0, 8, "\x89RAMCK\r\n");
  put(file, 8, std::uint32_t{1});
  put(file, 12, std::uint32_t{0x01020304});
  put(file, 16, std::uint64_t{40 + directory.size() + arrays.size()});
  put(file, 24, std::uint64_t{directory.size()});
  file += directory + arrays;
  seal(file, directory.size());
  return file;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoints)

BOOST_AUTO_TEST_CASE(everything_is_read_bit_for_bit) {
  const tests::work_folder folder;
  const double quiet = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> numbers{0.1, -0.0, quiet, -quiet, 1e308, 5e-324};
  numbers.push_back(std::bit_cast<double>(0x7ff4dead'beef0001));  // a NaN with a payload
  checkpoint state;
  state.program = "ramify amr";
  state.settings = {{"dt", 0.1 + 0.2},
                    {"tiny", 5e-324},
                    {"minus", -0.0},
                    {"steps", std::numeric_limits<std::uint64_t>::max()},
                    {"least", std::numeric_limits<std::int64_t>::min()},
                    {"names", {"a", "\xc3\xa4\n\"", ""}},
                    {"nothing", nullptr}};
  state.arrays.emplace_back("numbers", numbers);
  state.arrays.emplace_back("none", std::vector<float>{});
  state.arrays.emplace_back("floats", std::vector<float>{1.5f, -3});
  state.arrays.emplace_back("", std::vector<std::uint8_t>{1, 2, 3});
  state.arrays.emplace_back("i32", std::vector<std::int32_t>{-1});
  state.arrays.emplace_back("u32", std::vector<std::uint32_t>{~0u});
  state.arrays.emplace_back("i64", std::vector<std::int64_t>{-1});
  state.arrays.emplace_back("many", std::vector<std::uint64_t>(100'000, 0x0123456789abcdef));
  write_checkpoint(folder / "c", state);
  const checkpoint back = read_checkpoint(folder / "c", "ramify amr");
  BOOST_TEST(same(back, state));
  BOOST_TEST(std::bit_cast<std::uint64_t>(back.settings.at("minus").get<double>()) == 1ull << 63);
  const auto again = back.values<double>("numbers");
  BOOST_REQUIRE(again.size() == numbers.size());
  BOOST_TEST(std::memcmp(again.data(), numbers.data(), numbers.size() * sizeof(double)) == 0);
  BOOST_TEST(back.values<float>("none").empty());
  BOOST_CHECK_EXCEPTION((void)back.values<float>("numbers"), std::out_of_range,
                        says("array 'numbers' is of type f64, not f32"));
  BOOST_CHECK_EXCEPTION((void)back.values<float>("number"), std::out_of_range,
                        says("no array 'number'"));
  // Equal states give equal files.
  write_checkpoint(folder / "d", back);
  BOOST_TEST((content(folder / "c") == content(folder / "d")));

  write_checkpoint(folder / "c", checkpoint{"tests", {}, {}});
  BOOST_TEST(same(read_checkpoint(folder / "c", "tests"), checkpoint{"tests", {}, {}}));
  BOOST_TEST(folder.files() == 2u);
}

BOOST_AUTO_TEST_CASE(each_changed_byte_is_found) {
  const tests::work_folder folder;
  write_checkpoint(folder / "c", small_state());
  const std::string good = content(folder / "c");
  const std::size_t arrays_begin = good.size() - 3 - 24;
  for (std::size_t at = 0; at < good.size(); ++at) {
    const char* what = at < 8                   ? " is not a checkpoint"
                       : at < 12                ? " is a checkpoint of version "
                       : at < 40                ? " is damaged in its first 40 bytes"
                       : at < arrays_begin      ? " is damaged in its directory"
                       : at < arrays_begin + 24 ? " is damaged in array 'density'"
                                                : " is damaged in array 'levels'";
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ change);
      set_content(folder / "c", bad);
      BOOST_CHECK_EXCEPTION((void)read_checkpoint(folder / "c", "tests"), common::bad_input,
                            says((folder / "c").string() + what));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_truncated_file_is_rejected_with_the_place) {
  const tests::work_folder folder;
  write_checkpoint(folder / "c", small_state());
  const std::string good = content(folder / "c");
  for (std::size_t length = 0; length < good.size(); ++length) {
    set_content(folder / "c", good.substr(0, length));
    std::string what = "truncated at byte " + std::to_string(length);
    what += length < 40 ? ", before" : " of " + std::to_string(good.size());
    BOOST_CHECK_EXCEPTION((void)read_checkpoint(folder / "c", "tests"), common::bad_input,
                          says(what));
  }
  set_content(folder / "c", good + "xyz");
  BOOST_CHECK_EXCEPTION((void)read_checkpoint(folder / "c", "tests"), common::bad_input,
                        says("has 3 bytes after the checkpoint's end"));
}

BOOST_AUTO_TEST_CASE(other_files_other_versions_other_programs) {
  const tests::work_folder folder;
  const auto path = folder / "c";
  const auto rejected = [&](const std::string& text, const std::string& what) {
    set_content(path, text);
    BOOST_CHECK_EXCEPTION((void)read_checkpoint(path, "tests"), common::bad_input, says(what));
  };
  rejected("time,mass\n", "is not a checkpoint");
  rejected(std::string(1000, '\0'), "is not a checkpoint");
  write_checkpoint(path, small_state());
  const std::string good = content(path);
  std::string other = good;
  put(other, 8, std::uint32_t{2});
  rejected(other, "is a checkpoint of version 2, and this program reads version 1");
  other = good;
  put(other, 12, std::uint32_t{0x04030201});
  rejected(other, "another byte order");
  set_content(path, good);
  BOOST_CHECK_EXCEPTION((void)read_checkpoint(path, "ramify amr"), common::bad_input,
                        says("is a checkpoint of 'tests', not of 'ramify amr'"));
  BOOST_CHECK_EXCEPTION((void)read_checkpoint(folder / "none", "tests"), common::bad_input,
                        says("none: No such file"));
  std::filesystem::create_directory(folder / "dir");
  BOOST_CHECK_EXCEPTION((void)read_checkpoint(folder / "dir", "tests"), common::bad_input,
                        says("dir is not a regular file"));
  BOOST_REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  BOOST_CHECK_EXCEPTION((void)read_checkpoint(folder / "fifo", "tests"), common::bad_input,
                        says("fifo is not a regular file"));
}

// Impossible sizes in files with correct checksums: none of them is allocated, which would throw
// std::bad_alloc or std::length_error.
BOOST_AUTO_TEST_CASE(sizes_beyond_the_file_are_rejected) {
  const tests::work_folder folder;
  const auto path = folder / "c";
  const auto rejected = [&](const std::string& file, const char* what) {
    set_content(path, file);
    BOOST_CHECK_EXCEPTION((void)read_checkpoint(path, "tests"), common::bad_input, says(what));
  };
  const auto directory = [](const std::string& arrays) {
    return R"({"program":"tests","settings":null,"arrays":)" + arrays + "}";
  };
  const auto array = [](const std::string& bytes, const std::string& type = "u8") {
    return R"({"name":"a","type":")" + type + R"(","bytes":)" + bytes + R"(,"crc":0})";
  };
  set_content(path, file_with(directory("[]"), ""));
  (void)read_checkpoint(path, "tests");  // file_with() makes valid files, too

  constexpr auto huge = std::numeric_limits<std::uint64_t>::max();
  std::string file = file_with(directory("[]"), "");
  put(file, 16, huge);
  seal(file, file.size() - 40);
  rejected(file, " of 18446744073709551615");
  for (const std::uint64_t bytes : {huge, huge - 39, huge / 2, std::uint64_t{1000}}) {
    file = file_with(directory("[]"), "");
    put(file, 24, bytes);
    seal(file, file.size() - 40);
    rejected(file, "damaged in its directory");
  }
  put(file, 16, std::uint64_t{0});
  seal(file, file.size() - 40);
  rejected(file, "bytes after the checkpoint's end");
  for (const char* bytes : {"18446744073709551615", "18446744073709551614", "4611686018427387904",
                            "3", "1", "-2", "2.0", "1e99", "\"2\"", "null"}) {
    rejected(file_with(directory('[' + array(bytes) + ']'), "xy"), "damaged in its directory");
  }
  // Their sum would overflow to 2.
  rejected(file_with(directory('[' + array("18446744073709551615") + ',' + array("3") + ']'), "xy"),
           "damaged in its directory");
  rejected(file_with(directory('[' + array("2", "i32") + ']'), "xy"), "damaged in its directory");
  rejected(file_with(directory('[' + array("2", "bool") + ']'), "xy"), "damaged in its directory");
  rejected(file_with(directory('[' + array("2") + ']'), "xy"), "damaged in array 'a'");
  for (const char* text : {"", "{}", "[]", "7", "{\"program\":7}", "{\"program\":\"tests\"",
                           R"({"program":"tests","settings":{},"arrays":[1]})",
                           R"({"program":"tests","settings":{},"arrays":[{}]})"}) {
    rejected(file_with(text, ""), "damaged in its directory");
  }
  rejected(file_with(std::string(100'000, '['), ""), "damaged in its directory");
}

BOOST_AUTO_TEST_CASE(invalid_checkpoints_are_not_written) {
  const tests::work_folder folder;
  checkpoint state = small_state();
  state.arrays[1].name = "density";
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "c", state), std::invalid_argument,
                        says("array 'density' occurs twice"));
  state = small_state();
  state.arrays[0].type = "complex";
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "c", state), std::invalid_argument,
                        says("array 'density' is of type 'complex'"));
  state = small_state();
  state.arrays[0].bytes.pop_back();
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "c", state), std::invalid_argument,
                        says("array 'density' ends within"));
  state = small_state();
  state.settings["name"] = "\xff";
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "c", state), common::bad_output,
                        says("not UTF-8"));
  BOOST_TEST(folder.files() == 0u);
}

BOOST_AUTO_TEST_CASE(the_old_file_stays_when_writing_fails) {
  const tests::work_folder folder;
  write_checkpoint(folder / "c", small_state());
  checkpoint large = small_state();
  large.arrays.emplace_back("more", std::vector<double>(100'000));
  for (const rlim_t bytes : {0, 100, 8192, 500'000, 800'000}) {
    const auto write = [&] {
      const tests::full_disk full(bytes);
      write_checkpoint(folder / "c", large);
    };
    BOOST_CHECK_EXCEPTION(write(), common::bad_output,
                          says("cannot write " + (folder / "c").string() + ": File too large"));
    BOOST_TEST(same(read_checkpoint(folder / "c", "tests"), small_state()));
    BOOST_TEST(folder.files() == 1u);
  }
  write_checkpoint(folder / "c", large);
  BOOST_TEST(same(read_checkpoint(folder / "c", "tests"), large));
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written_to_is_named) {
  const tests::work_folder folder;
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "no/c", small_state()), common::bad_output,
                        says("no/c: no such folder"));
  set_content(folder / "file", "text");
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "file/c", small_state()), common::bad_output,
                        says("file/c: Not a directory"));
  BOOST_CHECK_THROW(write_checkpoint("/proc/checkpoint", small_state()), common::bad_output);
  if (::geteuid() == 0) return;  // root may write to any folder
  std::filesystem::create_directory(folder / "locked");
  BOOST_REQUIRE(::chmod((folder / "locked").c_str(), 0500) == 0);
  BOOST_CHECK_EXCEPTION(write_checkpoint(folder / "locked/c", small_state()), common::bad_output,
                        says("locked/c: Permission denied"));
}

BOOST_AUTO_TEST_SUITE_END()
