// SPDX-License-Identifier: BSD-3-Clause
#include "file_options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <tuple>

#include "output_file.hpp"

namespace common {
namespace {

namespace fs = std::filesystem;

/// Two names of the same file have the same identity. A file that does not exist yet is identified
/// by its folder and its name.
using identity = std::tuple<dev_t, ino_t, std::string>;

identity identity_of(const std::string& file, bool is_output) {
  struct stat found {};
  if (file == "-") {
    if (::fstat(is_output ? STDOUT_FILENO : STDIN_FILENO, &found) == 0 && S_ISREG(found.st_mode)) {
      return {found.st_dev, found.st_ino, ""};
    }
    return {0, is_output ? 1 : 0, "-"};
  }
  if (::stat(file.c_str(), &found) == 0) return {found.st_dev, found.st_ino, ""};
  const fs::path folder = fs::path(file).parent_path();
  if (::stat(folder.empty() ? "." : folder.c_str(), &found) != 0) return {0, 0, file};
  return {found.st_dev, found.st_ino, fs::path(file).filename().string()};
}

}  // namespace

bool has_extension(const std::string& file, const std::string& extension) {
  return std::ranges::equal(
      fs::path(file).extension().string(), extension,
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

CLI::Option* file_options::add_input(CLI::App& app, const std::string& name, std::string& file,
                                     const std::string& about) {
  auto* const option = app.add_option(name, file, about)->type_name("FILE");
  add_input(option);
  return option;
}

CLI::Option* file_options::add_output(CLI::App& app, const std::string& name, std::string& file,
                                      const std::string& about, const std::string& may_replace) {
  if (app.get_option_no_throw("--force") == nullptr) {
    app.add_flag("--force", force, "Replace read-only files");
  }
  auto* const option = app.add_option(name, file, about)->type_name("FILE");
  all_.push_back({option, true, may_replace});
  return option;
}

void file_options::add_report(CLI::App& app, std::string& report) {
  add_output(app, "--report", report,
             "The report on standard output: text or json. Or a file that ends in .json: the JSON "
             "in this file, and the text on standard output")
      ->type_name("text|json|FILE")
      ->default_str(report)
      ->check([](const std::string& value) -> std::string {
        if (value == "text" || value == "json" || has_extension(value, ".json")) return {};
        return "'" + value + "' is neither text nor json nor the name of a file that ends in .json";
      });
}

std::optional<std::string> file_options::file_option::file() const {
  if (option->count() == 0) return std::nullopt;
  const std::string& value = option->results().front();
  if (option->get_name() == "--report" && (value == "text" || value == "json")) return std::nullopt;
  return value;
}

std::vector<file_options::named_file> file_options::given() const {
  std::vector<named_file> files;
  for (const file_option& one : all_) {
    if (const auto file = one.file()) files.push_back({one.option->get_name(), *file});
  }
  return files;
}

void file_options::check() const {
  struct checked_file {
    const file_option* option;
    std::string name, file;
    identity same;
  };
  std::vector<checked_file> given;
  for (const file_option& one : all_) {
    const auto file = one.file();
    if (!file) continue;
    const std::string name = one.option->get_name();
    if (file->empty()) throw std::invalid_argument(name + " is empty; it must name a file");
    given.push_back({&one, name, *file, identity_of(*file, one.is_output)});
  }
  for (const checked_file& output : given) {
    if (!output.option->is_output) continue;
    for (const checked_file& other : given) {
      if (&other == &output || other.same != output.same) continue;
      if (other.option->is_output) {
        throw std::invalid_argument(output.name + " and " + other.name + " name the same file");
      }
      if (output.option->may_replace != other.name) {
        throw std::invalid_argument(output.name + " is the input file of " + other.name +
                                    ", which is never changed");
      }
    }
  }
  // If standard output went to one of the files, the report would change an input, or would be lost
  // when the output file is replaced.
  const identity printed = identity_of("-", true);
  for (const checked_file& one : given) {
    if (one.same != printed || (one.option->is_output && one.file == "-")) continue;
    throw std::invalid_argument(one.name + " is the file that standard output goes to");
  }
  if (force) replace_read_only_files();
  for (const checked_file& output : given) {
    if (output.option->is_output) check_output_file(output.file);
  }
}

std::ostream& report_stream(const std::string& output) {
  return output == "-" ? std::cerr : std::cout;
}

}  // namespace common
