// SPDX-License-Identifier: BSD-3-Clause
// All readers of the example programs follow one rule for lines, words and numbers. Each rule is
// tested with each reader.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "common/text_file.hpp"
#include "reader_table.hpp"

namespace {

using namespace reader_tests;

/// Joins the words of the lines of a file.
std::string joined(const table& lines, std::string_view separator = " ",
                   std::string_view end = "\n") {
  std::string text;
  for (const auto& words : lines) {
    for (std::size_t i = 0; i < words.size(); ++i) (text += i == 0 ? "" : separator) += words[i];
    text += end;
  }
  return text;
}

/// Returns the lines with a text before each number that has no sign.
table with_prefix(table lines, const std::string& prefix) {
  for (auto& words : lines) {
    for (auto& word : words) {
      if (word[0] >= '0' && word[0] <= '9') word.insert(0, prefix);
    }
  }
  return lines;
}

/// A text with the same numbers, which each reader must accept.
struct accepted_rule {
  const char* name;
  std::function<std::string(const table&)> text;
};

const accepted_rule accepted_rules[] = {
    {"blanks", [](const table& t) { return joined(t); }},
    {"several blanks and tabs", [](const table& t) { return joined(t, " \t  "); }},
    {"tabs", [](const table& t) { return joined(t, "\t"); }},
    {"commas", [](const table& t) { return joined(t, ","); }},
    {"commas and blanks", [](const table& t) { return joined(t, " , "); }},
    {"semicolons", [](const table& t) { return joined(t, ";"); }},
    {"semicolons and blanks", [](const table& t) { return joined(t, "; "); }},
    {"blanks at both ends", [](const table& t) { return "  " + joined(t, " ", " \t\n "); }},
    {"plus signs", [](const table& t) { return joined(with_prefix(t, "+")); }},
    {"leading zeros", [](const table& t) { return joined(with_prefix(t, "00")); }},
    {"Windows line ends", [](const table& t) { return joined(t, " ", "\r\n"); }},
    {"a byte order mark", [](const table& t) { return "\xef\xbb\xbf" + joined(t); }},
    {"no end of the last line",
     [](const table& t) {
       std::string text = joined(t);
       text.pop_back();
       return text;
     }},
    {"blank lines", [](const table& t) { return "\n \t\n" + joined(t, " ", "\n\r\n\n"); }},
    {"comments",
     [](const table& t) {
       return "# 1 2 3\n% x\n  #\n" + joined(t, " ", "\n%% nothing\n \t# 7\n") + "#";
     }},
};

/// A change of the last line with data, which each reader must refuse. The message has a text.
struct refused_rule {
  const char* name;
  std::function<std::string(const texts&)> line;
  const char* message;
};

std::string with_last_word(texts words, const std::string& word) {
  words.back() = word;
  return joined({words}, " ", "");
}

const refused_rule refused_rules[] = {
    {"a comma at the end", [](const texts& w) { return joined({w}, ",", ","); },
     "has an empty field"},
    {"a comma at the beginning", [](const texts& w) { return "," + joined({w}, " ", ""); },
     "has an empty field"},
    {"two semicolons", [](const texts& w) { return joined({w}, " ", " ;; 1"); },
     "has an empty field"},
    {"commas and semicolons", [](const texts& w) { return joined({w}, " ", ",1;2"); },
     "has commas and semicolons"},
    {"a word more", [](const texts& w) { return joined({w}, " ", " 7 8"); }, ""},
    {"no number", [](const texts& w) { return with_last_word(w, "1x"); }, ""},
    {"a decimal comma", [](const texts& w) { return with_last_word(w, "1,5"); }, ""},
    {"two signs", [](const texts& w) { return with_last_word(w, "+-1"); }, ""},
    {"two plus signs", [](const texts& w) { return with_last_word(w, "++1"); }, ""},
    {"a sign alone", [](const texts& w) { return with_last_word(w, "+"); }, ""},
    {"a hexadecimal number", [](const texts& w) { return with_last_word(w, "0x10"); }, ""},
    {"a carriage return", [](const texts& w) { return with_last_word(w, "1\r1"); }, R"(1\r1)"},
    {"a C1 control character", [](const texts& w) { return with_last_word(w, "1\xc2\x9b"); },
     R"(1\u009b)"},
    {"a byte that is no text", [](const texts& w) { return with_last_word(w, "1\x9b"); },
     R"(1\x9b)"},
    {"a change of direction",
     [](const texts& w) {
       return with_last_word(w,
                             "\xe2\x80\xae"
                             "1");
     },
     R"(\u202e1)"},
};

/// Returns the message of a reader that refuses a text, or an empty text.
std::string message_for(const text_reader& reader, const scratch_file& file,
                        const std::string& text) {
  file.write(reader.content(text));
  try {
    (void)reader.read(file.path);
    return {};
  } catch (const common::bad_input& e) {
    return e.what();
  }
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

common::point_set points_of(const std::string& text, const common::column_list& columns = {}) {
  const scratch_file file("ramify_points");
  file.write(text);
  return common::read_points(file.path, columns);
}

/// Checks that a call refuses its input with a message that has a text.
template <class Call>
void refuses(std::string_view part, Call call) {
  std::string message = "nothing is refused";
  try {
    call();
  } catch (const common::bad_input& e) {
    message = e.what();
  }
  BOOST_TEST(contains(message, part), "'" << part << "' is not in: " << message);
}

std::vector<std::int32_t> forest_of(const std::string& text, const common::forest_notation& how) {
  const scratch_file file("ramify_forest");
  file.write(text);
  return common::read_forest(file.path, how);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reader_rules)

BOOST_AUTO_TEST_CASE(accepted_by_all) {
  const scratch_file file("ramify_accepted");
  for (const text_reader& reader : text_readers()) {
    file.write(reader.content(joined(reader.words)));
    const texts expected = reader.read(file.path);
    for (const accepted_rule& rule : accepted_rules) {
      const std::string message = message_for(reader, file, rule.text(reader.words));
      BOOST_TEST(message == "", reader.name << ", " << rule.name << ": " << message);
      if (message.empty()) BOOST_TEST(reader.read(file.path) == expected, reader.name << rule.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(refused_by_all) {
  const scratch_file file("ramify_refused");
  for (const text_reader& reader : text_readers()) {
    table before = reader.words;
    const texts last = before.back();
    before.pop_back();
    for (const refused_rule& rule : refused_rules) {
      // The line has this number although a comment and an empty line precede it.
      const std::string text = "# a comment\n\n" + joined(before) + rule.line(last) + "\n";
      const std::string message = message_for(reader, file, text);
      const std::size_t number = reader.lines_of_lead() + before.size() + 3;
      const std::string line = ", line " + std::to_string(number) + ": '";
      BOOST_TEST(contains(message, line), reader.name << ", " << rule.name << ": " << message);
      BOOST_TEST(contains(message, rule.message),
                 reader.name << ", " << rule.name << ": " << message);
    }
  }
}

// Readers of real numbers name overflow and underflow, and refuse to round a whole number.
BOOST_AUTO_TEST_CASE(range_of_numbers) {
  const scratch_file file("ramify_range");
  for (const text_reader& reader : text_readers()) {
    if (!reader.is_real && reader.name != "real numbers") continue;
    table lines = reader.words;
    const auto message_with = [&](const std::string& word) {
      lines.back().back() = word;
      return message_for(reader, file, joined(lines));
    };
    const std::string line = ", line " + std::to_string(lines.size()) + ": '";
    for (const auto& [word, part] :
         {std::pair{"1e-400", "too small for a double (underflow)"},
          {"-1e-400", "too small for a double (underflow)"},
          {"2e-324", "too small for a double (underflow)"},
          {"1e-99999999999999999999", "(underflow)"},
          {"1e400", "too large for a double (overflow)"},
          {"-1e99999999999999999999", "too large for a double (overflow)"},
          {"9007199254740993", "round"},
          {"-9007199254740993.00", "round"}}) {
      const std::string message = message_with(word);
      BOOST_TEST(contains(message, line), reader.name << ", " << word << ": " << message);
      BOOST_TEST(contains(message, part), reader.name << ", " << word << ": " << message);
    }
    for (const char* word : {"0e-400", "-0", "5e-324", "9007199254740994", "1e22", "1.", ".5"}) {
      BOOST_TEST(message_with(word) == "", reader.name << ", " << word);
    }
  }
}

BOOST_AUTO_TEST_CASE(overflow_and_underflow) {
  using common::number_error;
  double d = 7;
  BOOST_CHECK(common::parse_number("0." + std::string(400, '0') + "1", d) ==
              number_error::underflow);
  BOOST_CHECK(common::parse_number("0." + std::string(400, '0') + "1e500", d) ==
              number_error::none);
  BOOST_CHECK(common::parse_number(std::string(400, '1'), d) == number_error::overflow);
  BOOST_CHECK(common::parse_number(std::string(400, '1') + "e-800", d) == number_error::underflow);
  float f = 0;
  BOOST_CHECK(common::parse_number("1e39", f) == number_error::overflow);
  BOOST_CHECK(common::parse_number("1e-46", f) == number_error::underflow);
  std::int32_t i = 0;
  BOOST_CHECK(common::parse_number("-2147483649", i) == number_error::overflow);
  BOOST_CHECK(common::parse_number("+2147483647", i) == number_error::none);
  BOOST_CHECK(common::parse_number("1.5", i) == number_error::not_a_number);
  std::uint64_t u = 0;
  BOOST_CHECK(common::parse_number("-1", u) == number_error::overflow);
  BOOST_CHECK(common::parse_number("-", u) == number_error::not_a_number);
  // The neighbors of 2^24 are 2^24 - 1 and 2^24 + 2.
  BOOST_TEST(!common::rounds_whole_number<float>("16777216"));
  BOOST_TEST(common::rounds_whole_number<float>("16777217"));
  BOOST_TEST(!common::rounds_whole_number<float>("16777217.5"));
}

// A header line is used, or refused as a header. It is never a row of the table. After lines that
// state a format it is a malformed line like others.
BOOST_AUTO_TEST_CASE(headers) {
  const scratch_file file("ramify_header");
  for (const text_reader& reader : text_readers()) {
    texts names;
    for (std::size_t i = 0; i < reader.words[0].size(); ++i)
      names.push_back("column" + std::to_string(i));
    const std::string message =
        message_for(reader, file, "#\n" + joined({names}, ",") + joined(reader.words, ","));
    const std::string line = ", line " + std::to_string(reader.lines_of_lead() + 2) + ": '";
    BOOST_TEST(contains(message, line + names[0]), reader.name << ": " << message);
    if (!reader.lead.empty()) continue;
    BOOST_TEST(contains(message, "header line"), reader.name << ": " << message);
  }
}

BOOST_AUTO_TEST_CASE(columns_of_bodies) {
  const scratch_file file("ramify_bodies");
  file.write("name m vz vy vx z y x\n# a star\n1 7 6 5 4 3 2 1\n");
  BOOST_TEST(read_bodies(file.path) == (texts{"1", "2", "3", "4", "5", "6", "7"}));
  const auto read = [&](const std::string& text, common::body_precision precision) {
    file.write(text);
    (void)common::read_bodies(file.path, precision);
  };
  using enum common::body_precision;
  refuses("line 1: 'x,y,z,vx,vy,vz' is a header line without the column 'm'",
          [&] { read("x,y,z,vx,vy,vz\n", float64); });
  refuses("is a header line with two columns 'x'", [&] { read("x,y,z,vx,vy,vz,m,X\n", float64); });
  refuses("line 2: '1,2,3,4,5,6,7' has 7 columns; the header line has 8",
          [&] { read("x,y,z,vx,vy,vz,m,n\n1,2,3,4,5,6,7", float64); });
  // A float can hold neither of these.
  for (const char* word : {"16777217", "1e39", "1e-46", "1e-40"}) {
    const std::string line = "0,0,0,0,0,0," + std::string(word) + "\n";
    BOOST_CHECK_NO_THROW(read(line, float64));
    refuses("line 1: '0,0,0,0,0,0," + std::string(word) + "' has a m of '",
            [&] { read(line, float32); });
  }
  BOOST_CHECK_NO_THROW(read("0.1,16777216,0,1e38,1e-37,0,1\n", float32));
}

BOOST_AUTO_TEST_CASE(columns_of_points) {
  using row = std::array<double, 3>;
  const auto first = [](const common::point_set& set) { return set.points.at(0); };
  common::point_set set = points_of("id;Y;x;mass\n1;2;3;4\n");
  BOOST_TEST(set.dimensions == 2);
  BOOST_TEST(set.columns == "x,Y");
  BOOST_TEST(first(set) == (row{3, 2, 0}));
  set = points_of("id z y x\n1 2 3 4\n");
  BOOST_TEST(set.dimensions == 3);
  BOOST_TEST(first(set) == (row{4, 3, 2}));
  set = points_of("1 2 3\n4 5 6\n");
  BOOST_TEST(set.columns == "1,2,3");
  set = points_of("1 2 3 4 5\n", common::parse_columns("4,2"));
  BOOST_TEST(set.columns == "4,2");
  BOOST_TEST(first(set) == (row{4, 2, 0}));
  set = points_of("star,ra,dec,d\nVega,2,3,4\n", common::parse_columns("d, RA"));
  BOOST_TEST(first(set) == (row{4, 2, 0}));
  refuses("line 1: '1 2 3 4' is neither two numbers x,y nor three numbers x,y,z; --columns",
          [] { (void)points_of("1 2 3 4\n"); });
  refuses("line 1: '1 2 3' has 3 columns; --columns names column '4'", [] {
    (void)points_of("1 2 3\n", {"1", "4"});
  });
  refuses("is no header line; --columns names column 'x'", [] {
    (void)points_of("1 2 3\n", {"x", "y"});
  });
  refuses("is a header line without that name; --columns names column 'q'", [] {
    (void)points_of("x y\n1 2\n", {"x", "q"});
  });
  refuses("is a header line without the columns x and y", [] { (void)points_of("x,z\n1,2\n"); });
  refuses("line 2: 'Vega,2' has a y of", [] { (void)points_of("y,x\nVega,2\n"); });
  for (const char* bad : {"", "x", "1", "x,", "0,1", "1,y", "x,1", "1,2,3,4", "-1,2", "x,y,z,x"}) {
    BOOST_CHECK_THROW((void)common::parse_columns(bad), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(xyz) {
  // Water, with charges. The comment is not read as a point, even if it has the form of one.
  for (const char* comment : {"", "# water", "1 2 3", "O 9 9 9"}) {
    const common::point_set set =
        points_of("3\n" + std::string(comment) + "\nO 0 0.5 1 -0.8\n\nH 2 3 4 0.4\n8 5 6 7 0.4\n");
    BOOST_TEST(set.dimensions == 3);
    BOOST_TEST(set.columns == "2,3,4 (.xyz)");
    BOOST_TEST_REQUIRE(set.points.size() == 3u);
    BOOST_TEST(set.points[0] == (std::array<double, 3>{0, 0.5, 1}));
    BOOST_TEST(set.points[2] == (std::array<double, 3>{5, 6, 7}));
  }
  refuses("the first line states 3 points, but the file has 1",
          [] { (void)points_of("3\n\nO 0 0 0\n"); });
  refuses("line 4: 'H 1 1 1' follows the 1 point that",
          [] { (void)points_of("1\n\nO 0 0 0\nH 1 1 1\n"); });
  refuses("line 4: '1' has 1 column;", [] { (void)points_of("1\n\nO 0 0 0\n1\n"); });
  refuses("line 3: '0.5 1 2 3' does not begin with an element",
          [] { (void)points_of("1\n\n0.5 1 2 3\n"); });
  refuses("line 3: '1 2 3' is not an element and three numbers",
          [] { (void)points_of("1\n\n1 2 3\n"); });
  refuses("line 2: 'Properties=pos:R:3:species:S:1' states other columns",
          [] { (void)points_of("1\nProperties=pos:R:3:species:S:1\n1 2 3 O\n"); });
  BOOST_TEST(points_of("1\nProperties=id:I:1:pos:R:3\n7 1 2 3\n", {"2", "3", "4"}).points.size() ==
             1u);
}

BOOST_AUTO_TEST_CASE(roots_and_first_nodes) {
  using nodes = std::vector<std::int32_t>;
  const common::forest_notation from_1{.first_node = 1};
  const common::forest_notation own{.own_parents = true};
  const common::forest_notation own_from_1{.first_node = 1, .own_parents = true};
  const common::forest_notation edges_from_1{.format = common::forest_format::edges,
                                             .first_node = 1};
  BOOST_TEST(forest_of("0\n1\n1\n-1\n", from_1) == (nodes{-1, 0, 0, -1}));
  BOOST_TEST(forest_of("0\n0\n1\n", own) == (nodes{-1, 0, 1}));
  BOOST_TEST(forest_of("1\n1\n2\n", own_from_1) == (nodes{-1, 0, 1}));
  BOOST_TEST(forest_of("1 2\n1 3\n", edges_from_1) == (nodes{-1, 0, 0}));
  BOOST_TEST(forest_of("1 1\n1 0\n", {.format = common::forest_format::edges,
                                      .own_parents = true}) == (nodes{1, -1}));
  refuses(
      "line 2: '0' makes node 0 its own parent; --own-parents accepts this for a root, whose "
      "parent is -1 otherwise, and --first-node 1",
      [] { (void)forest_of("\n0\n0\n", {}); });
  refuses("line 1: '2 2' makes node 2 its own parent",
          [] { (void)forest_of("2 2\n", {.format = common::forest_format::edges}); });
  refuses("line 4: '3' names node 3, but the file has 3 nodes, numbered from 0; --first-node 1",
          [] { (void)forest_of("1\n\n2\n3\n", {}); });
  refuses("line 2: '4' names node 4, but the file has 3 nodes, numbered from 1",
          [&] { (void)forest_of("0\n4\n1\n", from_1); });
  refuses("line 1: '0 1' is not a parent and a child, which are numbered from 1",
          [&] { (void)forest_of("0 1\n", edges_from_1); });
  // The lines of edges, after skipped lines.
  refuses("line 6: '3 2' gives node 2 a second parent; it has 1",
          [&] { (void)forest_of("#\n1 2\n\n\n1 3\n3 2\n", edges_from_1); });
}

// The text that a message quotes cannot change the terminal or hide text. Other text is readable.
BOOST_AUTO_TEST_CASE(escaped_characters) {
  using common::escaped;
  for (const std::string_view readable : {"abc ~", "\xc3\xa9", "\xe6\xbc\xa2\xe5\xad\x97",
                                          "\xf0\x9f\x8c\xb2", "\xc2\xa0", "\xe2\x80\xa7"}) {
    BOOST_TEST(escaped(readable) == readable);
  }
  BOOST_TEST(escaped("\xc2\x80|\xc2\x9f") == R"(\u0080|\u009f)");
  BOOST_TEST(escaped("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f") == R"(\u061c\u200e\u200f)");
  BOOST_TEST(escaped("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9") ==
             R"(\u202a\u202e\u2066\u2069)");
  BOOST_TEST(escaped("\xe2\x80\xa8") == R"(\u2028)");
  // Not UTF-8: a byte of a later position, too few bytes, too many bytes, half of a pair, and a
  // number that is too large.
  BOOST_TEST(escaped("\x80\x9b"
                     "1\xff") == R"(\x80\x9b1\xff)");
  BOOST_TEST(escaped("\xe2\x80") == R"(\xe2\x80)");
  BOOST_TEST(escaped("\xc1\x81\xe0\x82\x9b") == R"(\xc1\x81\xe0\x82\x9b)");
  BOOST_TEST(escaped("\xed\xa0\x80\xf4\x90\x80\x80") == R"(\xed\xa0\x80\xf4\x90\x80\x80)");
}

BOOST_AUTO_TEST_SUITE_END()
