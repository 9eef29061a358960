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
/// unchanged, and the temporary file is removed. \throws bad_output
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// Does the same, and waits until the file is on the disk: if the machine stops at any moment,
/// `path` has either the old or the new content. \throws bad_output
void write_file_to_disk(const std::filesystem::path& path,
                        const std::function<void(std::ostream&)>& write);

}  // namespace common
