// SPDX-License-Identifier: BSD-3-Clause
#include "amr_checkpoint.hpp"

#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "checkpoint_file.hpp"
#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "json_numbers.hpp"

namespace common {
namespace {

constexpr auto program = "ramify amr";

/// Calls `with(name, value)` for each integer of a state.
template <class State, class With>
void for_each_count(State& state, With with) {
  with("dimensions", state.dimensions);
  with("cells", state.cells);
  with("variables", state.variables);
  with("real_bytes", state.real_bytes);
  with("steps", state.steps);
  with("next_regrid", state.next_regrid);
  with("cell_updates", state.cell_updates);
  with("regrids", state.regrids);
  with("refined", state.refined);
  with("coarsened", state.coarsened);
}

}  // namespace

void check_for_checkpoint(const amr_settings& settings) {
  const auto options = to_json(settings);
  for (const auto& [name, value] : options.items()) {
    try {
      static_cast<void>(value.dump());
    } catch (const nlohmann::json::exception&) {
      throw std::invalid_argument("--" + name +
                                  " is not UTF-8 text, and --checkpoint can store no other");
    }
  }
}

void write_amr_checkpoint(const std::filesystem::path& path, const amr_checkpoint& from) {
  const ramify::amr_state& state = from.state;
  nlohmann::json counts{{"time", state.time}, {"roots", state.roots}};
  for_each_count(state, [&](const char* name, const auto& value) { counts[name] = value; });

  std::vector<std::int32_t> levels;
  std::vector<std::uint32_t> indices;
  levels.reserve(state.leaves.size());
  indices.reserve(3 * state.leaves.size());
  for (const ramify::block_position& leaf : state.leaves) {
    levels.push_back(leaf.level);
    indices.insert(indices.end(), leaf.index.begin(), leaf.index.end());
  }
  write_checkpoint(path, {program,
                          {{"options", to_json(from.settings)},
                           {"state", counts},
                           {"frames_written", from.frames_written}},
                          {{"first_totals", from.first_totals},
                           {"levels", levels},
                           {"indices", indices},
                           {"idle", state.idle},
                           {"values", state.real_bytes == 4 ? "f32" : "f64", state.values}}});
}

void keep_checkpoints(const std::filesystem::path& path, std::uint64_t count) {
  namespace fs = std::filesystem;
  std::error_code why;
  if (count < 2 || !fs::exists(path, why)) return;
  const auto earlier = [&](std::uint64_t number) {
    return fs::path(path.string() + '.' + std::to_string(number));
  };
  const auto check = [&](const fs::path& file) {
    if (why) throw bad_output("cannot write " + file.string() + ": " + why.message());
  };
  for (std::uint64_t number = count - 1; number > 1; --number) {
    if (!fs::exists(earlier(number - 1), why)) continue;
    fs::rename(earlier(number - 1), earlier(number), why);
    check(earlier(number));
  }
  fs::remove(earlier(1), why);
  check(earlier(1));
  // write_file() replaces FILE by a new file, so this name keeps the old content.
  if (!fs::is_symlink(path)) fs::create_hard_link(path, earlier(1), why);
  // A link would lead to the new content, and some file systems have no hard links.
  if (why || fs::is_symlink(path)) fs::copy_file(path, earlier(1), why);
  check(earlier(1));
}

amr_checkpoint read_amr_checkpoint(const std::filesystem::path& path) {
  checkpoint file = read_checkpoint(path, program);
  try {
    amr_checkpoint to;
    to.settings = settings_from_json(file.settings.at("options"));
    to.frames_written =
        whole_number<std::uint32_t>("frames_written", file.settings.at("frames_written"));
    to.first_totals = file.values<double>("first_totals");
    const auto totals = field_names(to.settings.flow, ramify::amr_fields::conserved).size();
    if (to.first_totals.size() != totals) {
      throw std::invalid_argument("first_totals has " + counted(to.first_totals.size(), "number") +
                                  "; it must have " + std::to_string(totals));
    }
    ramify::amr_state& state = to.state;
    const nlohmann::json& counts = file.settings.at("state");
    state.time = number("time", counts.at("time"), 0, 1e30);
    const nlohmann::json& roots = counts.at("roots");
    for (std::size_t axis = 0; axis < 3; ++axis) {
      state.roots[axis] = whole_number("roots", roots.at(axis), 1u, 4096u);
    }
    for_each_count(state, [&](const char* name, auto& value) {
      value = whole_number<std::remove_reference_t<decltype(value)>>(name, counts.at(name));
    });

    const auto levels = file.values<std::int32_t>("levels");
    const auto indices = file.values<std::uint32_t>("indices");
    if (indices.size() != 3 * levels.size()) throw std::invalid_argument("indices without levels");
    for (std::size_t leaf = 0; leaf < levels.size(); ++leaf) {
      const std::uint32_t* const index = &indices[3 * leaf];
      state.leaves.push_back({levels[leaf], {index[0], index[1], index[2]}});
    }
    state.idle = file.values<std::uint32_t>("idle");
    for (checkpoint_array& array : file.arrays) {
      if (array.name == "values") state.values = std::move(array.bytes);
    }
    return to;
  } catch (const nlohmann::json::exception& e) {
    throw bad_input(path.string() + " cannot be continued: " + e.what());
  } catch (const std::logic_error& e) {  // std::invalid_argument, std::out_of_range
    throw bad_input(path.string() + " cannot be continued: " + e.what());
  }
}

}  // namespace common
