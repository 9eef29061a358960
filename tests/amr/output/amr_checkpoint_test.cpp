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
#include "common/output_file.hpp"
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

BOOST_AUTO_TEST_CASE(a_checkpoint_has_the_regions_and_the_output) {
  const tests::work_folder folder;
  common::amr_checkpoint own;
  common::amr_settings& s = own.settings;
  s.flow = recommended_setup(ramify::amr_problem::regions, 2);
  s.flow.options.mesh.roots = {1, 1, 1};
  s.flow.options.mesh.max_level = 0;
  s.flow.options.mesh.sides[0] = {ramify::boundary::prescribed, ramify::boundary::reflecting};
  s.flow.options.mesh.upper[1] = 2;
  s.flow.gamma = 1.25;
  s.flow.gravity = {0, -0.5, 0};
  s.flow.regions.push_back({.shape = ramify::amr_shape::ball,
                            .point = {0.1, 1, 0},
                            .radius = 1.0 / 3,
                            .density = 2,
                            .velocity = {3, 4, 0},
                            .pressure = 5});
  s.field = "density";
  s.float32 = true;
  s.range = {0.1, 7};
  s.slices = {"x=0.5"};
  s.lines = {"0,0:1,2"};
  s.probes = {"0,0", "1,1"};
  const ramify::amr_simulation simulation(s.flow, on_cpu);
  own.first_totals = simulation.totals();
  own.state = simulation.state();
  write_amr_checkpoint(folder / "c", own);
  const common::amr_settings back = read_amr_checkpoint(folder / "c").settings;
  BOOST_TEST((back.flow.regions == s.flow.regions));
  BOOST_TEST((back.flow.gravity == s.flow.gravity));
  BOOST_TEST((back.flow.options.mesh.sides == s.flow.options.mesh.sides));
  BOOST_TEST((back.flow.options.mesh.upper == s.flow.options.mesh.upper));
  BOOST_TEST(back.flow.gamma == 1.25);
  BOOST_TEST((back.float32 && back.range == s.range && back.slices == s.slices &&
              back.lines == s.lines && back.probes == s.probes));

  // The settings of an earlier version, which had customary domains only.
  checkpoint old = read_checkpoint(folder / "c", program);
  for (const char* name : {"prob-lo", "prob-hi", "lo-bc", "hi-bc", "gamma", "gravity", "regions",
                           "float32", "range", "slice", "line", "probe"}) {
    old.settings["options"].erase(name);
  }
  old.settings["options"]["problem"] = "sod";
  write_checkpoint(folder / "old", old);
  const common::amr_settings read = read_amr_checkpoint(folder / "old").settings;
  BOOST_TEST(read.flow.gamma == 1.4);
  BOOST_TEST((read.flow.options.mesh.sides[0][0] == ramify::boundary::outflow));
  BOOST_TEST(read.slices.empty());
}

BOOST_AUTO_TEST_CASE(kept_checkpoints_move_on) {
  const tests::work_folder folder;
  const auto write = [&](const char* text) {
    common::keep_checkpoints(folder / "c", 3);
    common::write_file(folder / "c", [&](std::ostream& out) { out << text; });
  };
  for (const char* text : {"a", "b", "c", "d"}) write(text);
  BOOST_TEST(tests::content(folder / "c") == "d");
  BOOST_TEST(tests::content(folder / "c.1") == "c");
  BOOST_TEST(tests::content(folder / "c.2") == "b");
  BOOST_TEST(folder.files() == 3u);
  common::keep_checkpoints(folder / "c", 1);  // nothing to keep
  BOOST_TEST(tests::content(folder / "c.1") == "c");
  // A folder with files has the name of an earlier checkpoint.
  std::filesystem::remove(folder / "c.1");
  std::filesystem::create_directories(folder / "c.1" / "more");
  BOOST_CHECK_EXCEPTION(common::keep_checkpoints(folder / "c", 2), common::bad_output,
                        says("c.1: "));
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
  refuse("/options/lo-bc/0", "wall", "lo-bc is 'wall'");
  refuse("/options/prob-hi/1", -1, "amr_options.mesh.upper[1] is -1");
  refuse("/options/gamma", 0.5, "gamma is 0.5; it must be a number in [1, 1e+06]");
  refuse("/options/gravity/0", 1, "amr_setup.gravity[0] is 1; it must be 0");
  refuse("/options/slice", json::array({"q=1"}), "--slice: 'q=1' is no slice");
  refuse("/options/probe", json::array({"7,7"}), "--probe '7,7' is outside of the domain");
  refuse("/options/range", json::array({1, 1}), "--range has an end");
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
