// SPDX-License-Identifier: BSD-3-Clause
#include "graph_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "text_file.hpp"

namespace common {
namespace {

constexpr std::size_t most_vertices = ramify::max_graph_vertices;

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

/// Builds the list of edges from the lines of a file, which read() takes one by one.
class graph_reader {
 public:
  graph_reader(std::optional<std::size_t> vertices, bool is_undirected, bool has_lengths)
      : given_(vertices), has_lengths_(has_lengths) {
    list_.is_undirected = is_undirected;
  }

  void read(const text_line& line) {
    if (line.number == 1 && line.text.starts_with("%%MatrixMarket")) return read_header(line);
    if (line.text.empty() || line.text[0] == '#' || line.text[0] == '%') return;
    if (is_matrix_ && !has_size_) return read_size(line);
    read_edge(line);
  }

  edge_list finish(const std::filesystem::path& path) {
    const std::string name = name_of_input(path);
    if (is_matrix_ && !has_size_) throw bad_input(name + " has no line with the matrix's size");
    if (is_matrix_ && list_.edges.size() != entries_) {
      throw bad_input(name + " has " + std::to_string(list_.edges.size()) +
                      " entries; its size states " + std::to_string(entries_));
    }
    if (!is_matrix_) list_.vertices = count_of_list(name);
    return std::move(list_);
  }

 private:
  void read_header(const text_line& line) {
    std::string_view rest = line.text;
    std::array<std::string, 5> words;  // %%MatrixMarket object format field symmetry
    for (std::string& word : words) {
      word = next_word(rest);
      std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
    }
    const auto is_one_of = [](const std::string& word, auto... choices) {
      return ((word == choices) || ...);
    };
    if (words[1] != "matrix" || words[2] != "coordinate" ||
        !is_one_of(words[3], "pattern", "real", "integer") ||
        !is_one_of(words[4], "general", "symmetric")) {
      line.reject(
          "is not a graph: it must be matrix coordinate, then pattern, real or integer, then "
          "general or symmetric");
    }
    is_matrix_ = true;
    has_values_ = words[3] != "pattern";
    if (words[4] == "symmetric") list_.is_undirected = true;
  }

  void read_size(const text_line& line) {
    std::string_view rest = line.text;
    const auto rows = parse<std::size_t>(next_word(rest));
    const auto columns = parse<std::size_t>(next_word(rest));
    const auto entries = parse<std::size_t>(next_word(rest));
    if (!rows || !columns || !entries || !trimmed(rest).empty()) {
      line.reject("is not a number of rows, of columns and of entries");
    }
    if (*rows != *columns) line.reject("is not the size of a square matrix");
    if (*rows > most_vertices) {
      line.reject("has more than " + std::to_string(most_vertices) + " rows");
    }
    if (given_ && *given_ != *rows) {
      line.reject("states another number of vertices than --vertices, " + std::to_string(*given_));
    }
    if (!given_ && *rows > most_for(*entries)) {
      line.reject("states " + std::to_string(*rows) + " vertices, but a file of " +
                  std::to_string(*entries) + " entries may have " +
                  std::to_string(most_for(*entries)) +
                  " at most, unless --vertices states their number");
    }
    has_size_ = true;
    list_.vertices = *rows;
    entries_ = *entries;
  }

  void read_edge(const text_line& line) {
    std::string_view rest = line.text;
    const std::size_t first = is_matrix_ ? 1 : 0;
    const auto from = parse<std::size_t>(next_word(rest));
    const auto to = parse<std::size_t>(next_word(rest));
    const std::string_view length_text = next_word(rest);
    if (!from || !to || !trimmed(rest).empty() ||
        (is_matrix_ && has_values_ == length_text.empty())) {
      line.reject(is_matrix_ ? "is not an entry of the matrix"
                             : "is not two vertices and an optional length");
    }
    const std::size_t most = is_matrix_ ? list_.vertices : given_.value_or(most_vertices);
    for (const std::size_t v : {*from, *to}) {
      if (v < first || v - first >= most) {
        line.reject("names vertex " + std::to_string(v) + "; it must be in [" +
                    std::to_string(first) + ", " + std::to_string(most + first) + ")");
      }
    }
    float length = 1;
    if (!length_text.empty()) {
      const auto value = parse<float>(length_text);
      if (!value) line.reject("has a length that is not a number in the range of float");
      if (has_lengths_ && !(*value >= 0)) line.reject("has a length that is not at least 0");
      if (has_lengths_) length = *value;
    }
    largest_ = std::max({largest_, *from, *to});
    list_.edges.push_back(
        {static_cast<std::int32_t>(*from - first), static_cast<std::int32_t>(*to - first), length});
  }

  /// Returns the maximum number of vertices for a number of edges, if --vertices does not state it.
  /// Memory is proportional to the vertices, so without a limit a short file could take gigabytes.
  [[nodiscard]] static std::size_t most_for(std::size_t edges) {
    constexpr std::size_t always_allowed = std::size_t{1} << 20;
    return std::max(always_allowed, 64 * std::min(edges, most_vertices));
  }

  /// Returns the number of vertices of a list of edges. \throws bad_input
  [[nodiscard]] std::size_t count_of_list(const std::string& name) const {
    if (given_) return *given_;
    const std::size_t most = most_for(list_.edges.size());
    if (largest_ >= most) {
      throw bad_input(name + " names vertex " + std::to_string(largest_) + ", but a file of " +
                      std::to_string(list_.edges.size()) + " edges must name vertices below " +
                      std::to_string(most) + ", unless --vertices states their number");
    }
    return list_.edges.empty() ? 0 : largest_ + 1;
  }

  std::optional<std::size_t> given_;
  bool has_lengths_;
  bool is_matrix_ = false;
  bool has_size_ = false;
  bool has_values_ = false;
  std::size_t entries_ = 0;
  std::size_t largest_ = 0;
  edge_list list_;
};

}  // namespace

edge_list read_graph(const std::filesystem::path& path, std::optional<std::size_t> vertices,
                     bool is_undirected, bool has_lengths) {
  std::string content = read_whole_file(path);
  if (content.starts_with("\x1f\x8b")) content = decompressed(path, content);
  graph_reader reader(vertices, is_undirected, has_lengths);
  for_each_line(path, content, [&](const text_line& line) { reader.read(line); });
  return reader.finish(path);
}

}  // namespace common
