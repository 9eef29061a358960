// SPDX-License-Identifier: BSD-3-Clause
#include "parameter_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/cli_messages.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

using key_of_option = parameter_file::key_of_option;

constexpr std::array keys{
    key_of_option{"problem", "--problem"},
    key_of_option{"dim", "--dim"},
    key_of_option{"stop_time", "--t-end"},
    key_of_option{"geometry.prob_lo", "--prob-lo"},
    key_of_option{"geometry.prob_hi", "--prob-hi"},
    key_of_option{"geometry.lo_bc", "--lo-bc"},
    key_of_option{"geometry.hi_bc", "--hi-bc"},
    key_of_option{"amr.n_cell", "--blocks"},
    key_of_option{"amr.max_level", "--max-level"},
    key_of_option{"amr.max_blocks", "--max-blocks"},
    key_of_option{"amr.regrid_int", "--regrid-every"},
    key_of_option{"amr.n_error_buf", "--buffer-cells"},
    key_of_option{"amr.balance", "--balance"},
    key_of_option{"amr.criterion", "--criterion"},
    key_of_option{"amr.refine_above", "--refine-above"},
    key_of_option{"amr.coarsen_below", "--coarsen-below"},
    key_of_option{"amr.subcycling_mode", "--subcycle"},
    key_of_option{"amr.do_reflux", "--no-reflux"},
    key_of_option{"amr.check_file", "--checkpoint"},
    key_of_option{"amr.check_int", "--checkpoint-every"},
    key_of_option{"amr.restart", "--restart"},
    key_of_option{"amr.plot_file", "--plotfile"},
    key_of_option{"amr.derive_plot_vars", "--derived"},
    key_of_option{"hydro.gamma", "--gamma"},
    key_of_option{"hydro.gravity", "--gravity"},
    key_of_option{"hydro.cfl", "--cfl"},
    key_of_option{"hydro.limiter", "--limiter"},
    key_of_option{"hydro.precision", "--precision"},
    key_of_option{"hydro.keep_positive", "--keep-positive"},
    key_of_option{"output.folder", "--output-dir"},
    key_of_option{"output.frames", "--frames"},
    key_of_option{"output.field", "--field"},
    key_of_option{"output.history_int", "--history-every"},
    key_of_option{"output.range", "--range"},
    key_of_option{"output.units", "--units"},
    key_of_option{"output.float32", "--float32"},
    key_of_option{"output.htg", "--htg"},
    key_of_option{"amr.keep_checkpoints", "--keep"},
};

/// Returns what a message about an unknown key says of the others.
std::string other_keys(const std::string& key) {
  const std::string section = key.substr(0, key.find('.') + 1);
  std::string names;
  for (const key_of_option& one : keys) {
    if (section.empty() || !one.key.starts_with(section)) continue;
    names += (names.empty() ? "" : ", ") + std::string(one.key);
  }
  if (!names.empty()) return "; the others are " + names;
  return "; the sections are geometry, amr, amr.NAME, hydro, output and region.NAME, and keys "
         "without a section are problem, dim and stop_time";
}

/// Returns a line without its comment. A # in quotation marks, which begin a word, begins none.
/// \throws bad_input if a quotation mark is open
std::string_view without_comment(const text_line& line) {
  constexpr std::string_view quotes = "\"'`";
  constexpr std::string_view begins_word = " \t=[,";
  char quote = 0;
  char before = ' ';
  for (std::size_t i = 0; i < line.text.size(); before = line.text[i++]) {
    const char c = line.text[i];
    if (quote != 0) {
      if (c == quote && before != '\\') quote = 0;
    } else if (c == '#') {
      return line.text.substr(0, i);
    } else if (quotes.find(c) != quotes.npos && begins_word.find(before) != begins_word.npos) {
      quote = c;
    }
  }
  if (quote != 0) line.reject("has an open quotation mark");
  return line.text;
}

}  // namespace

