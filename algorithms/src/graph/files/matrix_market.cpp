// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files, coordinate and array.
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "graph_formats.hpp"

namespace ramify::detail::files::inline RAMIFY_ABI {
namespace {

/// The words of the banner %%MatrixMarket object format field symmetry.
struct matrix_kind {
  bool is_array = false;
  std::size_t values = 0;     ///< numbers of a value
  bool is_symmetric = false;  ///< in any way: entry (i, j) stands for (j, i), too
  bool has_diagonal = true;
  std::string name{};

  matrix_kind() = default;
  matrix_kind(const text_line& line, bool has_lengths);
};

matrix_kind::matrix_kind(const text_line& line, bool has_lengths) {
  std::array<std::string_view, 5> written;
  const std::size_t count = line.split(written);
  std::array<std::string, 5> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::ranges::transform(written[i], std::back_inserter(words[i]),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  const auto& [banner, object, format, field, symmetry] = words;
  const auto is_one_of = [](const std::string& word, auto... choices) {
    return ((word == choices) || ...);
  };
  const bool is_complex = field == "complex";
  if (banner != "%%matrixmarket" || object != "matrix" || count != words.size() ||
      !is_one_of(format, "coordinate", "array") ||
      !is_one_of(field, "pattern", "real", "double", "integer", "unsigned-integer", "complex") ||
      !is_one_of(symmetry, "general", "symmetric", "skew-symmetric", "hermitian") ||
      (format == "array" && field == "pattern") || (symmetry == "hermitian" && !is_complex)) {
    line.reject(
        "is not a graph: it must be matrix, then coordinate or array, then pattern, real, double, "
        "integer, unsigned-integer or complex, then general, symmetric, skew-symmetric or "
        "hermitian");
  }
  if (has_lengths && (is_complex || symmetry == "skew-symmetric")) {
    line.reject(is_complex ? "has complex values, which are no lengths"
                           : "is skew-symmetric: it has negative values, which are no lengths");
  }
  is_array = format == "array";
  values = field == "pattern" ? 0 : is_complex ? 2 : 1;
  is_symmetric = symmetry != "general";
  has_diagonal = symmetry != "skew-symmetric";
  name = "Matrix Market " + format + ' ' + field + ' ' + symmetry;
}

/// Reads the lines of a matrix one by one.
class matrix_reader {
 public:
  explicit matrix_reader(const graph_file_options& options)
      : options_(options), builder_(options, 1) {}

  void read(const text_line& line) {
    if (is_banner(line.text)) {
      if (has_kind_) line.reject("is a second banner");
      kind_ = matrix_kind(line, options_.has_lengths);
      has_kind_ = true;
      if (kind_.is_symmetric) builder_.make_undirected();
      return;
    }
    if (!has_kind_ && !line.text.empty()) {
      line.reject("is before the banner of a Matrix Market file, which begins with %%MatrixMarket");
    }
    if (!line.has_data()) return;
    if (!has_size_) return read_size(line);
    kind_.is_array ? read_value(line) : read_entry(line);
  }

  graph_from_file finish(const graph_text& text) {
    const std::string name = name_of_input(text.path);
    if (!has_size_) throw bad_input(name + " has no line with the matrix's size");
    const std::size_t most = kind_.is_array ? size_of_array() : builder_.stated_edges();
    if (entries_ != most) {
      throw bad_input(name + " has " + counted(entries_, "entry", "entries") +
                      "; its size states " + std::to_string(most));
    }
    return builder_.finish(text, kind_.name);
  }

 private:
  void read_size(const text_line& line) {
    std::array<std::string_view, 3> words;
    std::array<std::size_t, 3> numbers{};
    const std::size_t wanted = kind_.is_array ? 2 : 3;
    bool is_right = line.split(words) == wanted;
    for (std::size_t i = 0; i < wanted && is_right; ++i) {
      is_right = parse_number(words[i], numbers[i]) == number_error::none;
    }
    if (!is_right) {
      line.reject(kind_.is_array ? "is not a number of rows and of columns"
                                 : "is not a number of rows, of columns and of entries");
    }
    if (numbers[0] != numbers[1]) line.reject("is not the size of a square matrix");
    n_ = numbers[0];
    has_size_ = true;
    builder_.set_size(line, n_, kind_.is_array ? n_ * n_ : numbers[2], kind_.is_array);
  }

  void read_entry(const text_line& line) {
    std::array<std::string_view, 4> words;
    std::size_t row = 0;
    std::size_t column = 0;
    if (line.split(words) != 2 + kind_.values ||
        parse_number(words[0], row) != number_error::none ||
        parse_number(words[1], column) != number_error::none) {
      line.reject("is not an entry of the matrix");
    }
    if (!kind_.has_diagonal && row == column) {
      line.reject("is on the diagonal of a skew-symmetric matrix");
    }
    ++entries_;
    builder_.add(line, row, column, kind_.values == 1 ? words[2] : std::string_view());
  }

  /// Reads the next value of an array, whose columns follow one another. The columns of a symmetric
  /// matrix begin at the diagonal, or after it. A value of 0 is no edge.
  void read_value(const text_line& line) {
    std::array<std::string_view, 2> words;
    if (line.split(words) != kind_.values) line.reject("is not a value of the matrix");
    bool is_zero = true;
    for (std::size_t i = 0; i < kind_.values; ++i) {
      if (line.parse_word<double>("value", words[i]) != 0) is_zero = false;
    }
    if (entries_ == size_of_array()) line.reject("is after the last value of the matrix");
    if (entries_ == 0 && kind_.is_symmetric && !kind_.has_diagonal) row_ = 1;
    ++entries_;
    if (!is_zero) builder_.add(line, row_ + 1, column_ + 1, words[0]);
    if (++row_ < n_) return;
    ++column_;
    row_ = !kind_.is_symmetric ? 0 : kind_.has_diagonal ? column_ : column_ + 1;
  }
  [[nodiscard]] std::size_t size_of_array() const {
    if (!kind_.is_symmetric) return n_ * n_;
    return kind_.has_diagonal ? n_ * (n_ + 1) / 2 : n_ * (n_ - (n_ > 0 ? 1 : 0)) / 2;
  }

  const graph_file_options& options_;
  graph_builder builder_;
  matrix_kind kind_{};
  bool has_kind_ = false;
  bool has_size_ = false;
  std::size_t n_ = 0;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace

graph_from_file read_matrix_market(const graph_text& text, const graph_file_options& options) {
  matrix_reader reader(options);
  for_each_line(text.path, text.content, [&](const text_line& line) { reader.read(line); });
  return reader.finish(text);
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI
