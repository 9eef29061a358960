// SPDX-License-Identifier: BSD-3-Clause
#include "plotfile_folder.hpp"

#include <chrono>
#include <iostream>
#include <new>
#include <thread>
#include <utility>

#include "common/output_file.hpp"

namespace common {

namespace fs = std::filesystem;

void fail_to_write(const fs::path& folder, const std::string& why) {
  throw bad_output("cannot write " + folder.string() + ": " + why);
}

fs::path resolved_folder(const fs::path& folder) {
  std::error_code why;
  const fs::path path = fs::absolute(folder / ".", why).parent_path();
  if (why) fail_to_write(folder, why.message());
  fs::path found = fs::canonical(path, why);
  if (!why) return found;
  if (why != std::errc::no_such_file_or_directory) fail_to_write(folder, why.message());
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored)))
    fail_to_write(folder, "it is a link to nothing");
  found = fs::canonical(path.parent_path(), why);
  if (why == std::errc::no_such_file_or_directory) fail_to_write(folder, "no such folder");
  if (why) fail_to_write(folder, why.message());
  return found / path.filename();
}

namespace {

void create_folder(const fs::path& folder) {
  std::error_code why;
  if (fs::create_directory(folder, why)) return;
  fail_to_write(folder, why ? why.message() : "another process has created it");
}

}  // namespace

plotfile_folder::plotfile_folder(fs::path path) : path_(std::move(path)) {}

plotfile_folder::~plotfile_folder() {
  // After a failure, other ranks may still create files, so a removal may fail. Each trial removes
  // more of their folders.
  for (int trial = 0; trial < 100; ++trial) {
    try {
      std::error_code why;
      fs::remove_all(path_, why);
      if (!why) return;
    } catch (const std::bad_alloc&) {  // the next trial may have memory
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void plotfile_folder::create(const std::vector<std::string>& subfolders) const {
  std::error_code why;
  for (const fs::path& left : {path_, old()}) {
    fs::remove_all(left, why);
    if (why) fail_to_write(left, why.message());
  }
  create_folder(path_);
  for (const std::string& name : subfolders) create_folder(path_ / name);
}

void plotfile_folder::rename_to(const fs::path& folder) const {
  std::error_code why;
  const bool replaces = fs::exists(folder, why);
  if (replaces) fs::rename(folder, old(), why);
  if (why) fail_to_write(folder, why.message());
  fs::rename(path_, folder, why);
  if (why) {
    std::error_code restored;
    if (replaces) fs::rename(old(), folder, restored);
    fail_to_write(folder, why.message() + (restored ? "; the old plotfile is now " + old().string()
                                                    : std::string()));
  }
  fs::remove_all(old(), why);
  if (!why) return;
  std::cerr << folder.string() << " is complete; cannot remove the old plotfile " << old().string()
            << ": " << why.message() << '\n';
}

void plotfile_folder::try_to_replace(const fs::path& folder) const {
  std::error_code why;
  fs::rename(folder, old(), why);
  if (why) fail_to_write(folder, why.message());
  fs::rename(old(), folder, why);
  if (why) fail_to_write(folder, why.message() + "; the old plotfile is now " + old().string());
}

fs::path plotfile_folder::old() const { return path_.string() + ".old"; }

}  // namespace common
