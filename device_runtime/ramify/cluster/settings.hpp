// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a call that all ranks must have in common.
///
///     ramify::shared_settings settings("my_sort");
///     settings.add("my_options.depth", options.depth);
///     settings.add("my_options.order", options.order);
///     comm.require_equal(settings);  // throws on all ranks if one rank has another depth or order

#include <array>
#include <charconv>
#include <concepts>
#include <optional>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/granularity.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ramify::detail::cluster::inline RAMIFY_ABI {

/// An enumerator with a name.
template <class T>
concept named_choice = std::is_enum_v<T> && requires(T value) {
  { to_string(value) } -> std::convertible_to<std::string_view>;
};

/// Returns a value as a text. Different values have different texts.
template <class T>
[[nodiscard]] std::string setting_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::array<char, 40> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
  } else if constexpr (named_choice<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return std::string(std::string_view(value));
  }
}

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Named values that all ranks must have in common when they make a call: its options, and the
/// arguments of which each rank has a copy. See communicator::require_equal().
class shared_settings {
 public:
  /// A named value, as text.
  struct setting {
    std::string name;   ///< of the value
    std::string value;  ///< equal texts are equal values
  };

  /// `call` is the name of the call. Ranks that make different calls throw cluster_error.
  explicit shared_settings(std::string call) : call_(std::move(call)) {}

  /// Adds a number, a boolean, an enumerator or a text. `name` must not be empty; neither text may
  /// have a null character.
  template <class T>
  void add(const std::string& name, const T& value) {
    all_.push_back({name, detail::cluster::setting_text(value)});
  }
  /// Adds a value that may be missing.
  template <class T>
  void add(const std::string& name, const std::optional<T>& value) {
    all_.push_back({name, value ? detail::cluster::setting_text(*value) : "none"});
  }

  /// Adds the fields of a launch granularity.
  void add(const std::string& name, const launch_granularity& launches) {
    const auto& [grain, threshold, coarsening] = launches;  // does not compile without a field
    add(name + ".grain", grain);
    add(name + ".threshold", threshold);
    add(name + ".coarsening", coarsening);
  }

  /// Adds the fields of an environment that choose how a call runs. The stream, the memory and the
  /// trace are those of a rank. Calls of several ranks wait, so they do not read `completion`.
  void add(const environment& env) {
    // This does not compile without a field.
    const auto& [backend, stream, memory, route, flat_loop, pending_launches, trace, completion] =
        env;
    static_cast<void>(stream), static_cast<void>(memory), static_cast<void>(trace);
    static_cast<void>(completion);
    add("environment.backend", backend);
    add("environment.route", route);
    add("environment.flat_loop", flat_loop);
    add("environment.pending_launches", pending_launches);
  }

  /// Returns the name of the call.
  [[nodiscard]] const std::string& call() const { return call_; }
  /// Returns all settings, in the order of add().
  [[nodiscard]] const std::vector<setting>& all() const { return all_; }

 private:
  std::string call_;
  std::vector<setting> all_;
};

}  // namespace ramify::inline RAMIFY_ABI