std::shared_ptr<parameter_file> parameter_file::add(CLI::App& app, file_options& files) {
  std::shared_ptr<parameter_file> file(new parameter_file(app));
  auto* const option = app.set_config(
      "--input", "",
      "Parameter file with values of options, and with regions of an own problem. The options "
      "of the command line have precedence");
  option->type_name("FILE")->group("Problem")->check([](const std::string& path) -> std::string {
    if (path.empty()) return "--input is empty; it must name a file";
    if (path == "-") return "a parameter file must be a file; - is not supported";
    std::error_code missing;  // CLI11 opens the file a second time, so it cannot be a pipe
    if (std::filesystem::exists(path, missing) && !std::filesystem::is_directory(path) &&
        !std::filesystem::is_regular_file(path)) {
      throw bad_input(path + " is no regular file");
    }
    static_cast<void>(read_whole_file(path));  // throws bad_input with the reason
    return {};
  });
  files.add_input(option);
  app.config_formatter(file);
  return file;
}

std::string parameter_file::place(std::size_t line) const {
  return name_of_input(path_) + ", line " + std::to_string(line) + ": ";
}

void parameter_file::reject(const entry& from, const std::string& what) const {
  throw bad_input(place(from.line) + from.key + ' ' + what);
}

std::vector<parameter_file::entry> parameter_file::read() const {
  std::vector<entry> all;
  std::string section;
  // CLI11 splits a line into the key and its values, and removes quotes and the comment. It has no
  // line numbers, and skips what it does not understand, so it gets one line at a time.
  CLI::ConfigTOML syntax;
  syntax.maxLayers(8);
  syntax.comment('\n');  // comments are removed here, because CLI11 finds them in quotes, too
  for_each_line(path_, [&](const text_line& line) {
    const std::string_view data = trimmed(without_comment(line));
    if (data.empty()) return;
    if (std::ranges::any_of(data, [](unsigned char c) { return c < ' ' && c != '\t'; })) {
      line.reject("has a control character");
    }
    const auto is_of_key = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    };
    const auto is_key = [&](std::string_view key) {
      return !key.empty() && std::ranges::all_of(key, is_of_key) && key.front() != '.' &&
             key.back() != '.' && key.find("..") == key.npos;
    };
    if (data.front() == '[') {
      section = trimmed(data.substr(1, data.size() - 2));
      if (data.back() != ']' || !is_key(section)) line.reject("is no [section]");
      const std::string name = section;
      section += '.';
      if (auto* const parts = parts_with(section)) add_to(*parts, {name, {}, line.number});
      return;
    }
    const std::size_t equals = std::min(data.find('='), data.size());
    const std::string key = section + std::string(trimmed(data.substr(0, equals)));
    if (equals == data.size() || !is_key(trimmed(data.substr(0, equals)))) {
      line.reject("is neither key = value nor [section]");
    }
    const std::string_view value = trimmed(data.substr(equals + 1));
    if (value.starts_with('[') != value.ends_with(']')) {
      line.reject("has one bracket; an array must end in its line");
    }
    std::istringstream one("key = " + std::string(value));
    entry found{key, {}, line.number};
    for (const CLI::ConfigItem& item : syntax.from_config(one)) found.words = item.inputs;
    std::erase(found.words, "");
    if (found.words.empty()) reject(found, "has no value");
    all.push_back(std::move(found));
  });
  return all;
}

std::vector<CLI::ConfigItem> parameter_file::from_config(std::istream&) const {
  path_ = app_->get_option("--input")->results().front();
  const std::vector<entry> all = read();
  std::map<std::string, std::size_t> lines;
  for (const entry& one : all) {
    const auto [earlier, is_new] = lines.emplace(one.key, one.line);
    if (!is_new) reject(one, "occurs also in line " + std::to_string(earlier->second));
    if (auto* const parts = parts_with(one.key)) {
      add_to(*parts, one);
    } else if (std::ranges::find(keys, one.key, &key_of_option::key) == keys.end()) {
      reject(one, "is no key" + other_keys(one.key));
    }
  }
  // Other values depend on the number of dimensions.
  for (const bool is_dim : {true, false}) {
    for (const entry& one : all) {
      if (parts_with(one.key) == nullptr && (one.key == "dim") == is_dim) set_option(one);
    }
  }
  return {};
}

