// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which functions of a source are of the host, which variables are of the device, and where one
/// side uses what only the other one has.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "edited_source.hpp"

namespace plain {

class sides : public edited_source {
 public:
  /// `root` is the folder of Ramify; the files in its libraries are not the user's.
  sides(string_view source, const std::filesystem::path& root) : edited_source(source) {
    const auto path_of = [](const std::filesystem::path& path) {
      std::error_code failure;
      return std::filesystem::weakly_canonical(path, failure).string();
    };
    const string base = path_of(root) + '/';
    for (const source_file& file : tokens_.files) {
      const string path = path_of(file.name);
      const bool is_ramifys = std::ranges::any_of(
          libraries, [&](const char* folder) { return path.starts_with(base + folder); });
      is_users_.push_back(!file.is_system && !is_ramifys);
    }
  }

  /// Returns the index of the `(` before the parameters of the function whose declaration has a
  /// keyword of CUDA at `i`; npos: a variable.
  [[nodiscard]] size_t parameters_of(size_t i) const {
    constexpr string_view with_group[] = {"__attribute__", "alignas", "decltype", "noexcept"};
    for (++i; i < all_.size(); ++i) {
      if (is(i, ";") || is(i, "{") || is(i, "}") || is(i, "=") || is(i, "[")) return npos;
      if (!is(i, "(")) continue;
      if (i > 0 && std::ranges::find(with_group, all_[i - 1].text) != std::end(with_group)) {
        i = closing(i);
        if (i == npos) return npos;
      } else if (is(i - 1, "operator") && is(i + 1, ")")) {
        ++i;
      } else {
        return i;
      }
    }
    return npos;
  }

  /// Finds the host's functions, and the functions and variables of the device.
  void note_sides() {
    for (size_t i = 0; i < all_.size(); ++i) {
      const bool constant = is(i, "__constant__");
      if (!constant && !is(i, "__device__") && !is(i, "__global__")) continue;
      const size_t open = parameters_of(i);
      if (open != npos && !constant) {
        if (is_name(open - 1)) device_functions_.insert(all_[open - 1].text);
      } else if (is_users(i) && !is(i + 1, "__managed__") && !is(i - 1, "__managed__")) {
        note_variables(i);
      }
    }
    note_host_functions();
    // Without nvcc, a function may lack the keyword that it has with it.
    if (names_compiler()) host_functions_.clear();
  }

  /// Returns whether the name at `i`, in the body of the device function whose parameters begin at
  /// `open`, calls a function that only the host has.
  [[nodiscard]] bool calls_host(size_t open, size_t i) const {
    return is(end_of_template(i + 1), "(") && !is(i - 1, "::") && !declares(i) &&
           host_functions_.contains(all_[i].text) && !device_functions_.contains(all_[i].text) &&
           !is_declared(open, i, all_[i].text);
  }

  /// Warns of variables of the device that the host uses as its own, once for each.
  void check_host_bodies() {
    std::set<string_view> warned;
    for (const host_body& body : host_bodies_) {
      for (size_t i = body.brace; i < body.end; ++i) {
        if (!is_name(i)) continue;
        const string_view name = all_[i].text;
        if (is(i + 1, "(") && (name == "sizeof" || name.find("Symbol") != name.npos)) {
          const size_t close = closing(i + 1);
          i = close == npos ? i : close;
          continue;
        }
        if (!device_variables_.contains(name) || warned.contains(name)) continue;
        if (is(i - 1, ".") || is(i - 1, "->") || (is(i - 1, "::") && is_name(i - 2))) continue;
        if (is_declared(body.open, body.end, name)) continue;
        warned.insert(name);
        print(i, "warning",
              "the host uses the variable " + string(name) +
                  " of the device: on a GPU it has no access to it; use cudaMemcpyFromSymbol() or "
                  "cudaMemcpyToSymbol()");
      }
    }
  }

 private:
  struct host_body {
    size_t open;   // the `(` before the parameters
    size_t brace;  // the `{`
    size_t end;    // the `}`
  };

  static constexpr const char* libraries[] = {"device_runtime/", "algorithms/", "examples/plain/"};

  /// Returns whether the token is in a file of the user, not in a header of the executor.
  [[nodiscard]] bool is_users(size_t i) const { return is_users_[all_[i].file]; }

  /// Returns the index after the `<...>` at `i`; `i` if there is none.
  [[nodiscard]] size_t end_of_template(size_t i) const {
    int depth = is(i, "<") ? 1 : 0;
    for (size_t t = i + 1; depth > 0 && t < all_.size() && !is(t, ";") && !is(t, "{"); ++t) {
      if (is(t, "<")) ++depth;
      if (is(t, ">")) --depth;
      if (depth == 0) return t + 1;
    }
    return i;
  }

