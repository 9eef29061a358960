// SPDX-License-Identifier: BSD-3-Clause
#include "amr_folder.hpp"

#include <algorithm>
#include <iomanip>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/output_file.hpp"
#include "output/plotfile.hpp"

namespace common {
namespace fs = std::filesystem;
namespace {

/// Returns an absolute path without links, as far as it exists. \throws bad_output
fs::path without_links(const std::string& option, const fs::path& path) {
  std::error_code why;
  fs::path found = fs::absolute(path, why);
  if (!why) found = fs::weakly_canonical(found, why);
  if (why) throw bad_output(option + ": cannot write " + path.string() + ": " + why.message());
  return found;
}

/// Returns the pattern of the names of the frames and of their list.
std::regex names_of_frames(const amr_settings& s) {
  return std::regex(std::string(to_string(s.flow.problem)) +
                    R"((_[0-9]{4,}\.(vtu|htg|png|(slice|line)[0-9]+\.csv)|\.pvd))");
}

}  // namespace

run_folder::run_folder(const fs::path& folder) {
  std::error_code why;
  for (fs::path part = fs::absolute(folder / ".").parent_path(); !fs::exists(part, why);
       part = part.parent_path()) {
    made_.push_back(part);
  }
  fs::create_directories(folder, why);
  if (!why) return;
  remove_empty();
  throw bad_output("cannot make " + folder.string() + ": " + why.message());
}

void run_folder::remove_empty() const {
  std::error_code why;
  for (const fs::path& part : made_) fs::remove(part, why);  // fails unless it is empty
}

fs::path history_path(const amr_settings& s) { return fs::path(s.output_dir) / "history.csv"; }

fs::path probes_path(const amr_settings& s) { return fs::path(s.output_dir) / "probes.csv"; }

fs::path series_path(const amr_settings& s) {
  return fs::path(s.output_dir) / (std::string(to_string(s.flow.problem)) + ".pvd");
}

fs::path frame_path(const amr_settings& s, std::uint32_t number) {
  std::ostringstream name;
  name << to_string(s.flow.problem) << '_' << std::setfill('0') << std::setw(4) << number;
  return fs::path(s.output_dir) / name.str();
}

std::string mesh_extension(const amr_settings& s) { return s.htg ? ".htg" : ".vtu"; }

std::vector<std::string> frame_extensions(const amr_settings& s) {
  std::vector<std::string> all{mesh_extension(s), ".png"};
  const auto add = [&](const char* kind, std::size_t count) {
    for (std::size_t i = 1; i <= count; ++i) all.push_back(kind + std::to_string(i) + ".csv");
  };
  add(".slice", s.slices.size());
  add(".line", s.lines.size());
  return all;
}

void check_own_names(const amr_settings& s, const file_options& files) {
  const fs::path folder = without_links("--output-dir", s.output_dir);
  for (const auto& [option, file] : files.given()) {
    const fs::path path = without_links(option, file);
    const std::string name = path.filename().string();
    if (path.parent_path() != folder) continue;
    if (name == history_path(s).filename() || name == probes_path(s).filename() ||
        std::regex_match(name, names_of_frames(s))) {
      throw std::invalid_argument(option + " is " + file +
                                  ", a file that the program writes itself in --output-dir");
    }
  }
}

void check_kept_names(const std::string& checkpoint, std::uint64_t keep,
                      const file_options& files) {
  if (checkpoint.empty() || keep < 2) return;
  for (std::uint64_t number = 1; number < keep; ++number) {
    const fs::path earlier =
        without_links("--checkpoint", checkpoint + '.' + std::to_string(number));
    for (const auto& [option, file] : files.given()) {
      if (without_links(option, file) != earlier) continue;
      throw std::invalid_argument(option + " is " + file + ", which --keep replaces");
    }
    check_output_file(earlier);
  }
}

void check_own_files(const amr_settings& s, std::uint32_t first) {
  check_output_file(history_path(s));
  if (!s.probes.empty()) check_output_file(probes_path(s));
  if (s.frames == 0) return;
  check_output_file(series_path(s));
  bool exists = true;
  for (std::uint32_t number = first; exists && number >= first; ++number) {
    exists = false;
    for (const std::string& extension : frame_extensions(s)) {
      const fs::path frame = frame_path(s, number).string() + extension;
      check_output_file(frame);
      std::error_code ignored;
      exists = exists || fs::exists(frame, ignored);
    }
  }
}

void check_plotfile_folder(const std::string& plotfile, const amr_settings& s,
                           const file_options& files) {
  fs::path folder = without_links("--plotfile", plotfile);
  if (!folder.has_filename()) folder = folder.parent_path();  // the name ends with a slash
  const auto check_outside = [&](const std::string& option, const fs::path& path) {
    const fs::path other = without_links(option, path) / "";
    const auto [of_folder, of_other] =
        std::mismatch(folder.begin(), folder.end(), other.begin(), other.end());
    if (of_folder != folder.end()) return;
    throw std::invalid_argument(option + " is " + path.string() +
                                ", which is in the folder of --plotfile");
  };
  check_outside("--output-dir", s.output_dir);
  for (const auto& [option, file] : files.given()) check_outside(option, file);
  try {
    check_plotfile(plotfile, files.force);
  } catch (const bad_output& e) {
    throw bad_output(std::string("--plotfile: ") + e.what());
  }
}

std::vector<fs::path> old_frames(const amr_settings& s, bool force) {
  const std::regex frame = names_of_frames(s);
  std::vector<fs::path> found;
  std::error_code no_folder;
  for (const auto& entry : fs::directory_iterator(s.output_dir, no_folder)) {
    if (std::regex_match(entry.path().filename().string(), frame)) found.push_back(entry.path());
  }
  if (!found.empty() && !force) {
    throw std::invalid_argument("--output-dir " + s.output_dir + " has frames of another run, " +
                                "such as " + std::ranges::min(found).filename().string() +
                                "; choose another folder, or replace them with --force");
  }
  if (force) replace_read_only_files();
  for (const fs::path& old : found) check_output_file(old);
  return found;
}

void remove_files(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    std::error_code why;
    fs::remove(file, why);
    if (why) throw bad_output("cannot remove " + file.string() + ": " + why.message());
  }
}

}  // namespace common
