// SPDX-License-Identifier: BSD-3-Clause
// Tests the recorder of the benchmarks: its printed tables, its JSON files, and its errors.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "measure.hpp"

namespace {

using benchmark::recorder;
using benchmark::timing;
using nlohmann::json;

/// Captures the output to std::cout and std::cerr during its lifetime.
class captured_output {
 public:
  captured_output() : out_(std::cout.rdbuf(text_.rdbuf())), err_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~captured_output() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* out_;
  std::streambuf* err_;
};

/// A unique file path. The destructor removes the file.
struct temporary_file {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("ramify_recorder_test_" + std::to_string(::getpid()) + ".json");
  ~temporary_file() { std::filesystem::remove(path); }
  [[nodiscard]] json content() const { return json::parse(std::ifstream(path)); }
};

benchmark::facts this_toaster() { return {{"CPU", "a \"toaster\""}, {"slots", 2}}; }

constexpr auto small_program = [](recorder& out, const benchmark::command_line& line) {
  out.table("slices", {"n", "ms"}, "Bread");
  for (const auto& part : line.parts) out.row({part, line.quick ? 1 : 2});
};

/// Runs the program with these command-line arguments.
int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return benchmark::run({.name = "toast",
                         .about = "Toasts.",
                         .machine = this_toaster,
                         .parts = {"white", "rye"},
                         .has_quick = true},
                        static_cast<int>(arguments.size()), arguments.data(), small_program);
}

}  // namespace

BOOST_AUTO_TEST_CASE(times_have_median_minimum_and_maximum) {
  const timing t = benchmark::summarize({5, 1, 4, 2, 3});
  BOOST_TEST(t.median_ms == 3);
  BOOST_TEST(t.least_ms == 1);
  BOOST_TEST(t.most_ms == 5);
  BOOST_TEST(t.repeats == 5u);
  BOOST_CHECK_THROW((void)benchmark::summarize({}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(tables_are_printed_in_markdown) {
  const captured_output captured;
  recorder out("toast", "benchmark_toast --part rye", this_toaster());
  out.table("slices", {"what", "n", "ms"}, "Bread");
  out.row({"rye", std::uint64_t{3}, timing{1.234, 1.2, 10.26, 11}});
  out.row({{}, -1, 0.5});
  const std::string text = captured.text();
  BOOST_TEST(text.find("; CPU: a \"toaster\"; slots: 2; `benchmark_toast --part rye`\n") !=
             std::string::npos);
  BOOST_TEST(
      text.ends_with("\nBread\n\n| what | n | ms |\n| --- | --- | --- |\n"
                     "| rye | 3 | 1.23 (1.20–10.3) |\n|  | -1 | 0.500 |\n"));
}

BOOST_AUTO_TEST_CASE(tables_are_written_as_json) {
  const captured_output captured;
  recorder out("toast", "benchmark_toast", this_toaster());
  out.table("slices", {"what", "ms"}, "Bread");
  out.row({"rye\n", timing{1.2345678, 1, 2, 11}});
  out.row({{}, std::numeric_limits<double>::infinity()});
  out.quiet_table("quiet", {"n"});
  out.row({std::int64_t{1} << 40});
  const json written = json::parse(out.json());
  BOOST_TEST(written["program"] == "toast");
  BOOST_TEST(written["command"] == "benchmark_toast");
  BOOST_TEST(written["date"].get<std::string>().size() == 10u);
  BOOST_TEST(written["machine"] == json({{"CPU", "a \"toaster\""}, {"slots", 2}}));
  const json time{{"median", 1.23457}, {"least", 1.0}, {"most", 2.0}, {"repeats", 11}};
  BOOST_TEST(written["tables"][0] ==
             json({{"name", "slices"},
                   {"caption", "Bread"},
                   {"columns", {"what", "ms"}},
                   {"rows", json::array({json::array({"rye\n", time}), {nullptr, nullptr}})}}));
  BOOST_TEST(written["tables"][1]["rows"][0][0] == std::int64_t{1} << 40);
  BOOST_TEST(captured.text().find("1099511627776") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_row_with_a_wrong_number_of_cells_is_refused) {
  const captured_output captured;
  recorder out("toast", "benchmark_toast", {});
  BOOST_CHECK_THROW(out.row({1}), std::logic_error);
  out.table("slices", {"n", "ms"});
  BOOST_CHECK_EXCEPTION(out.row({1}), std::logic_error, [](const auto& e) {
    return std::string(e.what()) == "table 'slices' has 2 columns, but a row of it has 1 cells";
  });
  BOOST_CHECK_THROW(out.table("slices", {"n"}), std::logic_error);
}

BOOST_AUTO_TEST_CASE(a_program_writes_its_file) {
  const captured_output captured;
  const temporary_file file;
  BOOST_TEST(run({"/a/folder/benchmark_toast", "--part", "rye", "--json", file.path.string(),
                  "--quick"}) == 0);
  const json written = file.content();
  BOOST_TEST(written["command"] == "benchmark_toast --part rye --quick");
  BOOST_TEST(written["tables"][0]["rows"] == json::array({{"rye", 1}}));

  BOOST_TEST(run({"benchmark_toast", "--json=" + file.path.string()}) == 0);
  BOOST_TEST(file.content()["command"] == "benchmark_toast");
  BOOST_TEST(file.content()["tables"][0]["rows"] == json::array({{"white", 2}, {"rye", 2}}));
}

BOOST_AUTO_TEST_CASE(bad_options_and_files_are_refused) {
  const captured_output captured;
  BOOST_TEST(run({"benchmark_toast", "--part", "wheat"}) == 2);
  BOOST_TEST(run({"benchmark_toast", "word"}) == 2);
  BOOST_TEST(run({"benchmark_toast", "--json", "/no/such/folder/x.json"}) == 1);
  BOOST_TEST(captured.text().find("toast: cannot write /no/such/folder/x.json") !=
             std::string::npos);
  BOOST_TEST(run({"benchmark_toast", "--help"}) == 0);
}

BOOST_AUTO_TEST_CASE(a_positional_argument_may_be_a_number) {
  const auto number = [](std::vector<std::string> words) {
    return benchmark::command_line{.words = std::move(words)}.number_or(7);
  };
  BOOST_TEST(number({}) == 7u);
  BOOST_TEST(number({"12"}) == 12u);
  for (const char* bad : {"", "0", "-1", "1x", "x", "99999999999999999999"}) {
    BOOST_CHECK_THROW((void)number({bad}), std::invalid_argument);
  }
  BOOST_CHECK_THROW((void)number({"1", "2"}), std::invalid_argument);
}