  /// Returns whether a file of the user may depend on the compiler, or cannot be read.
  [[nodiscard]] bool names_compiler() const {
    if (host_functions_.empty()) return false;
    std::set<string_view> files;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (is_users(i)) files.insert(tokens_.files[all_[i].file].name);
    }
    return std::ranges::any_of(files, [](string_view name) {
      std::ifstream in{string(name)};
      std::ostringstream text;
      text << in.rdbuf();
      return !in || text.view().find("__CUDACC__") != text.view().npos ||
             text.view().find("__NVCC__") != text.view().npos;
    });
  }

  /// Returns whether the name at `i` stands where a declaration has it: after a type.
  [[nodiscard]] bool declares(size_t i) const {
    constexpr string_view statements[] = {"return", "else",     "do",     "case",     "throw",
                                          "goto",   "co_yield", "delete", "co_await", "sizeof"};
    if (i < 2) return false;
    size_t type = i - 1;
    while (is(type, "*") || is(type, "&")) --type;
    if (is_name(type) && std::ranges::find(statements, all_[type].text) != std::end(statements)) {
      return false;
    }
    if (is_name(i - 1)) return true;
    if ((is(i - 1, "*") || is(i - 1, "&")) && is(i - 2, "(") && is(i + 1, ")")) {
      return is(i + 2, "(") || is(i + 2, "[");  // a function or an array
    }
    const bool has_value = (is(i + 1, "=") && !is(i + 2, "=")) || is(i + 1, "{");
    // One more name of a declaration, or a lambda's own variable.
    if (is(type, ",") || is(type, "[")) {
      if (has_value || is(i + 1, ";")) return true;
    }
    if (type == i - 1) return is_binding(i);
    if (!is_name(type) && !is(type, ">")) return false;
    if (has_value || is(i + 1, ":") || is(type, "auto")) return true;
    // `a && name` is an expression.
    return !(is(i - 1, "&") && is(i - 2, "&")) &&
           (is(i + 1, ";") || is(i + 1, ",") || is(i + 1, ")") || is(i + 1, "["));
  }

  /// Returns whether the name at `i` is in the brackets of `auto [a, b]`.
  [[nodiscard]] bool is_binding(size_t i) const {
    while (is_name(i) || is(i, ",")) --i;
    if (!is(i, "[")) return false;
    for (--i; is(i, "&");) --i;
    return is(i, "auto");
  }

  /// Returns whether the parameters after `open` or the tokens before `to` declare `name`.
  [[nodiscard]] bool is_declared(size_t open, size_t to, string_view name) const {
    const size_t close = closing(open);
    for (size_t i = open; i < to; ++i) {
      if (!is(i, name)) continue;
      if (declares(i) || (i < close && (is(i + 1, ",") || i + 1 == close))) return true;
    }
    return false;
  }

  /// Notes the variables of the declaration that has a keyword of CUDA at `i`.
  void note_variables(size_t i) {
    for (++i; i < all_.size() && !is(i, ";"); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) i = closing(i);
      if (i == npos) return;
      const bool ends =
          is(i + 1, "=") || is(i + 1, "[") || is(i + 1, "{") || is(i + 1, ";") || is(i + 1, ",");
      if (is_name(i) && ends &&
          (is_name(i - 1) || is(i - 1, "*") || is(i - 1, ">") || is(i - 1, ","))) {
        device_variables_.insert(all_[i].text);
      }
      if (is(i, "=")) {  // an initial value
        while (i < all_.size() && !is(i + 1, ";") && !is(i + 1, ",")) {
          ++i;
          if (is(i, "(") || is(i, "[") || is(i, "{")) i = closing(i);
          if (i == npos) return;
        }
      }
    }
  }

  /// Notes the functions of namespaces that are defined without a keyword of the device.
  void note_host_functions() {
    size_t begin = 0;  // of the declaration
    for (size_t i = 0; i < all_.size(); ++i) {
      if (is(i, ";") || is(i, "}")) begin = i + 1;
      if (is(i, "(") || is(i, "[")) i = closing(i);
      if (i == npos) return;
      if (!is(i, "{")) continue;
      const bool is_namespace = is(begin, "namespace") || is(begin + 1, "namespace") ||
                                (is(begin, "extern") && begin + 2 == i);
      if (!is_namespace) {
        const size_t end = closing(i);
        if (end == npos) return;
        if (is_users(i)) note_host_function(begin, i, end);
        i = end;
      }
      begin = i + 1;
    }
  }

  void note_host_function(size_t begin, size_t brace, size_t end) {
    constexpr string_view of_device[] = {"__device__", "__global__", "consteval"};
    const size_t open = parameters_of(begin - 1);
    if (open == npos || open >= brace || open == begin || !is_name(open - 1)) return;
    for (size_t i = begin; i < open; ++i) {
      if (std::ranges::find(of_device, all_[i].text) != std::end(of_device)) return;
    }
    host_bodies_.push_back({open, brace, end});
    if (!is(open - 2, "::")) host_functions_.insert(all_[open - 1].text);
  }

  std::vector<bool> is_users_;  // of each file
  std::set<string_view> host_functions_;
  std::set<string_view> device_functions_;
  std::set<string_view> device_variables_;
  std::vector<host_body> host_bodies_;
};

}  // namespace plain
