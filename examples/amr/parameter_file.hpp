// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The parameter file of the program amr: options by the names of AMReX, regions of initial states,
/// and boxes that stay refined. examples/README.md lists the keys.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <ramify/amr.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_options.hpp"

namespace common {

/// The file of the option --input. CLI11 reads it after the command line, whose options have
/// precedence.
class parameter_file : public CLI::Config {
 public:
  /// A key of the file, and the option whose value it gives; or a key of a part, and its field.
  struct key_of_option {
    std::string_view key, option;
  };

  /// Adds the option --input. All other options must have been declared; the app must outlive the
  /// result.
  static std::shared_ptr<parameter_file> add(CLI::App& app, file_options& files);

  /// Reads the file, and gives its values to the options.
  /// \throws bad_input naming the file, the line and the key
  std::vector<CLI::ConfigItem> from_config(std::istream&) const override;
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  /// Returns the regions, for so many dimensions. \throws bad_input naming the file, line and key
  [[nodiscard]] std::vector<ramify::amr_region> regions(int dimensions) const;
  /// Returns the boxes that stay refined, to the level `max_level` unless they name another one.
  /// \throws bad_input naming the file, line and key
  [[nodiscard]] std::vector<ramify::amr_refined_box> refined_boxes(int dimensions,
                                                                   int max_level) const;

  /// Throws a message about fields and options. If its first option has its value from the file,
  /// the message names the file, the line and the key.
  /// \throws bad_input if the value is from the file, else std::invalid_argument
  [[noreturn]] void reject(const std::invalid_argument& error) const;

 private:
  /// A key with its values.
  struct entry {
    std::string key;
    std::vector<std::string> words;
    std::size_t line;
  };
  /// The entries of a region or of a box, by the names of their keys.
  struct part_entries {
    std::string name;  ///< region.NAME or amr.NAME
    std::size_t line;
    std::map<std::string, entry> entries;
  };
  using part_list = std::vector<part_entries>;

  explicit parameter_file(CLI::App& app) : app_(&app) {}

  [[nodiscard]] std::string place(std::size_t line) const;
  [[noreturn]] void reject(const entry& from, const std::string& what) const;
  [[nodiscard]] std::vector<entry> read() const;
  /// Returns the list to which a key of a region or a box belongs; null for another key.
  [[nodiscard]] part_list* parts_with(const std::string& key) const;
  void add_to(part_list& parts, const entry& from) const;
  void set_option(const entry& from) const;
  [[nodiscard]] int dimensions() const;
  /// Reads the `count` numbers of a key, which must exist.
  void read(const part_entries& from, const char* key, int count, double* to) const;
  [[nodiscard]] ramify::amr_region region_of(const part_entries& from, int dimensions) const;
  /// Returns the text of a message about a field of a region or a box, or an empty text.
  [[nodiscard]] std::string about_part(const std::string& message) const;

  CLI::App* app_;
  // CLI11 calls from_config() of a const object.
  mutable std::string path_;
  mutable std::map<std::string, entry> entry_of_option_;
  mutable part_list regions_, boxes_;
};

}  // namespace common
