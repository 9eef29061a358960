// SPDX-License-Identifier: BSD-3-Clause
#include "spatial_results.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "common/cli.hpp"
#include "common/output_file.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

/// Appends a number and the character after it to a line.
template <class Number>
void append(std::string& line, Number number, char after) {
  append_number(line, number);
  line += after;
}

void write_neighbors(std::ostream& out, const spatial_results& r, std::size_t k) {
  out << "query,rank,neighbor,distance\n";
  std::string line;
  for (std::size_t i = 0; i < r.ids.size(); ++i) {
    if (r.ids[i] == ramify::no_neighbor) continue;
    line.clear();
    append(line, i / k, ',');
    append(line, i % k + 1, ',');
    append(line, r.ids[i], ',');
    append(line, r.distances[i], '\n');
    out << line;
  }
}

void write_counts(std::ostream& out, const spatial_results& r) {
  out << "query,count\n";
  std::string line;
  for (std::size_t i = 0; i < r.counts.size(); ++i) {
    line.clear();
    append(line, i, ',');
    append(line, r.counts[i], '\n');
    out << line;
  }
}

void write_labels(std::ostream& out, const spatial_results& r) {
  out << "point,cluster\n";
  std::string line;
  for (std::size_t i = 0; i < r.labels.size(); ++i) {
    line.clear();
    append(line, i, ',');
    const bool is_noise = r.labels[i] == ramify::no_cluster;
    append(line, is_noise ? std::int64_t{-1} : std::int64_t{r.labels[i]}, '\n');
    out << line;
  }
}

void write_statistics(std::ostream& out, const distance_statistics& s) {
  out << "statistic,value\n";
  for_each_statistic(s, [&](const std::string& name, std::optional<double> value) {
    std::string line = name + ',';
    if (value) append_number(line, *value);
    out << line << '\n';
  });
}

/// The mean and the range of the counts of balls.
struct count_summary {
  double mean = 0;
  std::uint32_t least = 0, most = 0;

  explicit count_summary(const std::vector<std::uint32_t>& counts) {
    if (counts.empty()) return;
    mean = static_cast<double>(std::reduce(counts.begin(), counts.end(), std::uint64_t{0})) /
           static_cast<double>(counts.size());
    least = *std::ranges::min_element(counts);
    most = *std::ranges::max_element(counts);
  }
};

}  // namespace

void write_tables(const spatial_results& r, const spatial_command_line& o) {
  const auto write = [](const std::string& file, const auto& content) {
    if (!file.empty()) write_file(file, content);
  };
  write(o.output, [&](std::ostream& out) { write_neighbors(out, r, o.nearest); });
  write(o.counts, [&](std::ostream& out) { write_counts(out, r); });
  write(o.labels, [&](std::ostream& out) { write_labels(out, r); });
  write(o.statistics, [&](std::ostream& out) { write_statistics(out, *r.statistics); });
}

nlohmann::ordered_json to_json(const spatial_results& r, int dimensions,
                               const spatial_command_line& o) {
  auto json = new_report("spatial");
  json["points"] = r.build.points;
  json["dimensions"] = dimensions;
  if (!r.columns.empty()) json["columns"] = r.columns;
  json["nodes"] = r.build.nodes;
  json.update(to_json(static_cast<const ramify::run_report&>(r.build)));
  json["seconds"] = r.total_ms * 1e-3;
  json["queries"] = r.queries;
  if (o.nearest > 0) json["nearest"] = {{"k", o.nearest}, {"work_ms", r.nearest_ms}};
  if (o.within) {
    const count_summary counts(r.counts);
    json["within"] = {{"radius", *o.within},
                      {"mean", counts.mean},
                      {"minimum", counts.least},
                      {"maximum", counts.most},
                      {"work_ms", r.within_ms}};
  }
  if (o.cluster) {
    json["clusters"] = {{"radius", *o.cluster},
                        {"min_points", o.min_points},
                        {"clusters", r.clusters.clusters},
                        {"core_points", r.clusters.core_points},
                        {"noise", r.clusters.noise},
                        {"work_ms", r.clusters.work_ms}};
  }
  if (r.statistics) {
    auto& all = json["statistics"];
    for_each_statistic(*r.statistics, [&](const std::string& name, std::optional<double> value) {
      all[name] = nullptr;
      if (value) all[name] = *value;
    });
  }
  if (o.verify) json["verified_queries"] = r.verified;
  return json;
}

void print(std::ostream& out, const spatial_results& r, int dimensions,
           const spatial_command_line& o) {
  out << "dimensions: " << dimensions << '\n';
  if (!r.columns.empty()) out << "columns: " << r.columns << '\n';
  out << r.build;
  if (o.nearest > 0) {
    out << "nearest neighbors: " << o.nearest << " of each of " << r.queries
        << " queries, milliseconds: " << r.nearest_ms << '\n';
  }
  if (o.within) {
    const count_summary counts(r.counts);
    out << "points within " << *o.within << ": " << counts.mean << " on average, " << counts.least
        << " to " << counts.most << ", milliseconds: " << r.within_ms << '\n';
  }
  if (o.cluster) {
    out << "clusters: " << r.clusters.clusters << " at distances of at most " << *o.cluster << ", "
        << r.clusters.core_points << " core points, " << r.clusters.noise
        << " points of noise, milliseconds: " << r.clusters.work_ms << '\n';
  }
  if (r.statistics) {
    for_each_statistic(*r.statistics, [&](std::string name, std::optional<double> value) {
      std::ranges::replace(name, '_', ' ');
      out << "nearest distance, " << name << ": ";
      if (value) {
        out << *value << '\n';
      } else {
        out << "not defined, because the box around the points has no "
            << (dimensions == 2 ? "area" : "volume") << '\n';
      }
    });
  }
  print_launch_costs(out, r.build);
  if (o.verify) out << "verified: " << r.verified << " queries\n";
}

}  // namespace common
