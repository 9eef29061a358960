// SPDX-License-Identifier: BSD-3-Clause
#include "pvd_series.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "xml_text.hpp"

namespace common {
namespace {

constexpr std::array<std::string_view, 3> pvd_head{
    R"(<?xml version="1.0"?>)",
    R"(<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">)", "<Collection>"};
constexpr std::array<std::string_view, 2> pvd_foot{"</Collection>", "</VTKFile>"};
constexpr std::array<std::string_view, 3> pvd_entry{R"(<DataSet timestep=")",
                                                    R"(" group="" part="0" file=")", R"("/>)"};

/// Returns the shortest text that is parsed to the same number.
std::string exact(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

void write_pvd(std::ostream& out, const std::vector<pvd_series::entry>& entries) {
  for (const std::string_view line : pvd_head) out << line << '\n';
  for (const pvd_series::entry& e : entries) {
    out << pvd_entry[0] << exact(e.time) << pvd_entry[1] << xml_escaped(e.file) << pvd_entry[2]
        << '\n';
  }
  for (const std::string_view line : pvd_foot) out << line << '\n';
}

std::optional<pvd_series::entry> parse_entry(std::string_view line) {
  if (!line.starts_with(pvd_entry[0]) || !line.ends_with(pvd_entry[2])) return std::nullopt;
  line.remove_prefix(pvd_entry[0].size());
  const auto middle = line.find(pvd_entry[1]);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto time = parse<double>(line.substr(0, middle));
  line.remove_prefix(middle + pvd_entry[1].size());
  if (line.size() < pvd_entry[2].size()) return std::nullopt;
  line.remove_suffix(pvd_entry[2].size());
  const auto file = xml_unescaped(line);
  if (!time || !std::isfinite(*time) || !file) return std::nullopt;
  return pvd_series::entry{*time, *file};
}

std::vector<pvd_series::entry> read_pvd(const std::filesystem::path& path) {
  std::vector<pvd_series::entry> entries;
  std::size_t head = 0;  // lines read
  std::size_t foot = 0;
  for_each_line(path, [&](const text_line& line) {
    if (head < pvd_head.size()) {
      if (line.text == pvd_head[head++]) return;
    } else if (foot < pvd_foot.size() && line.text == pvd_foot[foot]) {
      ++foot;
      return;
    } else if (const auto e = foot == 0 ? parse_entry(line.text) : std::nullopt) {
      if (entries.empty() || entries.back().time < e->time) {
        entries.push_back(*e);
        return;
      }
    }
    line.reject("is not what this program writes there, so the collection cannot be continued");
  });
  if (foot < pvd_foot.size())
    throw bad_input(path.string() + " is not a complete ParaView collection");
  return entries;
}

}  // namespace

pvd_series pvd_series::resume(std::filesystem::path path, double time) {
  if (std::isnan(time)) throw std::invalid_argument("pvd_series: the time is NaN");
  pvd_series series(std::move(path));
  std::error_code why;
  if (std::filesystem::status(series.path_, why).type() == std::filesystem::file_type::not_found) {
    return series;
  }
  series.entries_ = read_pvd(series.path_);
  std::erase_if(series.entries_, [&](const entry& e) { return !(e.time <= time); });
  return series;
}

void pvd_series::add(double time, const std::filesystem::path& file) {
  if (!std::isfinite(time)) throw std::invalid_argument("pvd_series: a time that is not finite");
  std::vector<entry> entries = entries_;
  std::erase_if(entries, [&](const entry& e) { return e.time >= time; });
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  std::error_code why;
  const auto relative = std::filesystem::proximate(file, folder, why);
  entries.push_back({time, (why ? file : relative).generic_string()});
  write_file(path_, [&](std::ostream& out) { write_pvd(out, entries); });
  entries_ = std::move(entries);
}

}  // namespace common
