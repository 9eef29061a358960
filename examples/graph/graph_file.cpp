// SPDX-License-Identifier: BSD-3-Clause
#include "graph_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace common {
namespace {

/// Returns the decompressed content of a gzip file, which may have several members.
/// \throws bad_input
std::string decompressed(const std::filesystem::path& path, const std::string& content) {
  const auto fail = [&](const char* why) {
    throw bad_input(name_of_input(path) + " is not a complete gzip file: " + why);
  };
  z_stream stream{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (inflateInit2(&stream, gzip_only) != Z_OK) fail("zlib cannot begin");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ended(&stream, inflateEnd);
  std::string text;
  std::array<char, 65536> piece;
  std::size_t read = 0;  // zlib counts in 32 bits
  for (;;) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min<std::size_t>(content.size() - read, 1u << 30);
      if (next == 0) fail("it ends early");
      // zlib does not change its input, although its type is not const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data() + read));
      stream.avail_in = static_cast<uInt>(next);
      read += next;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      fail(stream.msg == nullptr ? "it is damaged" : stream.msg);
    }
    text.append(piece.data(), piece.size() - stream.avail_out);
    if (status != Z_STREAM_END) continue;
    if (stream.avail_in == 0 && read == content.size()) return text;
    if (inflateReset(&stream) != Z_OK) fail("it is damaged");
  }
}

}  // namespace

graph_from_file read_graph(const std::filesystem::path& path, const graph_file_options& options) {
  std::string content = read_whole_file(path);
  if (content.starts_with("\x1f\x8b")) content = decompressed(path, content);
  return ramify::read_graph_text(path, content, options);
}

}  // namespace common
