// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of the program amr with correct checksums and wrong contents.
#include "amr/output/amr_checkpoint.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "amr/output/checkpoint_file.hpp"
#include "common/text_file.hpp"
#include "work_folder.hpp"

using common::checkpoint;
using common::read_amr_checkpoint;
using common::read_checkpoint;
using common::write_checkpoint;
using nlohmann::json;
using tests::says;

namespace {

constexpr auto program = "ramify amr";
constexpr ramify::environment on_cpu{.backend = ramify::backend::cpu};

/// Writes the checkpoint of a mesh with two levels.
void write_small_checkpoint(const std::filesystem::path& file) {
  common::amr_checkpoint small;
  ramify::amr_setup& flow = small.settings.flow;
  flow = recommended_setup(ramify::amr_problem::advect_gaussian, 2);
  flow.options.mesh.roots = {1, 1, 1};
  flow.options.mesh.max_level = 1;
  small.settings.field = "concentration";
  ramify::amr_simulation simulation(flow, on_cpu);
  simulation.advance(2);
  small.first_totals = simulation.totals();
  small.state = simulation.state();
  BOOST_TEST(small.state.leaves.size() == 4u);
  write_amr_checkpoint(file, small);
}

/// Continues a checkpoint by two steps. Its mesh may have at most 100 blocks.
void advance(common::amr_checkpoint& from) {
  ramify::amr_setup& flow = from.settings.flow;
  if (flow.options.mesh.max_blocks == 0 || flow.options.mesh.max_blocks > 100)
    flow.options.mesh.max_blocks = 100;
  ramify::amr_simulation(flow, from.state, on_cpu).advance(2, flow.end_time);
}

/// Returns a value that may have another type or be out of range.
json hostile_value(std::mt19937& random) {
  static const std::vector<json> values{
      -1, 0,       1,    2,  3,      1.5,    1e308, -1e-320,    4294967295u,       4294967296u,
      "", "float", true, "", json(), {1, 2}, {-1},  {{"a", 1}}, std::uint64_t(-1), INT64_MIN};
  return values[random() % values.size()];
}

/// Changes or removes one value of the settings.
void spoil(json& settings, std::mt19937& random) {
  std::vector<json::json_pointer> all;
  const json values = settings.flatten();
  for (const auto& [name, value] : values.items()) all.emplace_back(name);
  json::json_pointer place = all[random() % all.size()];
  if (random() % 8 == 0) place = place.parent_pointer();  // a whole object or array
  if (random() % 8 == 0 && !place.empty()) {
    json& parent = settings.at(place.parent_pointer());
    if (parent.is_object()) parent.erase(place.back());
  } else {
    settings[place] = hostile_value(random);
  }
}

/// Changes the bytes, the size, the type or the name of one array.
void spoil(std::vector<common::checkpoint_array>& arrays, std::mt19937& random) {
  common::checkpoint_array& array = arrays[random() % arrays.size()];
  switch (random() % 5) {
    case 0: array.bytes.clear(); break;
    case 1: array.bytes.resize(array.bytes.size() / 16 * 8); break;
    case 2: array.name += "x"; break;
    case 3: array.type = array.type == "u32" ? "i32" : "u32"; break;
    default:
      const std::size_t words = array.bytes.size() / 4;
      if (words == 0) break;
      const auto word = std::uint32_t(random() % 3 == 0 ? random() : random() % 7 - 3);
      std::memcpy(array.bytes.data() + 4 * (random() % words), &word, sizeof word);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_checkpoints)

BOOST_AUTO_TEST_CASE(a_checkpoint_is_read_as_written) {
  const tests::work_folder folder;
  write_small_checkpoint(folder / "c");
  common::amr_checkpoint back = read_amr_checkpoint(folder / "c");
  write_amr_checkpoint(folder / "d", back);
  BOOST_TEST((tests::content(folder / "c") == tests::content(folder / "d")));
  advance(back);
}

BOOST_AUTO_TEST_CASE(each_setting_is_checked_as_on_the_command_line) {
  const tests::work_folder folder;
  write_small_checkpoint(folder / "c");
  const checkpoint valid = read_checkpoint(folder / "c", program);
  const auto refuse = [&](const char* place, const json& value, const std::string& text) {
    checkpoint forged = valid;
    forged.settings.at(json::json_pointer(place)) = value;
    write_checkpoint(folder / "forged", forged);
    BOOST_TEST_INFO(place << " is " << value);
    BOOST_CHECK_EXCEPTION((void)read_amr_checkpoint(folder / "forged"), common::bad_input,
                          says("cannot be continued: " + text));
  };
  refuse("/options/history-every", 0, "history-every is 0; it must be a whole number in [1, ");
  refuse("/options/frames", -1, "frames is -1; it must be a whole number in [0, 4294967295]");
  refuse("/options/frames", 1.5, "frames is 1.5");
  refuse("/options/frames", 4294967296, "frames is 4294967296");
  refuse("/options/framed-until", 0, "framed-until is 0; it must be a number in");
  refuse("/options/dim", 4, "dim is 4; it must be a whole number in [2, 3]");
  refuse("/options/blocks/1", 4097, "blocks is 4097");
  refuse("/options/max-level", 19, "max-level is 19");
  refuse("/options/cfl", nullptr, "cfl is null");
  refuse("/options/t-end", -1, "t-end is -1");
  refuse("/options/field", "pressure", "--field 'pressure' is none of concentration");
  refuse("/options/output-dir", "", "--output-dir is empty");
  refuse("/frames_written", -1, "frames_written is -1");
  refuse("/state/time", -1, "time is -1");
  refuse("/state/steps", 0.5, "steps is 0.5");
  refuse("/state/roots/0", 0, "roots is 0");
  checkpoint forged = valid;
  for (auto& array : forged.arrays) {
    if (array.name == "first_totals") array.bytes.clear();
  }
  write_checkpoint(folder / "forged", forged);
  BOOST_CHECK_EXCEPTION((void)read_amr_checkpoint(folder / "forged"), common::bad_input,
                        says("first_totals has 0 numbers; it must have 1"));
}

// Each forged checkpoint is refused with a message, or can be continued.
BOOST_AUTO_TEST_CASE(no_forged_checkpoint_ends_the_program) {
  const tests::work_folder folder;
  write_small_checkpoint(folder / "c");
  const checkpoint valid = read_checkpoint(folder / "c", program);
  int continued = 0;
  int refused = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    checkpoint forged = valid;
    for (unsigned changes = 1 + random() % 2; changes > 0; --changes) {
      if (random() % 3 == 0) {
        spoil(forged.arrays, random);
      } else {
        spoil(forged.settings, random);
      }
    }
    BOOST_TEST_CONTEXT("seed " << seed) {
      try {
        write_checkpoint(folder / "forged", forged);
        common::amr_checkpoint from = read_amr_checkpoint(folder / "forged");
        advance(from);
        ++continued;
      } catch (const std::runtime_error& e) {  // bad_input, amr_error
        ++refused;
      } catch (const std::invalid_argument& e) {  // of the state, or an array that is no array
        ++refused;
      }
    }
  }
  BOOST_TEST(continued > 10);
  BOOST_TEST(refused > 100);
}

BOOST_AUTO_TEST_SUITE_END()
