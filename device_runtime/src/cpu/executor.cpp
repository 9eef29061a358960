// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/cpu/executor.hpp>

#include <cxxabi.h>
#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <ramify/runtime/report.hpp>
#include <sstream>
#include <utility>

#include "device.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

namespace {

template <class T>
T parse_number(std::string_view digits, const std::string& what) {
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
    throw std::invalid_argument(what + " '" + std::string(digits) + "' is not a number in range");
  }
  return value;
}

}  // namespace

executor_config parse_executor_config(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_number = colon != std::string_view::npos;
  const std::string_view number = has_number ? text.substr(colon + 1) : std::string_view{};

  executor_config config;
  if (name == "parallel") {
    config.order = schedule::parallel;
    if (has_number) config.workers = parse_number<unsigned>(number, "CPU schedule: worker count");
  } else if (name == "random") {
    config.order = schedule::random;
    if (has_number) config.seed = parse_number<std::uint64_t>(number, "CPU schedule: seed");
  } else if (name == "weak") {
    config.order = schedule::weak;
    if (has_number) config.seed = parse_number<std::uint64_t>(number, "CPU schedule: seed");
  } else if (name == "eager" && !has_number) {
    config.order = schedule::eager;
  } else if (name == "late" && !has_number) {
    config.order = schedule::late;
  } else {
    throw std::invalid_argument(
        "CPU schedule: '" + std::string(text) +
        "' must be parallel[:workers], eager, late, random[:seed] or weak[:seed]");
  }
  return config;
}

std::uint64_t parse_max_depth(std::string_view text) {
  return parse_number<std::uint64_t>(text, "RAMIFY_CPU_MAX_DEPTH:");
}

bool parse_memory(std::string_view text) {
  if (text == "device") return true;
  if (text == "any") return false;
  throw std::invalid_argument("RAMIFY_CPU_MEMORY: '" + std::string(text) +
                              "' must be any or device");
}

bool refuses_host_memory() { return device::instance().refuses_host_memory(); }

executor_config current_executor_config() { return device::instance().config(); }

scoped_executor_config::scoped_executor_config(const executor_config& config)
    : former_(device::instance().config()) {
  if (config.live_blocks == 0) {
    throw std::invalid_argument("executor_config.live_blocks must be at least 1");
  }
  device::instance().set_config(config);
}

scoped_executor_config::~scoped_executor_config() { device::instance().set_config(former_); }

std::uint64_t grids_begun() { return device::instance().grids_begun(); }
std::uint64_t host_calls() { return device::instance().host_calls(); }
std::uint64_t resets() { return device::instance().resets(); }
std::uint64_t live_objects() { return device::instance().live_objects(); }

std::string_view to_string(rule r) {
  return choice_name(r, {"local pointer passed to a child", "shared pointer passed to a child",
                         "stream or event used outside its grid", "divergent barrier",
                         "failed launch ignored", "call that only the host may make",
                         "endless recursion of launches", "write after dynamic shared memory"});
}

rule_violation::rule_violation(rule broken, std::string kernel, std::string where,
                               const std::string& what)
    : std::logic_error(std::string(to_string(broken)) + ": kernel " + kernel + ", " + where + ": " +
                       what),
      broken_(broken),
      kernel_(std::move(kernel)),
      where_(std::move(where)) {}

std::string demangled(const char* symbol) {
  // Another name may be that of a type: __cxa_demangle() makes `float` of a variable `f`.
  if (!std::string_view(symbol).starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : symbol;
}

std::string kernel_name(const void* kernel) {
  Dl_info info{};
  if (dladdr(kernel, &info) != 0 && info.dli_sname != nullptr && info.dli_saddr == kernel) {
    return demangled(info.dli_sname);
  }
  std::ostringstream address;
  address << "at " << kernel;
  return address.str();
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
