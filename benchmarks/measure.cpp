// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/output_file.hpp"

namespace benchmark {

namespace {

using json_value = nlohmann::ordered_json;

/// Rounds to six significant digits, which exceeds the precision of the clocks and keeps files
/// short.
json_value to_json(double value) {
  if (!std::isfinite(value)) return nullptr;  // JSON has no such numbers
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

json_value to_json(const cell& c) {
  return std::visit(
      [](const auto& value) -> json_value {
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<type, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<type, double>) {
          return to_json(value);
        } else if constexpr (std::is_same_v<type, timing>) {
          return {{"median", to_json(value.median_ms)},
                  {"least", to_json(value.least_ms)},
                  {"most", to_json(value.most_ms)},
                  {"repeats", value.repeats}};
        } else {
          return value;
        }
      },
      c.value());
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

/// Returns the command line without the program's folder and --json FILE.
std::string as_typed(int argc, char** argv) {
  std::string text = std::filesystem::path(argv[0]).filename().string();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      ++i;
    } else if (!word.starts_with("--json=")) {
      text += " " + std::string(word);
    }
  }
  return text;
}

command_line read(const program& what, int argc, char** argv, CLI::App& app) {
  command_line line;
  line.text = as_typed(argc, argv);
  app.add_option("--json", line.json, "also write the tables to this file")->type_name("FILE");
  if (!what.parts.empty()) {
    app.add_option("--part", line.parts, "the parts to measure; default: all")
        ->delimiter(',')
        ->check(CLI::IsMember(what.parts));
  }
  if (what.has_quick) app.add_flag("--quick", line.quick, "few sizes and repeats");
  if (!what.words.empty()) app.add_option("words", line.words, std::string(what.words));
  line.scale = what.scale;
  if (what.scale > 0) {
    app.add_option("--scale", line.scale, "log2 of the size")
        ->check(CLI::Range(what.least_scale, what.most_scale))
        ->capture_default_str();
  }
  app.parse(argc, argv);
  if (line.parts.empty()) line.parts = what.parts;
  return line;
}

}  // namespace

std::string cell::text() const {
  return std::visit(
      [](const auto& value) -> std::string {
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<type, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<type, std::int64_t>) {
          return std::to_string(value);
        } else if constexpr (std::is_same_v<type, double>) {
          return number(value);
        } else if constexpr (std::is_same_v<type, timing>) {
          return number(value.median_ms) + " (" + spread(value) + ")";
        } else {
          return value;
        }
      },
      value_);
}

facts this_cpu() {
  std::string name = "unknown";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    if (const auto colon = line.find(": "); colon != std::string::npos) {
      name = line.substr(colon + 2);
    }
    break;
  }
  return {{"CPU", name}, {"cores", std::thread::hardware_concurrency()}};
}

std::size_t command_line::number_or(std::size_t otherwise) const {
  if (words.empty()) return otherwise;
  std::size_t end = 0;
  unsigned long long value = 0;
  try {
    if (words[0].starts_with('-')) throw std::invalid_argument("negative");
    value = std::stoull(words[0], &end);
  } catch (const std::logic_error&) {  // not a number, or too large
    end = 0;
  }
  if (end == 0 || end != words[0].size() || value == 0 || words.size() > 1) {
    throw std::invalid_argument("'" + words[0] + "' is not one whole number of at least 1");
  }
  return value;
}

recorder::recorder(std::string_view program, std::string_view command, facts machine)
    : program_(program), command_(command), date_(today()), machine_(std::move(machine)) {
  std::cout << date_;
  for (const auto& [name, value] : machine_) std::cout << "; " << name << ": " << value.text();
  std::cout << "; `" << command_ << "`" << std::endl;
}

void recorder::begin(std::string_view name, std::string_view caption, bool printed,
                     const std::vector<std::string>& columns) {
  for (const stored_table& t : tables_) {
    if (t.name == name) throw std::logic_error("there is already a table '" + t.name + "'");
  }
  tables_.push_back({std::string(name), std::string(caption), printed, columns, {}});
}

void recorder::table(std::string_view name, const std::vector<std::string>& columns,
                     std::string_view caption) {
  begin(name, caption, true, columns);
  std::cout << '\n';
  if (!caption.empty()) std::cout << caption << "\n\n";
  print_header(columns);
}

void recorder::quiet_table(std::string_view name, const std::vector<std::string>& columns) {
  begin(name, {}, false, columns);
}

void recorder::row(const std::vector<cell>& cells) {
  if (tables_.empty()) throw std::logic_error("a row before any table");
  stored_table& t = tables_.back();
  if (cells.size() != t.columns.size()) {
    throw std::logic_error("table '" + t.name + "' has " + std::to_string(t.columns.size()) +
                           " columns, but a row of it has " + std::to_string(cells.size()) +
                           " cells");
  }
  t.rows.push_back(cells);
  if (!t.printed) return;
  std::vector<std::string> texts;
  for (const cell& c : cells) texts.push_back(c.text());
  print_row(texts);
}

std::string recorder::json() const {
  json_value machine = json_value::object();
  for (const auto& [name, value] : machine_) machine[name] = to_json(value);
  std::string text =
      "{\"program\": " + json_value(program_).dump() + ",\n\"command\": " +
      json_value(command_).dump(-1, ' ', false, json_value::error_handler_t::replace) +
      ",\n\"date\": " + json_value(date_).dump() + ",\n\"machine\": " + machine.dump() +
      ",\n\"tables\": [";
  // One line per row, so that files can be compared.
  for (const stored_table& t : tables_) {
    text += &t == &tables_.front() ? "\n" : ",\n";
    text += "{\"name\": " + json_value(t.name).dump() +
            ", \"caption\": " + json_value(t.caption).dump() +
            ",\n\"columns\": " + json_value(t.columns).dump() + ",\n\"rows\": [";
    for (const auto& cells : t.rows) {
      json_value row = json_value::array();
      for (const cell& c : cells) row.push_back(to_json(c));
      text += (&cells == &t.rows.front() ? "\n" : ",\n") + row.dump();
    }
    text += "]}";
  }
  return text + "]}\n";
}

int run(const program& what, int argc, char** argv,
        const std::function<void(recorder&, const command_line&)>& body) {
  CLI::App app{std::string(what.about), "benchmark_" + std::string(what.name)};
  try {
    const command_line line = read(what, argc, argv, app);
    if (!line.json.empty()) common::check_output_file(line.json);
    recorder out(what.name, line.text, what.machine());
    body(out, line);
    if (!line.json.empty()) {
      common::write_file(line.json, [&](std::ostream& file) { file << out.json(); });
    }
    return 0;
  } catch (const CLI::Success& e) {  // --help
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::cerr << what.name << ": " << e.what() << '\n';
    return 2;
  } catch (const std::exception& e) {
    std::cerr << what.name << ": " << e.what() << '\n';
    return 1;
  }
}

}  // namespace benchmark
