// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A file that appears whole or not at all.

#include <filesystem>
#include <functional>
#include <ostream>
#include <stdexcept>

namespace common {

/// The file cannot be written; the message names it and says why.
class bad_output : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes to a temporary file beside `path` and renames it. If anything fails, `path` is as it was
/// and the temporary file is gone. \throws bad_output
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// The same, and the file has reached the disk on return: even if the machine stops at any moment,
/// `path` is as it was or as it should be. \throws bad_output
void write_file_to_disk(const std::filesystem::path& path,
                        const std::function<void(std::ostream&)>& write);

}  // namespace common
