// SPDX-License-Identifier: BSD-3-Clause
// One line of a valid file is changed at random. A reader either refuses the file and names the
// line, or its numbers are those of a simple reading of the same text by strtod(). A file that the
// simple reading accepts must not be refused.
//
// Each reader is tested with a fixed number of changes. All readers together are then tested for
// the number of seconds in the environment variable RAMIFY_FUZZ_SECONDS.
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <string_view>

#include "common/text_file.hpp"
#include "effort.hpp"
#include "mutations.hpp"
#include "reader_table.hpp"
#include "simple_reading.hpp"

namespace {

using namespace reader_tests;

/// Returns whether a message may name another line than the one that was changed: if the first line
/// decides about the form of the others, or if a later line contradicts the changed one.
bool may_name_another(const std::string& message, bool is_first_line) {
  const auto has = [&](const char* text) { return message.find(text) != message.npos; };
  return (is_first_line && (has("the lines before it have") || has(".xyz") || has("UTF-16") ||
                            has("the first line states") || has("it must have "))) ||
         has("a second parent") || has("nodes, numbered from") || has("its size states") ||
         has("announces") || has("flow_shop_instance.times is");
}

std::string joined(const texts& words) {
  std::string line;
  for (const std::string& word : words) (line += line.empty() ? "" : " ") += word;
  return line;
}

/// Changes one line. Returns whether the reader accepts the file.
bool change_a_line(const text_reader& reader, const scratch_file& file, std::uint64_t number) {
  std::mt19937_64 random(number);
  texts lines;
  for (const texts& words : reader.words) {
    lines.push_back(joined(words));
  }
  const std::size_t changed = random() % lines.size();
  std::string& line = lines[changed];
  do {  // a comment before the edges may state the size of a KONECT file
    line = mutated(joined(reader.words[changed]), random);
  } while (reader.name == "graph konect" && without_ends(line, " \t\r").starts_with('%'));
  for (char& c : line) c = c == '\n' ? ' ' : c;
  std::string content;
  for (const std::string& text : lines) content += text + '\n';
  file.write(reader.content(content));
  if (changed == 0 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);

  // A first line of another length decides about points: the simple reading follows it.
  text_reader form = reader;
  const std::string data = without_ends(line, " \t\r");
  const auto words = simple_words(data);
  const bool decides =
      reader.name.starts_with("points") && changed == 0 && !is_skipped(reader, data);
  if (decides && words && (words->size() == 2 || words->size() == 3)) {
    form.words[0].resize(words->size());
  }
  const auto expected = simple_reading(form, lines);
  try {
    const texts read = reader.read(file.path);
    BOOST_TEST((expected && read == *expected), "other numbers are read");
    return true;
  } catch (const common::bad_input& e) {
    const std::string message = e.what();
    BOOST_TEST(!expected, "a valid file is refused: " << message);
    const std::size_t changed_line = reader.lines_of_lead() + changed + 1;
    const std::string place = ", line " + std::to_string(changed_line) + ": ";
    BOOST_TEST((message.find(place) != message.npos || may_name_another(message, changed == 0)),
               "line " << changed_line << " was changed: " << message);
    return false;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mutated_lines)

BOOST_AUTO_TEST_CASE(all_readers) {
  const scratch_file file("ramify_mutated_line");
  const auto readers = text_readers();
  for (const text_reader& reader : readers) {
    std::uint64_t accepted = 0;
    std::uint64_t number = 0;
    const tests::random_cases cases(300, 1 / static_cast<double>(readers.size()));
    for (; cases.has(number); ++number) {
      BOOST_TEST_CONTEXT(reader.name << ", mutation " << number) {
        if (change_a_line(reader, file, number)) ++accepted;
      }
    }
    BOOST_TEST(accepted >= number / 50, reader.name << ": " << accepted << " are accepted");
    BOOST_TEST(number - accepted >= number / 4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
