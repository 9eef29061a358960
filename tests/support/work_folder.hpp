// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A temporary folder for the files of a test, and functions to read and write files.

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tests {

/// A new, empty folder. The destructor deletes it.
class work_folder {
 public:
  work_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ramify.XXXXXX").string();
    BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~work_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }
  [[nodiscard]] std::size_t files() const {
    return std::size_t(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void set_content(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Returns a predicate for BOOST_CHECK_EXCEPTION that checks whether the message contains `text`
/// and is one line.
inline auto says(const std::string& text) {
  return [text](const std::exception& e) {
    const std::string_view what = e.what();
    const bool right = what.find(text) != what.npos && what.find('\n') == what.npos;
    if (!right) BOOST_TEST_MESSAGE("the message is: " << what);
    return right;
  };
}

}  // namespace tests
