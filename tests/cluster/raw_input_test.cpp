// SPDX-License-Identifier: BSD-3-Clause
// A raw file of numbers, of which each rank reads a part. Each rank has files of its own here.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "common/number_file.hpp"
#include "exceptions.hpp"

namespace tests::raw_files {
namespace {

namespace fs = std::filesystem;

// A file with the numbers 0, 1, ... that is removed at the end.
struct numbered_file {
  static inline int made = 0;
  fs::path path = fs::temp_directory_path() /
                  ("ramify_raw_" + std::to_string(::getpid()) + '_' + std::to_string(made++));

  explicit numbered_file(std::size_t n) {
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(4 * n));
  }
  ~numbered_file() { fs::remove(path); }
  numbered_file(const numbered_file&) = delete;
  numbered_file& operator=(const numbered_file&) = delete;

  // Changes one byte.
  void change(std::size_t at) const {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('\xff');
  }
};

std::vector<std::uint32_t> read(const common::raw_input& input, std::size_t part,
                                std::size_t parts) {
  return std::get<std::vector<std::uint32_t>>(input.read("u32", false, part, parts).keys);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(raw_input)

BOOST_AUTO_TEST_CASE(the_parts_are_the_file) {
  for (const std::size_t n : {0, 1, 2, 10}) {
    const numbered_file file(n);
    const common::raw_input input(file.path);
    BOOST_TEST(input.is_regular());
    BOOST_TEST(input.bytes() == 4 * n);
    std::vector<std::uint32_t> all;
    for (std::size_t part = 0; part < 3; ++part) {
      const auto numbers = read(input, part, 3);
      BOOST_TEST((numbers.size() == n / 3 || numbers.size() == n / 3 + 1));
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    std::vector<std::uint32_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0u);
    BOOST_TEST(all == expected);
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_changes_its_size_is_refused) {
  const numbered_file file(10);
  const std::string name = file.path.string();
  {
    const common::raw_input input(file.path);
    fs::resize_file(file.path, 60);
    BOOST_CHECK_EXCEPTION(read(input, 0, 2), common::bad_input,
                          names("the size of " + name + " changed from 40 to 60 bytes"));
  }
  {
    const common::raw_input input(file.path);
    fs::resize_file(file.path, 32);
    BOOST_CHECK_EXCEPTION(read(input, 0, 2), common::bad_input,
                          names("the size of " + name + " changed from 60 to 32 bytes"));
    BOOST_CHECK_EXCEPTION(read(input, 1, 2), common::bad_input,
                          names(name + " had 60 bytes, but ends before byte 60 now"));
  }
  fs::resize_file(file.path, 41);
  BOOST_CHECK_EXCEPTION(read(common::raw_input(file.path), 0, 2), common::bad_input,
                        names("41 bytes, which is no multiple of 4"));
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read_are_named) {
  BOOST_CHECK_EXCEPTION(common::raw_input("/nowhere/raw"), common::bad_input,
                        names("cannot read /nowhere/raw: No such file or directory"));
  // A folder cannot be divided; then part 0 reads it.
  const common::raw_input folder("/");
  BOOST_TEST(!folder.is_regular());
  BOOST_TEST(read(folder, 1, 2).empty());
  BOOST_CHECK_EXCEPTION(read(folder, 0, 2), common::bad_input, names("/ is a directory"));
}

BOOST_AUTO_TEST_CASE(the_hash_is_of_all_bytes_of_a_small_file) {
  const numbered_file file(1000);
  const std::uint64_t hash = common::raw_input(file.path).sample_hash();
  BOOST_TEST(common::raw_input(file.path).sample_hash() == hash);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1777}, std::size_t{3997}}) {
    const numbered_file other(1000);
    other.change(at);
    BOOST_TEST(common::raw_input(other.path).sample_hash() != hash);
  }
}

// Of a file of 20 MiB, 16 MiB are hashed.
BOOST_AUTO_TEST_CASE(the_hash_has_the_first_and_the_last_bytes_of_a_long_file) {
  constexpr std::size_t bytes = std::size_t{20} << 20;
  const numbered_file file(1);
  fs::resize_file(file.path, bytes);  // zeros that take no space on the disk
  const std::uint64_t hash = common::raw_input(file.path).sample_hash();
  for (const std::size_t at : {std::size_t{5}, bytes - 1, bytes / 2}) {
    fs::resize_file(file.path, 4);
    fs::resize_file(file.path, bytes);
    file.change(at);
    const bool is_read = at != bytes / 2;
    BOOST_TEST((common::raw_input(file.path).sample_hash() != hash) == is_read);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::raw_files
