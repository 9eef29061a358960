// SPDX-License-Identifier: BSD-3-Clause
#include "number_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace common {
namespace {

constexpr std::array<std::string_view, 6> names{"i32", "u32", "i64", "u64", "f32", "f64"};

template <std::size_t... i>
keys_of_any_type alternative(std::size_t index, std::index_sequence<i...>) {
  keys_of_any_type keys;
  ((index == i ? void(keys.emplace<i>()) : void()), ...);
  return keys;
}

// The keys read so far as one type. `good` is false after the first line that is no such number.
template <class Number>
struct key_reader {
  std::vector<Number> keys;
  bool good = true;

  number_error add(std::string_view text) {
    if (!good) return number_error::not_a_number;
    Number number{};
    const number_error error = parse_number(text, number);
    if (error == number_error::none) {
      keys.push_back(number);
    } else {
      good = false;
      keys = {};
    }
    return error;
  }
};

}  // namespace

keys_of_any_type keys_of_type(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return alternative(i, std::make_index_sequence<names.size()>());
  }
  throw std::invalid_argument("type '" + std::string(name) +
                              "' is none of i32, u32, i64, u64, f32, f64");
}

std::string_view type_name(const keys_of_any_type& keys) { return names[keys.index()]; }

numbers read_text(const std::filesystem::path& path, bool pairs) {
  key_reader<std::int64_t> as_signed;
  key_reader<std::uint64_t> as_unsigned;
  key_reader<double> as_double;
  std::string would_be_rounded;  // the message about the first number that as_double rounds
  numbers result;

  for_each_data_line(path, [&](const text_line& line) {
    std::array<std::string_view, 2> words;
    const std::size_t count = line.split(words);
    if (pairs && count != 2) line.reject("is not a key and a value");
    if (!pairs && count != 1) line.reject("is not one number");
    const std::string_view key = words[0];
    if (pairs) result.values.push_back(line.parse_word<std::uint64_t>("value", words[1]));
    as_signed.add(key);
    as_unsigned.add(key);
    const number_error error = as_double.add(key);
    if (error != number_error::none) {
      const std::string what = describe<double>(error);
      if (pairs) line.reject_word("key", key, what);
      line.reject(what);
    }
    if (would_be_rounded.empty() && rounds_whole_number<double>(key)) {
      would_be_rounded =
          line.message("would be rounded: not all numbers of the file are i64 or u64");
    }
  });

  if (as_signed.good) {
    result.keys = std::move(as_signed.keys);
  } else if (as_unsigned.good) {
    result.keys = std::move(as_unsigned.keys);
  } else {
    if (!would_be_rounded.empty()) throw bad_input(would_be_rounded);
    result.keys = std::move(as_double.keys);
  }
  return result;
}

namespace {

// Returns the size of an element of a raw file of `bytes` bytes.
std::size_t element_size(const std::filesystem::path& path, std::string_view type, bool pairs,
                         std::uintmax_t bytes) {
  const keys_of_any_type any = keys_of_type(type);
  const std::size_t key_size =
      std::visit([](const auto& keys) { return sizeof(*keys.data()); }, any);
  const std::size_t element = key_size + (pairs ? sizeof(std::uint64_t) : 0);
  if (bytes % element == 0) return element;
  throw bad_input(name_of_input(path) + " has " + std::to_string(bytes) +
                  " bytes, which is no multiple of " + std::to_string(element) + " (" +
                  std::string(type) + (pairs ? " key and u64 value)" : ")"));
}

// Returns the elements in the bytes of a raw file.
numbers elements_of(std::string_view content, std::string_view type, bool pairs,
                    std::size_t element) {
  numbers result;
  result.keys = keys_of_type(type);
  std::visit(
      [&](auto& keys) {
        using key = typename std::decay_t<decltype(keys)>::value_type;
        const std::size_t n = content.size() / element;
        keys.resize(n);
        if (pairs) result.values.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
          const char* from = content.data() + i * element;
          std::memcpy(&keys[i], from, sizeof(key));
          if (pairs) std::memcpy(&result.values[i], from + sizeof(key), sizeof(std::uint64_t));
        }
      },
      result.keys);
  return result;
}

}  // namespace