int parameter_file::dimensions() const {
  const CLI::Option* const option = app_->get_option("--dim");
  return option->count() > 0 ? option->as<int>() : 2;
}

void parameter_file::set_option(const entry& from) const {
  const auto row = std::ranges::find(keys, from.key, &key_of_option::key);
  CLI::Option* const option = app_->get_option(std::string(row->option));
  std::string value;
  for (const std::string& word : from.words) value += (value.empty() ? "" : ",") + word;
  const bool is_list = from.key.starts_with("geometry.") || from.key == "hydro.gravity" ||
                       from.key == "output.range" || from.key == "output.units" ||
                       from.key == "amr.derive_plot_vars";
  if (from.words.size() > 1 && !is_list && from.key != "amr.n_cell") {
    reject(from, "has " + std::to_string(from.words.size()) +
                     " values; it must have one, with blanks in quotes");
  }
  const auto choice = [&](const char* no, const char* yes) {
    if (value != no && value != yes) {
      reject(from, "is " + in_quotes(value) + "; it must be " + no + " or " + yes);
    }
    value = value == yes ? "true" : "false";
  };
  if (from.key == "amr.subcycling_mode") choice("None", "Auto");
  if (from.key == "amr.do_reflux") choice("1", "0");
  const std::array flags{"output.float32", "output.htg", "hydro.keep_positive"};
  if (std::ranges::find(flags, from.key) != flags.end()) choice("0", "1");
  if (from.key == "amr.n_cell") {
    const auto cells = dimensions() == 2 ? 16u : 8u;
    value.clear();
    for (const std::string& word : from.words) {
      const auto count = parse<unsigned>(word);
      if (!count || *count == 0 || *count % cells != 0) {
        reject(from, "is " + in_quotes(word) + "; it must be a multiple of " +
                         std::to_string(cells) + ", the cells along an edge of a block");
      }
      value += (value.empty() ? "" : "x") + std::to_string(*count / cells);
    }
  }
  // The value of the file is checked also if the command line has another one.
  const CLI::results_t given = option->results();
  try {
    option->clear();
    option->add_result(value);
    option->run_callback();
  } catch (const CLI::ParseError& e) {
    std::string what = e.what();
    const std::string name = std::string(row->option) + ": ";
    if (what.starts_with(name)) what = what.substr(name.size());
    throw bad_input(place(from.line) + from.key + ": " + what);
  }
  if (given.empty()) {
    entry_of_option_.emplace(row->option, from);
    return;
  }
  option->clear();
  for (const std::string& word : given) option->add_result(word);
}

// ---- messages of checks that concern several values ----

void parameter_file::reject(const std::invalid_argument& error) const {
  std::string message = error.what();
  if (const std::string text = about_part(message); !text.empty()) throw bad_input(text);
  // The fields whose options have other names.
  for (const auto& [field, name] : {std::pair{"amr_options.mesh.lower", "--prob-lo"},
                                    {"amr_options.mesh.upper", "--prob-hi"},
                                    {"amr_options.mesh.roots", "--blocks"},
                                    {"amr_options.mesh.sides", "--lo-bc, --hi-bc"},
                                    {"amr_setup.dimensions", "--dim"}}) {
    if (message.starts_with(field)) message.replace(0, std::string_view(field).size(), name);
  }
  message = in_terms_of_options(*app_, message);
  const std::string subject = message.substr(0, message.find_first_of(" [,"));
  for (const auto& [option, from] : entry_of_option_) {
    if (option != subject) continue;
    throw bad_input(place(from.line) + from.key + message.substr(subject.size()));
  }
  throw std::invalid_argument(message);
}

}  // namespace common
