// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

namespace common {
namespace {

namespace fs = std::filesystem;

bool read_only_files_are_replaced = false;

// The name of the temporary file of the write in progress, for a signal handler; null: none.
std::atomic<const char*> partial_file = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

std::error_code last_error() {
  return errno != 0 ? std::error_code(errno, std::generic_category())
                    : std::make_error_code(std::errc::io_error);
}

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw bad_output("cannot write " + path.string() + ": " + why);
}

[[noreturn]] void fail(const fs::path& path, const std::error_code& why) {
  fail(path, why.message());
}

/// Waits until a file, or the entries of a folder, are on the disk.
std::error_code sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return last_error();
  std::error_code error;
  // EINVAL: the file system does not support fsync() for folders, so there is nothing to wait for.
  if (::fsync(file) != 0 && errno != EINVAL) error = last_error();
  ::close(file);
  return error;
}

/// The file that a write replaces or creates.
struct destination {
  fs::path file;                   ///< without links, so that the target of a link is replaced
  std::optional<struct stat> old;  ///< the attributes of the file that is replaced
};

destination destination_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT && fs::is_symlink(fs::symlink_status(path))) {
      fail(path, "it is a link to nothing");
    }
    if (errno != ENOENT) fail(path, last_error());
    return {path, std::nullopt};
  }
  if (!S_ISREG(found.st_mode)) fail(path, "it is not a regular file");
  // access() lets a privileged process write all files, so check the permissions, too.
  const bool read_only = (found.st_mode & 0222) == 0 || ::access(path.c_str(), W_OK) != 0;
  if (read_only && !read_only_files_are_replaced) {
    fail(path, "it is a read-only file (--force replaces it)");
  }
  return {fs::canonical(path), found};
}

/// A temporary file beside the destination. The destructor removes it, unless it was renamed.
class temporary_file {
 public:
  temporary_file(const fs::path& path, const destination& to)
      : name_(to.file.string() + ".part" + std::to_string(::getpid())) {
    partial_file = name_.c_str();
    int file = create(to);
    if (file < 0 && errno == EEXIST) {  // left by a killed process that had the same ID
      ::unlink(name_.c_str());
      file = create(to);
    }
    if (file < 0) {
      partial_file = nullptr;
      const std::error_code why = last_error();
      if (why == std::errc::no_such_file_or_directory) fail(path, "no such folder");
      fail(path, why);
    }
    ::close(file);
  }
  ~temporary_file() {
    ::unlink(name_.c_str());  // after the rename the file does not exist
    partial_file = nullptr;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Gives the file the owner and the permissions of the file that it replaces.
  void restore(const fs::path& path, const struct stat& old) const {
    // Changing the owner requires a privilege. Without it the write still succeeds.
    const bool same_owner = ::chown(name_.c_str(), old.st_uid, old.st_gid) == 0;
    const mode_t kept = same_owner ? 07777 : 0777;  // no set-user-ID bit for another user
    if (::chmod(name_.c_str(), old.st_mode & kept) != 0) fail(path, last_error());
  }

 private:
  /// Creates the file. Until the old permissions are restored, only the owner has access.
  [[nodiscard]] int create(const destination& to) const {
    errno = 0;
    return ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, to.old ? 0600 : 0666);
  }

  std::string name_;
};

// The bits of statx::stx_attributes; older C libraries do not define the second one.
constexpr std::uint64_t append_only = 0x20;
constexpr std::uint64_t mount_root = 0x2000;

/// Returns whether a file or folder has an attribute. Returns false if the system cannot say.
bool has_attribute(const fs::path& file, std::uint64_t attribute) {
  struct statx about {};
  return ::statx(AT_FDCWD, file.c_str(), 0, STATX_TYPE, &about) == 0 &&
         (about.stx_attributes & attribute) != 0;
}

/// Checks that the system allows a write to replace `to` by the temporary file. The system refuses
/// it if the old file is immutable, append-only, a mount point, or of another user in a folder with
/// the sticky bit. An attempt to rename a file to the name of a folder always fails, but the system
/// checks the permissions first.
void check_rename(const fs::path& path, const destination& to, const temporary_file& temporary) {
  const fs::path folder =
      to.file.parent_path() / (".part" + std::to_string(::getpid()) + ".folder");
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return;
  std::error_code why;
  const auto try_to_rename = [&](const char* name) {
    if (why || ::rename(name, folder.c_str()) == 0 || errno == EISDIR) return;
    if (errno == EPERM || errno == EACCES || errno == EBUSY || errno == EROFS) why = last_error();
  };
  try_to_rename(temporary.name().c_str());
  if (to.old) try_to_rename(to.file.c_str());
  ::rmdir(folder.c_str());
  if (why) fail(path, why);
  if (to.old && has_attribute(to.file, mount_root)) fail(path, "it is a mount point");
}

void write_whole(const fs::path& path, const std::function<void(std::ostream&)>& write,
                 bool to_disk) {
  if (path == "-") {
    write(std::cout);
    flush_standard_output();
    return;
  }
  const destination to = destination_of(path);
  const temporary_file temporary(path, to);
  errno = 0;
  std::ofstream out(temporary.name(), std::ios::binary);
  if (!out) fail(path, last_error());
  errno = 0;
  try {
    write(out);
    out.close();
  } catch (const std::ios_base::failure&) {  // `write` may enable exceptions of the stream
    fail(path, last_error());
  }
  if (!out) fail(path, last_error());
  if (to.old) temporary.restore(path, *to.old);
  std::error_code error;
  // Sync before the rename. Otherwise a machine that stops could leave an empty file with the new
  // name.
  if (to_disk && (error = sync(temporary.name()))) fail(path, error);
  fs::rename(temporary.name(), to.file, error);
  if (error) fail(path, error);
  if (to_disk) {
    const auto folder = to.file.parent_path();
    if ((error = sync(folder.empty() ? fs::path(".") : folder))) fail(path, error);
  }
}

}  // namespace

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  write_whole(path, write, false);
}

void write_file_to_disk(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  write_whole(path, write, true);
}

void check_output_file(const fs::path& path) {
  if (path == "-") return;
  const destination to = destination_of(path);
  const fs::path folder = to.file.parent_path();
  if (has_attribute(folder.empty() ? fs::path(".") : folder, append_only)) {
    fail(path, "its folder is append-only");
  }
  const temporary_file removed_at_once(path, to);
  check_rename(path, to, removed_at_once);
}

void replace_read_only_files() { read_only_files_are_replaced = true; }

void flush_standard_output() {
  errno = 0;
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    // The reason is not known if an earlier flush failed.
    throw bad_output("cannot write standard output" +
                     (errno != 0 ? ": " + last_error().message() : ""));
  }
}

void remove_partial_file() noexcept {
  if (const char* const name = partial_file) ::unlink(name);
}

}  // namespace common
