// SPDX-License-Identifier: BSD-3-Clause
#include "search_instances.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text_file.hpp"

namespace common {
namespace {

// A line of a file that is neither empty nor a comment.
struct number_row {
  std::size_t line;
  std::string text;  // its beginning, for messages
  bool has_words;    // it begins with a letter, and has no numbers
  std::vector<std::int64_t> numbers;
};

// The lines of a file. Empty lines, and lines that begin with '#', are left out.
class number_rows {
 public:
  explicit number_rows(const std::string& file) : file_(file) {
    for_each_line(file_, [&](const text_line& line) {
      if (line.text.empty() || line.text.front() == '#') return;
      constexpr std::size_t quoted = 80;
      number_row& row = rows_.emplace_back(
          number_row{line.number, std::string(line.text.substr(0, quoted)), false, {}});
      row.has_words = std::isalpha(static_cast<unsigned char>(line.text.front())) != 0;
      std::string_view rest = line.text;
      for (auto word = next_word(rest); !row.has_words && !word.empty(); word = next_word(rest)) {
        const auto number = parse<std::int64_t>(word);
        if (!number) line.reject("is not a list of whole numbers");
        row.numbers.push_back(*number);
      }
    });
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool has_words(std::size_t i) const { return i < size() && rows_[i].has_words; }
  [[nodiscard]] const std::vector<std::int64_t>& operator[](std::size_t i) const {
    return rows_[i].numbers;
  }

  // Throws a message about row i, or about the end of the file. Throws bad_input.
  [[noreturn]] void reject(std::size_t i, const std::string& what) const {
    if (i >= size()) throw bad_input(name_of_input(file_) + " ends too early: it " + what);
    text_line{file_, rows_[i].line, rows_[i].text}.reject(what);
  }
  // Returns row i. Throws bad_input unless it has `count` numbers; `expected` says which.
  const std::vector<std::int64_t>& row(std::size_t i, std::size_t count,
                                       const std::string& expected) const {
    if (i >= size()) reject(i, "has no line with " + expected);
    if (has_words(i)) reject(i, "is not a list of whole numbers");
    const std::size_t found = rows_[i].numbers.size();
    if (found != count) {
      reject(i, "has " + std::to_string(found) + " numbers; it must have " + std::to_string(count) +
                    ", " + expected);
    }
    return rows_[i].numbers;
  }
  // Throws bad_input unless `value`, the one called `name` in row i, is in [0, most].
  void check(std::size_t i, const std::string& name, std::int64_t value, std::int64_t most) const {
    if (value >= 0 && value <= most) return;
    reject(i, "has the " + name + ' ' + std::to_string(value) + "; it must be in [0, " +
                  std::to_string(most) + ']');
  }

 private:
  std::filesystem::path file_;
  std::vector<number_row> rows_;
};

// Returns whether the first row has sizes. The automatic choice is that they fit the other rows.
bool has_sizes(number_format format, bool fit) {
  return format == number_format::sizes || (format == number_format::automatic && fit);
}

// Checks the size of an instance from a file. Throws bad_input.
void check_size(const std::string& file, const char* what, std::size_t size, std::size_t most) {
  if (size <= most) return;
  throw bad_input(name_of_input(file) + ": the number of " + what + " is " + std::to_string(size) +
                  "; it must be at most " + std::to_string(most));
}

ramify::knapsack_instance read_knapsack(const search_command_line& o, std::string& format) {
  const number_rows rows(o.input);
  constexpr std::int64_t largest = (std::int64_t{1} << 31) - 1;
  const bool fit = rows.size() > 0 && rows[0].size() == 2 &&
                   rows[0][0] == static_cast<std::int64_t>(rows.size() - 1);
  const bool sized = has_sizes(o.format, fit);
  ramify::knapsack_instance instance;
  if (sized) {
    const auto& sizes = rows.row(0, 2, "the number of items and the maximum weight");
    if (!fit) {
      rows.reject(0, "announces " + std::to_string(sizes[0]) + " items, but " +
                         std::to_string(rows.size() - 1) + " lines follow");
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
  check_size(o.input, "items", instance.items.size(), ramify::max_knapsack_items);
  if (!sized) instance.capacity /= 2;
  format = sized ? "first the number of items and the maximum weight, then profit and weight of "
                   "each item (--format sizes)"
                 : "weight and profit of each item (--format plain)";
  return instance;
}

// Appends the times of `machines` machines, from row `first` on.
void read_times(const number_rows& rows, std::size_t first, std::size_t machines,
                ramify::flow_shop_instance& shop) {
  for (std::size_t m = 0; m < machines; ++m) {
    const auto& row =
        rows.row(first + m, shop.jobs, "the times of the jobs on machine " + std::to_string(m));
    for (const std::int64_t time : row) rows.check(first + m, "time", time, 65'535);
    shop.times.insert(shop.times.end(), row.begin(), row.end());
  }
}

// Sets the sizes of a shop from the beginning of a row. Throws bad_input.
void read_sizes(const number_rows& rows, std::size_t i, ramify::flow_shop_instance& shop) {
  rows.check(i, "number of jobs", rows[i][0], ramify::max_flow_shop_jobs);
  rows.check(i, "number of machines", rows[i][1], ramify::max_flow_shop_machines);
  shop.jobs = static_cast<std::size_t>(rows[i][0]);
  shop.machines = static_cast<std::size_t>(rows[i][1]);
}

// Reads an instance from a file of Taillard: of each instance a line of words, the sizes, the seed
// and bounds; a line of words, and the times. `number` is from 1 on, or 0 for the only one.
ramify::flow_shop_instance read_taillard(const number_rows& rows, const std::string& file,
                                         std::size_t number) {
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
    throw bad_input(name_of_input(file) + ": there are " + std::to_string(found) +
                    " instances; choose one with --instance");
  }
  if (number > found) {
    throw bad_input(name_of_input(file) + ": there are only " + std::to_string(found) +
                    " instances; --instance is " + std::to_string(number));
  }
  return chosen;
}

ramify::flow_shop_instance read_flow_shop(const search_command_line& o, std::string& format) {
  const number_rows rows(o.input);
  if (rows.has_words(0)) {
    format = "a file of Taillard";
    return read_taillard(rows, o.input, o.instance);
  }
  if (o.instance != 0) {
    throw bad_input(name_of_input(o.input) + ": --instance needs a file of Taillard");
  }
  ramify::flow_shop_instance shop;
  if (rows.size() == 0) return shop;
  const bool fit = rows.size() > 1 && rows[0].size() == 2 &&
                   rows[0][0] == static_cast<std::int64_t>(rows[1].size()) &&
                   rows[0][1] == static_cast<std::int64_t>(rows.size() - 1);
  const bool sized = has_sizes(o.format, fit);
  if (sized) {
    rows.row(0, 2, "the numbers of jobs and machines");
    read_sizes(rows, 0, shop);
    if (shop.machines != rows.size() - 1) {
      rows.reject(0, "announces " + std::to_string(shop.machines) + " machines, but " +
                         std::to_string(rows.size() - 1) + " lines follow");
    }
  } else {
    shop.jobs = rows[0].size();
    shop.machines = rows.size();
  }
  format = sized ? "first the numbers of jobs and machines, then the times of each machine "
                   "(--format sizes)"
                 : "the times of each machine (--format plain)";
  read_times(rows, sized ? 1 : 0, shop.machines, shop);
  return shop;
}

// Checks an instance from a file. Throws bad_input.
template <class Instance>
Instance checked(const std::string& file, Instance instance) {
  try {
    validate(instance);
  } catch (const std::invalid_argument& e) {
    throw bad_input(name_of_input(file) + ": " + e.what());
  }
  return instance;
}

}  // namespace

ramify::knapsack_instance knapsack_of(const search_command_line& o, std::string& format) {
  auto instance =
      o.input.empty()
          ? ramify::random_knapsack({.items = o.items,
                                     .largest = static_cast<std::int64_t>(o.largest),
                                     .correlation = static_cast<std::int64_t>(o.correlation),
                                     .seed = o.seed})
          : checked(o.input, read_knapsack(o, format));
  if (o.weight_limit != search_command_line::no_limit) {
    instance.capacity = static_cast<std::int64_t>(o.weight_limit);
  }
  return instance;
}

ramify::flow_shop_instance flow_shop_of(const search_command_line& o, std::string& format) {
  if (!o.input.empty()) return checked(o.input, read_flow_shop(o, format));
  if (o.taillard > 0) return ramify::taillard_instance(o.taillard).shop();
  if (o.seed < 1 || o.seed > 2'147'483'646) {
    throw std::invalid_argument("--seed is " + std::to_string(o.seed) +
                                "; of flow-shop it must be in [1, 2147483646]");
  }
  return ramify::taillard_flow_shop(o.jobs, o.machines, static_cast<std::int64_t>(o.seed));
}

std::int64_t profit_by_dynamic_programming(const ramify::knapsack_instance& instance) {
  constexpr std::int64_t most = 10'000'000;
  std::int64_t sum = 0;
  for (const auto& item : instance.items) sum += item.weight;
  const std::int64_t limit = std::min(instance.capacity, sum);
  if (limit > most) {
    throw std::invalid_argument("--verify of knapsack needs a maximum weight of at most 10^7");
  }
  std::vector<std::int64_t> best(static_cast<std::size_t>(limit) + 1, 0);
  for (const auto& [weight, profit] : instance.items) {
    for (auto c = limit; c >= weight; --c) {
      auto& here = best[static_cast<std::size_t>(c)];
      here = std::max(here, best[static_cast<std::size_t>(c - weight)] + profit);
    }
  }
  return best.back();
}

}  // namespace common
