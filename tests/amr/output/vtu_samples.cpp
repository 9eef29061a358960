// SPDX-License-Identifier: BSD-3-Clause
// vtu_samples <folder>: writes meshes as .vtu and .htg files and a collection of them, and prints a
// line of JSON for each with the expected contents.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "amr/output/htg_file.hpp"
#include "amr/output/pvd_series.hpp"
#include "amr/output/vtu_file.hpp"
#include "made_up_mesh.hpp"

namespace {

// read_vtu.py has the same number.
double linear(const tests::place& p) { return 1 + p[0] + 10 * p[1] + 100 * p[2]; }
double wavy(const tests::place& p) { return std::sin(3 * p[0]) * std::cos(5 * p[1]) - p[2]; }

ramify::mesh_snapshot sample(int dimensions, int cells, std::array<std::uint32_t, 3> roots,
                             double radius, int deepest) {
  ramify::mesh_snapshot mesh;
  mesh.dimensions = dimensions;
  mesh.cells = cells;
  mesh.roots = roots;
  mesh.lower = {-1, 0.5, dimensions == 3 ? 10.0 : 0.0};
  mesh.upper = {2, 1.75, dimensions == 3 ? 10.7 : 1.0};
  mesh.time = 0.1 * double(roots[0] + deepest);
  mesh.step = (std::uint64_t{1} << 40) + std::uint64_t(deepest);
  return tests::refined_at_sphere(mesh, {0.3, 1.1, 10.2}, radius, deepest,
                                  {{"linear", linear}, {"a <\"name\"> & 'more'", wavy}});
}

nlohmann::json truth(const ramify::mesh_snapshot& mesh) {
  nlohmann::json all;
  std::vector<int> levels;
  for (const auto& leaf : mesh.leaves) levels.push_back(leaf.level);
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  for (std::size_t f = 0; f < mesh.fields.size(); ++f) {
    double sum = 0;
    for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
      double volume = 1;
      for (int a = 0; a < mesh.dimensions; ++a) volume *= mesh.spacing(mesh.leaves[leaf].level, a);
      const double* values = mesh.field(leaf, f);
      for (std::size_t c = 0; c < mesh.cells_of_a_block(); ++c) sum += values[c] * volume;
    }
    all["sums"][mesh.fields[f]] = sum;
  }
  double volume = mesh.leaves.empty() ? 0 : 1;
  for (std::size_t a = 0; a < std::size_t(mesh.dimensions); ++a) {
    volume *= mesh.upper[a] - mesh.lower[a];
    all["bounds"].push_back(mesh.lower[a]);
    all["bounds"].push_back(mesh.upper[a]);
    // The width of the cells of level 0.
    all["widths"].push_back(mesh.spacing(0, int(a)));
  }
  all["dimensions"] = mesh.dimensions;
  all["cells"] = mesh.leaves.size() * mesh.cells_of_a_block();
  all["cells_of_a_block"] = mesh.cells_of_a_block();
  all["volume"] = volume;
  all["levels"] = levels;
  all["time"] = mesh.time;
  all["step"] = mesh.step;
  return all;
}

}  // namespace

int main(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder / "data");
  ramify::mesh_snapshot nothing = sample(2, 4, {1, 1, 1}, 0.3, 0);
  nothing.leaves.clear();
  nothing.values.clear();
  const std::vector<std::pair<const char*, ramify::mesh_snapshot>> all{
      {"none", nothing},
      {"flat", sample(2, 8, {3, 2, 1}, 0.4, 4)},
      {"deep", sample(3, 4, {3, 2, 2}, 0.3, 3)},
      {"one_cell", sample(3, 1, {1, 1, 1}, 0.3, 0)},
      {"wide", sample(2, 3, {7, 5, 1}, 0.2, 2)},
      {"float", sample(2, 8, {3, 2, 1}, 0.4, 2)},
      {"large", sample(2, 256, {1, 1, 1}, 0.4, 0)},  // arrays of several compressed blocks
  };
  common::pvd_series series(folder / "all & more.pvd");
  for (const auto& [name, mesh] : all) {
    const auto file = folder / "data" / (std::string(name) + " 'n' <more>.vtu");
    const bool is_float = std::string_view(name) == "float";
    common::write_vtu(file, mesh,
                      is_float ? common::vtu_numbers::float32 : common::vtu_numbers::float64);
    series.add(double(series.entries().size()) / 3, file);
    auto json = truth(mesh);
    json["name"] = name;
    json["is_float"] = is_float;
    json["file"] = file.string();
    json["listed_at"] = series.entries().back().time;
    json["is_tree"] = false;
    std::cout << json.dump() << '\n';
  }
  for (const auto& [name, mesh] : all) {
    if (mesh.leaves.empty() || mesh.cells == 3) continue;  // not for a hyper tree grid
    const auto file = folder / "data" / (std::string(name) + ".htg");
    const bool is_float = std::string_view(name) == "float";
    common::write_htg(file, mesh,
                      is_float ? common::vtu_numbers::float32 : common::vtu_numbers::float64);
    series.add(double(series.entries().size()) / 3, file);
    auto json = truth(mesh);
    json["name"] = std::string(name) + " as a hyper tree grid";
    json["is_float"] = is_float;
    json["file"] = file.string();
    json["listed_at"] = series.entries().back().time;
    json["is_tree"] = true;
    std::cout << json.dump() << '\n';
  }
}
