// SPDX-License-Identifier: BSD-3-Clause
// The layout of a checkpoint; all numbers are little-endian.
//
//   byte  0   89 52 41 4d 43 4b 0d 0a: the first byte is not text; a transfer as text, which
//             converts line ends, changes the last two
//         8   u32  version of the layout
//        12   u32  01020304, which is 04030201 in the other byte order
//        16   u64  bytes of the file
//        24   u64  bytes of the directory
//        32   u32  CRC-32 of the directory
//        36   u32  CRC-32 of bytes 0 to 35
//        40   the directory, JSON: {"program", "settings", "arrays": [array...]}, where an array is
//             {"name", "type", "bytes", "crc"}
//             the arrays in the order of the directory, without gaps
#include "checkpoint_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/output_file.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the files are declared as little-endian");

constexpr std::array<unsigned char, 8> magic{0x89, 'R', 'A', 'M', 'C', 'K', '\r', '\n'};
constexpr std::uint32_t this_version = 1;
constexpr std::uint32_t order_mark = 0x01020304;

/// The first bytes of the file.
struct preamble {
  std::array<unsigned char, 8> mark = magic;
  std::uint32_t version = this_version;
  std::uint32_t byte_order = order_mark;
  std::uint64_t file_bytes = 0;
  std::uint64_t directory_bytes = 0;
  std::uint32_t directory_crc = 0;
  std::uint32_t crc = 0;  // of the members above
};
static_assert(sizeof(preamble) == 40 && std::has_unique_object_representations_v<preamble>);

std::uint32_t crc_of(const void* bytes, std::size_t count) {
  return std::uint32_t(::crc32_z(0, static_cast<const Bytef*>(bytes), count));
}

std::uint32_t crc_of(const preamble& p) { return crc_of(&p, offsetof(preamble, crc)); }

/// Returns the bytes of an element; 0 if there is no such type.
std::size_t element_bytes(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 7> all{
      {{"u8", 1}, {"i32", 4}, {"u32", 4}, {"i64", 8}, {"u64", 8}, {"f32", 4}, {"f64", 8}}};
  const auto* found = std::ranges::find(all, type, [](const auto& t) { return t.first; });
  return found == all.end() ? 0 : found->second;
}

void check(const checkpoint& state) {
  const auto reject = [](const checkpoint_array& a, const std::string& what) {
    throw std::invalid_argument("checkpoint: array '" + a.name + "' " + what);
  };
  std::set<std::string_view> names;
  for (const checkpoint_array& a : state.arrays) {
    const std::size_t size = element_bytes(a.type);
    if (size == 0) reject(a, "is of type '" + a.type + "', which is unknown");
    if (a.bytes.size() % size != 0) reject(a, "ends within an element");
    if (!names.insert(a.name).second) reject(a, "occurs twice");
  }
}

/// A file that is read in pieces of known sizes.
class reader {
 public:
  explicit reader(const std::filesystem::path& path) : path_(path) {
    std::error_code why;
    const auto status = std::filesystem::status(path, why);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      throw bad_input(path.string() + " is not a regular file");
    }
    errno = 0;
    file_.open(path, std::ios::binary);
    if (file_) size_ = std::filesystem::file_size(path, why);
    if (!file_ || why) {
      if (!why) why = {errno, std::generic_category()};
      throw bad_input("cannot read " + path.string() + ": " + why.message());
    }
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Reads the next bytes. `of_all` is the size of a complete file, for the message.
  /// \throws bad_input
  void read(void* to, std::size_t count, std::uint64_t of_all) {
    errno = 0;
    file_.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
    const auto got = static_cast<std::size_t>(file_.gcount());
    read_ += got;
    if (got == count) return;
    if (errno != 0) {
      throw bad_input("cannot read " + path_.string() + ": " +
                      std::error_code(errno, std::generic_category()).message());
    }
    cut_short(read_, of_all);
  }

  /// Throws bad_input with the path and `what`.
  [[noreturn]] void reject(const std::string& what) const {
    throw bad_input(path_.string() + what);
  }
  [[noreturn]] void cut_short(std::uint64_t at, std::uint64_t of_all) const {
    reject(" is truncated at byte " + std::to_string(at) + " of " + std::to_string(of_all));
  }

 private:
  const std::filesystem::path& path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::uint64_t read_ = 0;
};

