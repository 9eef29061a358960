// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

namespace common {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

/// Waits until a file, or the entries of a folder, are on the disk.
std::error_code sync(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return last_error();
  std::error_code error;
  // EINVAL: the file system does not support fsync() for folders, so there is nothing to wait for.
  if (::fsync(file) != 0 && errno != EINVAL) error = last_error();
  ::close(file);
  return error;
}

void write_whole(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write,
                 bool to_disk) {
  const auto fail = [&](const std::error_code& why) {
    throw bad_output("cannot write " + path.string() + ": " + why.message());
  };

  std::error_code why;
  const auto kind = std::filesystem::status(path, why).type();
  if (kind == std::filesystem::file_type::none) fail(why);
  const bool exists = kind != std::filesystem::file_type::not_found;
  if (exists && kind != std::filesystem::file_type::regular) {
    throw bad_output("cannot write " + path.string() + ": it is not a regular file");
  }
  if (!exists && std::filesystem::is_symlink(path, why)) {
    throw bad_output("cannot write " + path.string() + ": it is a link to nothing");
  }
  // Replace the target of a link, not the link.
  const std::filesystem::path target = exists ? std::filesystem::canonical(path) : path;
  std::filesystem::path temporary = target;
  temporary += ".part" + std::to_string(::getpid());
  std::ofstream out(temporary, std::ios::binary);
  if (!out) fail(last_error());
  struct removed_at_end {
    const std::filesystem::path& file;
    ~removed_at_end() {
      std::error_code ignored;  // after the rename the file does not exist
      std::filesystem::remove(file, ignored);
    }
  } const cleanup{temporary};

  errno = 0;
  write(out);
  out.close();
  if (!out) fail(errno != 0 ? last_error() : std::make_error_code(std::errc::io_error));
  std::error_code error;
  // Sync before the rename. Otherwise a machine that stops could leave an empty file with the new
  // name.
  if (to_disk && (error = sync(temporary))) fail(error);
  std::filesystem::rename(temporary, target, error);
  if (error) fail(error);
  if (to_disk) {
    const auto folder = target.parent_path();
    if ((error = sync(folder.empty() ? std::filesystem::path(".") : folder))) fail(error);
  }
}

}  // namespace

void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& write) {
  write_whole(path, write, false);
}

void write_file_to_disk(const std::filesystem::path& path,
                        const std::function<void(std::ostream&)>& write) {
  write_whole(path, write, true);
}

}  // namespace common
