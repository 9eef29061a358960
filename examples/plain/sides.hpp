// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which functions of a source are of the host, which variables are of the device, and where one
/// side uses what only the other one has.

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "edited_source.hpp"

namespace plain {

class sides : public edited_source {
 public:
  using edited_source::edited_source;

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
    return is(i + 1, "(") && !is(i - 1, "::") && !declares(i) &&
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
        if (is(i - 1, ".") || is(i - 1, "->") || is_declared(body.open, body.end, name)) continue;
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

  /// Returns whether the token is in a file of the user, not in a header of the executor.
  [[nodiscard]] bool is_users(size_t i) const {
    const string_view file = tokens_.files[all_[i].file].name;
    return !in_system(i) && file.find("/ramify/") == file.npos &&
           file.find("examples/plain/") == file.npos;
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
    if (is_name(i - 1)) {
      return std::ranges::find(statements, all_[i - 1].text) == std::end(statements);
    }
    if (is(i - 1, "*") && is(i - 2, "(") && is(i + 1, ")")) return true;  // of a function
    const bool of_pointer =
        (is(i - 1, "*") || is(i - 1, "&")) && (is_name(i - 2) || is(i - 2, ">"));
    return of_pointer && (is(i + 1, "=") || is(i + 1, ";") || is(i + 1, ",") || is(i + 1, ")") ||
                          is(i + 1, "[") || is(i + 1, "{"));
  }
  /// Returns whether [from, to) has a parameter or a local variable of this name.
  [[nodiscard]] bool is_declared(size_t from, size_t to, string_view name) const {
    for (size_t i = from; i < to; ++i) {
      if (is(i, name) && declares(i)) return true;
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
    constexpr string_view of_device[] = {"__device__", "__global__", "constexpr", "consteval"};
    const size_t open = parameters_of(begin - 1);
    if (open == npos || open >= brace || open == begin || !is_name(open - 1)) return;
    for (size_t i = begin; i < open; ++i) {
      if (std::ranges::find(of_device, all_[i].text) != std::end(of_device)) return;
    }
    host_bodies_.push_back({open, brace, end});
    if (!is(open - 2, "::")) host_functions_.insert(all_[open - 1].text);
  }

  std::set<string_view> host_functions_;
  std::set<string_view> device_functions_;
  std::set<string_view> device_variables_;
  std::vector<host_body> host_bodies_;
};

}  // namespace plain