preamble read_preamble(reader& file) {
  preamble p;
  const auto present = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof p));
  std::array<unsigned char, sizeof p> bytes{};
  file.read(bytes.data(), present, file.size());
  if (!std::equal(magic.begin(), magic.begin() + std::min(present, magic.size()), bytes.begin())) {
    file.reject(" is not a checkpoint");
  }
  if (present < sizeof p) {
    file.reject(" is truncated at byte " + std::to_string(present) + ", before the checkpoint's " +
                "size is stored");
  }
  std::memcpy(&p, bytes.data(), sizeof p);
  if (p.byte_order == std::uint32_t{0x04030201}) {
    file.reject(" is a checkpoint of a machine with another byte order");
  }
  // The version is checked before the checksum, whose place depends on it.
  if (p.version != this_version) {
    file.reject(" is a checkpoint of version " + std::to_string(p.version) +
                ", and this program reads version " + std::to_string(this_version));
  }
  if (p.byte_order != order_mark || p.crc != crc_of(p)) {
    file.reject(" is damaged in its first " + std::to_string(sizeof p) + " bytes");
  }
  if (file.size() < p.file_bytes) file.cut_short(file.size(), p.file_bytes);
  if (file.size() > p.file_bytes) {
    file.reject(" has " + std::to_string(file.size() - p.file_bytes) +
                " bytes after the checkpoint's end");
  }
  if (p.directory_bytes > p.file_bytes - sizeof p) file.reject(" is damaged in its directory");
  return p;
}

/// An entry of the directory.
struct listed_array {
  std::string name, type;
  std::uint64_t bytes;
  std::uint32_t crc;
};

/// Reads the program and the settings into `state`. Returns the list of arrays, which fill the rest
/// of the file.
std::vector<listed_array> read_directory(reader& file, const preamble& p, checkpoint& state) {
  std::string text(static_cast<std::size_t>(p.directory_bytes), '\0');
  file.read(text.data(), text.size(), p.file_bytes);
  const std::string damaged = " is damaged in its directory";
  if (crc_of(text.data(), text.size()) != p.directory_crc) file.reject(damaged);
  std::vector<listed_array> arrays;
  std::uint64_t left = p.file_bytes - sizeof p - p.directory_bytes;
  try {
    auto directory = nlohmann::json::parse(text);
    state.program = directory.at("program").get<std::string>();
    state.settings = std::move(directory.at("settings"));
    for (const auto& entry : directory.at("arrays")) {
      listed_array a{entry.at("name"), entry.at("type"), entry.at("bytes"), entry.at("crc")};
      const std::size_t size = element_bytes(a.type);
      if (!entry.at("bytes").is_number_unsigned() || size == 0 || a.bytes % size != 0 ||
          a.bytes > left)
        file.reject(damaged);
      left -= a.bytes;
      arrays.push_back(std::move(a));
    }
  } catch (const nlohmann::json::exception&) {
    // The checksum is right, but write_checkpoint() did not write the directory.
    file.reject(damaged);
  }
  if (left != 0) file.reject(damaged);
  return arrays;
}

}  // namespace

std::span<const std::byte> checkpoint::find(std::string_view name, std::string_view type) const {
  for (const checkpoint_array& a : arrays) {
    if (a.name != name) continue;
    if (a.type != type) {
      throw std::out_of_range("checkpoint: array '" + a.name + "' is of type " + a.type + ", not " +
                              std::string(type));
    }
    return a.bytes;
  }
  throw std::out_of_range("checkpoint: no array '" + std::string(name) + "'");
}

void write_checkpoint(const std::filesystem::path& path, const checkpoint& state) {
  check(state);
  nlohmann::ordered_json directory{{"program", state.program},
                                   {"settings", state.settings},
                                   {"arrays", nlohmann::json::array()}};
  preamble p;
  p.file_bytes = sizeof p;
  for (const checkpoint_array& a : state.arrays) {
    directory["arrays"].push_back({{"name", a.name},
                                   {"type", a.type},
                                   {"bytes", a.bytes.size()},
                                   {"crc", crc_of(a.bytes.data(), a.bytes.size())}});
    p.file_bytes += a.bytes.size();
  }
  std::string text;
  try {
    text = directory.dump();
  } catch (const nlohmann::json::exception& e) {
    throw bad_output("cannot write " + path.string() + ": a setting or name is not UTF-8 text");
  }
  p.directory_bytes = text.size();
  p.directory_crc = crc_of(text.data(), text.size());
  p.file_bytes += text.size();
  p.crc = crc_of(p);

  write_file_to_disk(path, [&](std::ostream& out) {
    const auto write = [&](const void* bytes, std::size_t count) {
      out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    };
    write(&p, sizeof p);
    write(text.data(), text.size());
    for (const checkpoint_array& a : state.arrays) write(a.bytes.data(), a.bytes.size());
  });
}

checkpoint read_checkpoint(const std::filesystem::path& path, std::string_view program) {
  reader file(path);
  const preamble p = read_preamble(file);
  checkpoint state;
  const std::vector<listed_array> arrays = read_directory(file, p, state);
  if (state.program != program) {
    file.reject(" is a checkpoint of '" + state.program + "', not of '" + std::string(program) +
                "'");
  }
  for (const listed_array& listed : arrays) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(listed.bytes));
    file.read(bytes.data(), bytes.size(), p.file_bytes);
    if (crc_of(bytes.data(), bytes.size()) != listed.crc) {
      file.reject(" is damaged in array '" + listed.name + "'");
    }
    state.arrays.emplace_back(listed.name, listed.type, std::move(bytes));
  }
  return state;
}

}  // namespace common
