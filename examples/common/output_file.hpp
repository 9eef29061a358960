// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Output files that are written completely or not at all.

#include <filesystem>
#include <functional>
#include <ostream>
#include <stdexcept>

namespace common {

/// Thrown if a file cannot be written. The message names the file and the reason.
class bad_output : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes to a temporary file in the folder of `path` and renames it. After a failure `path` is
/// unchanged, and the temporary file is removed. A replaced file keeps its permissions, and its
/// owner if the process may give files to that owner. A read-only file is not replaced, unless
/// replace_read_only_files() was called. The path "-" stands for standard output.
/// \throws bad_output
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// Does the same, and waits until the file is on the disk: if the machine stops at any moment,
/// `path` has either the old or the new content. \throws bad_output
void write_file_to_disk(const std::filesystem::path& path,
                        const std::function<void(std::ostream&)>& write);

/// Checks, before the content of a file is computed, that write_file() can write it: creates the
/// temporary file and removes it, and checks that an old file can be replaced. A full disk is not
/// found. \throws bad_output
void check_output_file(const std::filesystem::path& path);

/// Lets all later writes of the program replace read-only files.
void replace_read_only_files();

/// Flushes standard output. \throws bad_output if anything that was printed is lost
void flush_standard_output();

/// Removes the temporary file of a write in progress, if there is one. A signal handler may call
/// this function.
void remove_partial_file() noexcept;

}  // namespace common
