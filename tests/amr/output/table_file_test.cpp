// SPDX-License-Identifier: BSD-3-Clause
// Tables that are extended and continued.
#include "amr/output/table_file.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "full_disk.hpp"
#include "work_folder.hpp"

using common::table_file;
using tests::content;
using tests::says;
using tests::set_content;

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(rows_are_written_at_once_and_are_parsed_to_the_same_numbers) {
  const tests::work_folder folder;
  const auto path = folder / "t.csv";
  set_content(path, "an old one\n");
  table_file table(path, {"time", "mass", "a b"});
  BOOST_TEST(content(path) == "time,mass,a b\n");
  table.append({0, 1, -2.5});
  BOOST_TEST(content(path) == "time,mass,a b\n0,1,-2.5\n");
  const double third = 1.0 / 3;
  table.append({0.1 + 0.2, third, std::numeric_limits<double>::denorm_min()});
  const std::string text = content(path);
  const std::string_view row = std::string_view(text).substr(text.find("\n0.3") + 1);
  BOOST_TEST(common::parse<double>(row.substr(0, row.find(','))).value() == 0.1 + 0.2);
  BOOST_TEST(row == "0.30000000000000004,0.3333333333333333,5e-324\n");
  BOOST_CHECK_EXCEPTION(table.append({1, 2}), std::invalid_argument,
                        says("2 numbers for a table of 3"));
  BOOST_TEST(content(path) == text);
}

BOOST_AUTO_TEST_CASE(a_table_continues_at_a_time) {
  const tests::work_folder folder;
  const auto path = folder / "t.csv";
  {
    table_file table(path, {"t", "x"});
    for (int i = 0; i < 6; ++i) table.append({i * 0.1, 1.0 * i});
  }
  const std::string whole = content(path);
  {
    table_file table = table_file::resume(path, {"t", "x"}, 3 * 0.1);
    BOOST_TEST(content(path) == whole.substr(0, whole.find("0.4")));
    for (int i = 4; i < 6; ++i) table.append({i * 0.1, 1.0 * i});
  }
  BOOST_TEST(content(path) == whole);
  // A truncated row is removed, even if it could be a complete one.
  set_content(path, whole.substr(0, whole.size() - 1));
  (void)table_file::resume(path, {"t", "x"}, 10);
  BOOST_TEST(content(path) == whole.substr(0, whole.find("0.5,")));
  // The other rows are not changed.
  set_content(path, "t, x\n0.50, 1e0\r\n7,7\n");
  (void)table_file::resume(path, {"t", "x"}, 1);
  BOOST_TEST(content(path) == "t,x\n0.50, 1e0\r\n");
  // Without a file the table is new.
  (void)table_file::resume(folder / "new.csv", {"t", "x"}, 1);
  BOOST_TEST(content(folder / "new.csv") == "t,x\n");
  BOOST_TEST(folder.files() == 2u);
}

BOOST_AUTO_TEST_CASE(other_files_are_rejected_and_not_changed) {
  const tests::work_folder folder;
  const auto path = folder / "t.csv";
  const auto rejected = [&](const std::string& text, const char* what) {
    set_content(path, text);
    BOOST_CHECK_EXCEPTION((void)table_file::resume(path, {"t", "mass"}, 1), common::bad_input,
                          says(what));
    BOOST_TEST(content(path) == text);
  };
  rejected("t,energy\n0,1\n",
           "t.csv, line 1: 't,energy' has other columns than the table to continue: column 2 is "
           "'energy', and should be 'mass'");
  rejected("t\n0\n", "column 2 is missing, and should be 'mass'");
  rejected("t,mass,x\n", "column 3 is 'x', and should be none");
  rejected("", "t.csv has no line of columns");
  rejected("t,mass", "t.csv has no line of columns");
  rejected("t,mass\n0,1\n0.5\n", "line 3: '0.5' is not a row of 2 numbers");
  rejected("t,mass\n0,1,2\n", "line 2: '0,1,2' is not a row");
  rejected("t,mass\n0,one\n", "line 2: '0,one' has a mass of 'one', which is no number");
  rejected("t,mass\n\n", "line 2: '' is not a row");
  set_content(path, "t,mass\n0,1\n");
  BOOST_CHECK_THROW((void)table_file::resume(path, {"t", "mass"}, NAN), std::invalid_argument);
  BOOST_TEST(content(path) == "t,mass\n0,1\n");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  BOOST_CHECK_EXCEPTION((void)table_file::resume(path, {"t"}, 1), common::bad_input,
                        says("is a directory"));
}

BOOST_AUTO_TEST_CASE(invalid_names_of_columns) {
  const tests::work_folder folder;
  for (const char* name : {"", "a,b", "a\nb", "\"a\"", " a"}) {
    BOOST_CHECK_THROW(table_file(folder / "t.csv", {"t", name}), std::invalid_argument);
  }
  BOOST_CHECK_THROW(table_file(folder / "t.csv", {}), std::invalid_argument);
  BOOST_TEST(folder.files() == 0u);
}

BOOST_AUTO_TEST_CASE(a_row_that_cannot_be_written_is_an_error) {
  const tests::work_folder folder;
  BOOST_CHECK_EXCEPTION(table_file(folder / "no/t.csv", {"t"}), common::bad_output,
                        says("no/t.csv: no such folder"));
  table_file table(folder / "t.csv", {"t"});
  const auto fill = [&] {
    const tests::full_disk full(200);
    for (int i = 0; i < 100; ++i) table.append({i + 0.5});
  };
  BOOST_CHECK_EXCEPTION(fill(), common::bad_output, says("t.csv: File too large"));
  table_file again =
      table_file::resume(folder / "t.csv", {"t"}, 10);  // 200 bytes are enough for this
  again.append({11.5});
  BOOST_TEST(content(folder / "t.csv").ends_with("\n9.5\n11.5\n"));
}

BOOST_AUTO_TEST_SUITE_END()