numbers read_raw(const std::filesystem::path& path, std::string_view type, bool pairs) {
  (void)keys_of_type(type);  // a wrong type is found before the file is read
  const std::string content = read_whole_file(path);
  return elements_of(content, type, pairs, element_size(path, type, pairs, content.size()));
}

raw_input::raw_input(const std::filesystem::path& path) : path_(path) {
  if (path == "-") return;
  struct stat found {};
  const auto fail = [&] {
    throw bad_input("cannot read " + name_of_input(path) + ": " +
                    std::error_code(errno, std::generic_category()).message());
  };
  // A pipe is not opened, because its writer would end when the first process closes it.
  if (::stat(path.c_str(), &found) != 0) fail();
  if (!S_ISREG(found.st_mode)) return;
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0 || ::fstat(file_, &found) != 0) fail();
  bytes_ = static_cast<std::uint64_t>(found.st_size);
}

raw_input::~raw_input() {
  if (file_ >= 0) ::close(file_);
}

std::string raw_input::read_bytes(std::uint64_t begin, std::size_t bytes) const {
  std::string content(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t more =
        ::pread(file_, content.data() + done, bytes - done, static_cast<off_t>(begin + done));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) {
      throw bad_input("cannot read " + name_of_input(path_) + ": " +
                      std::error_code(errno, std::generic_category()).message());
    }
    if (more == 0) {
      throw bad_input(name_of_input(path_) + " had " + std::to_string(bytes_) +
                      " bytes, but ends before byte " + std::to_string(begin + bytes) + " now");
    }
    done += static_cast<std::size_t>(more);
  }
  return content;
}

std::uint64_t raw_input::sample_hash() const {
  constexpr std::uint64_t whole = std::uint64_t{16} << 20;
  constexpr std::uint64_t piece = std::uint64_t{64} << 10;
  constexpr std::uint64_t last = whole / piece - 1;
  std::uint64_t hash = 0;
  const auto add = [&](const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof hash) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  };
  if (bytes_ <= whole) {
    add(read_bytes(0, bytes_));
  } else {
    for (std::uint64_t i = 0; i <= last; ++i) {
      // i (bytes_ - piece) / last, without an overflow.
      const std::uint64_t range = bytes_ - piece;
      add(read_bytes(range / last * i + range % last * i / last, piece));
    }
  }
  return hash;
}

numbers raw_input::read(std::string_view type, bool pairs, std::size_t part,
                        std::size_t parts) const {
  if (!is_regular()) {
    if (part == 0) return read_raw(path_, type, pairs);
    return {keys_of_type(type), {}};
  }
  const std::size_t element = element_size(path_, type, pairs, bytes_);
  const std::size_t n = bytes_ / element;
  const std::size_t begin = n / parts * part + std::min(n % parts, part);
  const std::size_t end = n / parts * (part + 1) + std::min(n % parts, part + 1);
  const std::string content = read_bytes(begin * element, (end - begin) * element);
  struct stat now {};
  if (::fstat(file_, &now) == 0 && static_cast<std::uint64_t>(now.st_size) != bytes_) {
    throw bad_input("the size of " + name_of_input(path_) + " changed from " +
                    std::to_string(bytes_) + " to " + std::to_string(now.st_size) +
                    " bytes while it was read");
  }
  return elements_of(content, type, pairs, element);
}

void write_text(std::ostream& out, const numbers& all) {
  std::visit(
      [&](const auto& keys) {
        std::array<char, 64> text{};
        for (std::size_t i = 0; i < keys.size(); ++i) {
          char* end = std::to_chars(text.data(), text.data() + text.size(), keys[i]).ptr;
          if (!all.values.empty()) {
            *end++ = ' ';
            end = std::to_chars(end, text.data() + text.size(), all.values[i]).ptr;
          }
          *end++ = '\n';
          out.write(text.data(), end - text.data());
        }
      },
      all.keys);
}

void write_raw(std::ostream& out, const numbers& all) {
  std::visit(
      [&](const auto& keys) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
          out.write(reinterpret_cast<const char*>(&keys[i]), sizeof keys[i]);
          if (!all.values.empty()) {
            out.write(reinterpret_cast<const char*>(&all.values[i]), sizeof all.values[i]);
          }
        }
      },
      all.keys);
}

}  // namespace common
