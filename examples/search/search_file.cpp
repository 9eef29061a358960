// SPDX-License-Identifier: BSD-3-Clause
#include "search_file.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/text_file.hpp"

namespace common {
namespace {

/// A line that is neither empty nor a comment.
struct number_row {
  text_line line;
  bool has_words;  ///< the line begins with a letter, and its numbers are not read
  std::vector<std::int64_t> numbers;
};

/// The lines with data of a file, as lists of whole numbers.
class number_rows {
 public:
  /// \throws bad_input
  explicit number_rows(const std::filesystem::path& path)
      : path_(path), content_(read_whole_file(path_)) {
    for_each_line(path_, content_, [&](const text_line& line) {
      if (line.has_data()) add(line);
    });
  }
  number_rows(const number_rows&) = delete;  // the rows refer to the content
  number_rows& operator=(const number_rows&) = delete;

  [[nodiscard]] std::string name() const { return name_of_input(path_); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool has_words(std::size_t i) const { return i < size() && rows_[i].has_words; }
  [[nodiscard]] const std::vector<std::int64_t>& operator[](std::size_t i) const {
    return rows_[i].numbers;
  }

  /// Throws a message about row i, or about the end of the file. \throws bad_input
  [[noreturn]] void reject(std::size_t i, const std::string& what) const {
    if (i >= size()) throw bad_input(name() + " ends too early: it " + what);
    rows_[i].line.reject(what);
  }
  /// Returns row i. `expected` describes its numbers.
  /// \throws bad_input unless the row has `count` numbers
  const std::vector<std::int64_t>& row(std::size_t i, std::size_t count,
                                       const std::string& expected) const {
    if (i >= size()) reject(i, "has no line with " + expected);
    if (has_words(i)) reject(i, no_list);
    const std::size_t found = rows_[i].numbers.size();
    if (found != count) {
      reject(i, "has " + counted(found, "number") + "; it must have " + std::to_string(count) +
                    ", " + expected);
    }
    return rows_[i].numbers;
  }
  /// \throws bad_input unless `value`, the one called `name` in row i, is in [0, most]
  void check(std::size_t i, const std::string& name, std::int64_t value, std::int64_t most) const {
    if (value >= 0 && value <= most) return;
    reject(i, "has the " + name + ' ' + std::to_string(value) + "; it must be in [0, " +
                  std::to_string(most) + ']');
  }

 private:
  static constexpr const char* no_list = "is not a list of whole numbers";

  void add(const text_line& line) {
    number_row row{line, std::isalpha(static_cast<unsigned char>(line.text.front())) != 0, {}};
    if (!row.has_words) {
      for (const std::string_view word : line.words()) {
        std::int64_t number = 0;
        const number_error error = parse_number(word, number);
        if (error == number_error::not_a_number) line.reject(no_list);
        if (error != number_error::none) {
          line.reject_word("number", word, describe<std::int64_t>(error));
        }
        row.numbers.push_back(number);
      }
    }
    rows_.push_back(std::move(row));
  }

  std::filesystem::path path_;
  std::string content_;
  std::vector<number_row> rows_{};
};

/// Returns whether the first row has sizes. The automatic choice is that they fit the other rows.
bool has_sizes(number_format format, bool fit) {
  return format == number_format::sizes || (format == number_format::automatic && fit);
}

/// Checks the size of an instance from a file. \throws bad_input
void check_size(const number_rows& rows, const char* what, std::size_t size, std::size_t most) {
  if (size <= most) return;
  throw bad_input(rows.name() + ": the number of " + what + " is " + std::to_string(size) +
                  "; it must be at most " + std::to_string(most));
}

/// Checks an instance from a file. \throws bad_input
template <class Instance>
void check_instance(const number_rows& rows, const Instance& instance) {
  try {
    validate(instance);
  } catch (const std::invalid_argument& e) {
    throw bad_input(rows.name() + ": " + e.what());
  }
}

/// Appends the times of `machines` machines, from row `first` on.
void read_times(const number_rows& rows, std::size_t first, std::size_t machines,
                ramify::flow_shop_instance& shop) {
  for (std::size_t m = 0; m < machines; ++m) {
    const auto& row =
        rows.row(first + m, shop.jobs, "the times of the jobs on machine " + std::to_string(m));
    for (const std::int64_t time : row) rows.check(first + m, "time", time, 65'535);
    shop.times.insert(shop.times.end(), row.begin(), row.end());
  }
}

/// Sets the sizes of a shop from the beginning of a row. \throws bad_input
void read_sizes(const number_rows& rows, std::size_t i, ramify::flow_shop_instance& shop) {
  rows.check(i, "number of jobs", rows[i][0], ramify::max_flow_shop_jobs);
  rows.check(i, "number of machines", rows[i][1], ramify::max_flow_shop_machines);
  shop.jobs = static_cast<std::size_t>(rows[i][0]);
  shop.machines = static_cast<std::size_t>(rows[i][1]);
}

/// Returns whether a file is one of Taillard, whose first and third lines have words.
/// \throws bad_input for another file whose first line has words
bool is_taillard(const number_rows& rows) {
  if (!rows.has_words(0)) return false;
  if (rows.size() < 3 || rows.has_words(2)) return true;
  rows.reject(0,
              "is neither a list of whole numbers, nor the first line of a file of Taillard, whose "
              "third line has words, too");
}

/// Reads an instance from a file of Taillard: of each instance a line of words, the sizes, the seed
/// and bounds; a line of words, and the times. `number` is from 1 on, or 0 for the only one.
ramify::flow_shop_instance read_taillard(const number_rows& rows, std::size_t number) {
  ramify::flow_shop_instance chosen;
  std::size_t found = 0;
  for (std::size_t i = 0; i < rows.size();) {
    if (!rows.has_words(i)) rows.reject(i, "must be the line of words before the sizes");
    ++i;
    if (i >= rows.size() || rows[i].size() < 2) {
      rows.reject(i, "must have the numbers of jobs and machines, the seed and two bounds");
    }
    ramify::flow_shop_instance shop;
    read_sizes(rows, i, shop);
    ++i;
    if (!rows.has_words(i)) rows.reject(i, "must be the line of words before the times");
    ++i;
    read_times(rows, i, shop.machines, shop);
    i += shop.machines;
    ++found;
    if (found == std::max<std::size_t>(number, 1)) chosen = std::move(shop);
  }
  if (number == 0 && found > 1) {
    throw bad_input(rows.name() + ": there are " + std::to_string(found) +
                    " instances; choose one with --instance");
  }
  if (number > found) {
    throw bad_input(rows.name() + ": there are only " + std::to_string(found) +
                    " instances; --instance is " + std::to_string(number));
  }
  return chosen;
}

/// Reads a flow shop that has no lines of words.
instance_from_file<ramify::flow_shop_instance> read_machines(const number_rows& rows,
                                                             number_format format) {
  ramify::flow_shop_instance shop;
  if (rows.size() == 0) return {};
  const bool fit = rows.size() > 1 && rows[0].size() == 2 &&
                   rows[0][0] == static_cast<std::int64_t>(rows[1].size()) &&
                   rows[0][1] == static_cast<std::int64_t>(rows.size() - 1);
  const bool sized = has_sizes(format, fit);
  if (sized) {
    rows.row(0, 2, "the numbers of jobs and machines");
    read_sizes(rows, 0, shop);
    if (shop.machines != rows.size() - 1) {
      rows.reject(0, "announces " + counted(shop.machines, "machine") + " and is followed by " +
                         counted(rows.size() - 1, "line"));
    }
  } else {
    shop.jobs = rows[0].size();
    shop.machines = rows.size();
  }
  read_times(rows, sized ? 1 : 0, shop.machines, shop);
  return {std::move(shop),
          sized ? "first the numbers of jobs and machines, then the times of each machine "
                  "(--format sizes)"
                : "the times of each machine (--format plain)"};
}

}  // namespace

instance_from_file<ramify::knapsack_instance> read_knapsack(const std::filesystem::path& path,
                                                            number_format format) {
  const number_rows rows(path);
  constexpr std::int64_t largest = (std::int64_t{1} << 31) - 1;
  const bool fit = rows.size() > 0 && rows[0].size() == 2 &&
                   rows[0][0] == static_cast<std::int64_t>(rows.size() - 1);
  const bool sized = has_sizes(format, fit);
  ramify::knapsack_instance instance;
  if (sized) {
    const auto& sizes = rows.row(0, 2, "the number of items and the maximum weight");
    if (!fit) {
      const std::string items = sizes[0] == 1 ? " item" : " items";
      rows.reject(0, "announces " + std::to_string(sizes[0]) + items + " and is followed by " +
                         counted(rows.size() - 1, "line"));
    }
    rows.check(0, "maximum weight", sizes[1], std::int64_t{1} << 62);
    instance.capacity = sizes[1];
  }
  for (std::size_t i = sized ? 1 : 0; i < rows.size(); ++i) {
    const auto& row = rows.row(i, 2, sized ? "profit and weight" : "weight and profit");
    const ramify::knapsack_item item{row[sized ? 1 : 0], row[sized ? 0 : 1]};
    rows.check(i, "weight", item.weight, largest);
    rows.check(i, "profit", item.profit, largest);
    instance.items.push_back(item);
    if (!sized) instance.capacity += item.weight;
  }
  check_size(rows, "items", instance.items.size(), ramify::max_knapsack_items);
  if (!sized) instance.capacity /= 2;
  check_instance(rows, instance);
  return {std::move(instance),
          sized ? "first the number of items and the maximum weight, then profit and weight of "
                  "each item (--format sizes)"
                : "weight and profit of each item (--format plain)"};
}

instance_from_file<ramify::flow_shop_instance> read_flow_shop(const std::filesystem::path& path,
                                                              number_format format,
                                                              std::size_t number) {
  const number_rows rows(path);
  instance_from_file<ramify::flow_shop_instance> all;
  if (is_taillard(rows)) {
    all = {read_taillard(rows, number), "a file of Taillard"};
  } else {
    if (number != 0) throw bad_input(rows.name() + ": --instance needs a file of Taillard");
    all = read_machines(rows, format);
  }
  check_instance(rows, all.instance);
  return all;
}

}  // namespace common
