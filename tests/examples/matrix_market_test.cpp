// Matrix Market reader of the conjugate gradient example: what it reads, and what it says about damaged files.
#include "matrix_market.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

cg::csr_matrix read(const std::string& text) {
  std::istringstream in(text);
  return cg::read_matrix_market(in, "m.mtx");
}

std::vector<double> dense(const cg::csr_matrix& matrix) {
  const auto columns = static_cast<std::size_t>(matrix.columns);
  std::vector<double> result(static_cast<std::size_t>(matrix.rows()) * columns, 0.0);
  for (std::size_t row = 0; row + 1 < matrix.row_start.size(); ++row) {
    for (std::uint64_t k = matrix.row_start[row]; k < matrix.row_start[row + 1]; ++k) {
      result[row * columns + static_cast<std::size_t>(matrix.column[k])] = matrix.value[k];
    }
  }
  return result;
}

using numbers = std::vector<double>;

TEST(matrix_market, reads_general_matrix_in_any_order) {
  const auto matrix = read(general + "2 3 4\n2 3 -4e-1\n1 1 +1.5\n2 2 .25\n1 3 7\n");
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.columns, 3);
  EXPECT_EQ(matrix.nonzeros(), 4U);
  EXPECT_EQ(dense(matrix), (numbers{1.5, 0, 7, 0, 0.25, -0.4}));
}

TEST(matrix_market, mirrors_symmetric_matrix_but_not_its_diagonal) {
  EXPECT_EQ(dense(read(symmetric + "2 2 3\n1 1 4\n2 1 -1\n2 2 5\n")), (numbers{4, -1, -1, 5}));
}

TEST(matrix_market, adds_up_repeated_entries) {
  const auto matrix = read(symmetric + "2 2 5\n1 1 4\n2 1 -1\n2 2 5\n2 1 -2\n1 1 1\n");
  EXPECT_EQ(dense(matrix), (numbers{5, -3, -3, 5}));
  EXPECT_EQ(matrix.nonzeros(), 4U);
}

TEST(matrix_market, reads_integers) {
  EXPECT_EQ(dense(read("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -3\n")), (numbers{-3}));
}

TEST(matrix_market, accepts_crlf_comments_blank_lines_tabs_and_capitals) {
  const std::string text =
      "%%matrixmarket MATRIX Coordinate REAL General\r\n% comment\r\n\r\n%\r\n1 2 2\r\n"
      "\t1  1\t2.0 \r\n% between\r\n\r\n1 2 3.0";
  EXPECT_EQ(dense(read(text)), (numbers{2, 3}));
}

struct damage {
  const char* name;
  std::string text;
  std::size_t line;
  const char* message;  ///< part of what()
};
void PrintTo(const damage& one, std::ostream* out) { *out << one.name; }

class damaged_file : public testing::TestWithParam<damage> {};

TEST_P(damaged_file, is_refused_with_its_line) {
  const damage& d = GetParam();
  try {
    read(d.text);
    FAIL() << "was read";
  } catch (const cg::matrix_market_error& error) {
    EXPECT_EQ(error.line(), d.line);
    const std::string what = error.what();
    EXPECT_EQ(what.find("m.mtx:" + std::to_string(d.line) + ": "), 0U) << what;
    EXPECT_NE(what.find(d.message), std::string::npos) << what;
  }
}

const std::string two = general + "2 2 2\n";

const damage damages[] = {
    {"empty", "", 1, "the file is empty"},
    {"no_banner", "2 2 1\n1 1 1\n", 1, "does not begin with '%%MatrixMarket'"},
    {"binary", std::string("\x1f\x8b\x08\x00\x00", 5), 1, "unpack the file if it is compressed"},
    {"short_banner", "%%MatrixMarket matrix coordinate real\n", 1, "4 words instead of 5"},
    {"object", "%%MatrixMarket vector coordinate real general\n", 1, "the object is 'vector'"},
    {"array", "%%MatrixMarket matrix array real general\n", 1, "the format is 'array'"},
    {"complex", "%%MatrixMarket matrix coordinate complex general\n", 1, "the field is 'complex'"},
    {"pattern", "%%MatrixMarket matrix coordinate pattern general\n", 1, "the field is 'pattern'"},
    {"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n", 1, "the symmetry is 'skew-symmetric'"},
    {"no_size", general + "% only a comment\n", 3, "the size line is missing"},
    {"size_words", general + "% c\n2 2\n", 3, "2 words instead of 3"},
    {"size_negative", general + "-2 2 1\n", 2, "the number of rows is '-2'"},
    {"size_zero", general + "2 0 1\n", 2, "the number of columns is '0'"},
    {"size_fraction", general + "2 2 1.5\n", 2, "the number of entries is '1.5'"},
    {"size_huge", general + "99999999999999999999999 2 1\n", 2, "the number of rows is '99999"},
    {"symmetric_not_square", symmetric + "2 3 1\n", 2, "symmetric means square"},
    {"cut_off", two + "1 1 1\n", 4, "the file ends after 1 of 2 entries (announced in line 2)"},
    {"cut_in_line", two + "1 1 1\n2 2", 4, "2 words instead of 3"},
    {"claims_more_than_memory", general + "2 2 4611686018427387903\n1 1 1\n", 4, "ends after 1 of 46116860"},
    {"claims_rows", general + "2000000000 2 1\n1 1 1\n", 2, "some row must be empty"},
    {"too_many", two + "1 1 1\n2 2 1\n\n1 2 1\n", 6, "more than the 2 entries announced in line 2"},
    {"row_zero", two + "0 1 1\n2 2 1\n", 3, "the row is '0' (a whole number from 1 to 2"},
    {"row_beyond", two + "1 1 1\n3 2 1\n", 4, "the row is '3'"},
    {"column_beyond", two + "1 3 1\n2 2 1\n", 3, "the column is '3'"},
    {"index_word", two + "1 x 1\n2 2 1\n", 3, "the column is 'x'"},
    {"index_trailing", two + "1 1; 1\n2 2 1\n", 3, "the column is '1;'"},
    {"value_word", two + "1 1 one\n2 2 1\n", 3, "the value is 'one' (not a real number)"},
    {"value_comma", two + "1 1 1,5\n2 2 1\n", 3, "the value is '1,5'"},
    {"value_nan", two + "1 1 nan\n2 2 1\n", 3, "the value is 'nan'"},
    {"value_hexadecimal", two + "1 1 0x10\n2 2 1\n", 3, "the value is '0x10'"},
    {"value_sign_only", two + "1 1 -\n2 2 1\n", 3, "the value is '-'"},
    {"value_too_large", two + "1 1 1e999\n2 2 1\n", 3, "too large for double precision"},
    {"extra_word", two + "1 1 1 0\n2 2 1\n", 3, "4 words instead of 3"},
    {"fraction_in_integer_file", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", 3,
     "not an integer, as the first line announces"},
    {"above_diagonal", symmetric + "2 2 2\n1 2 1\n2 2 1\n", 3, "lies above the diagonal"},
    {"zero_bytes", two + std::string("1 1 \0\0", 6) + "\n2 2 1\n", 3, "the value is '\?\?'"},
    {"long_word", two + "1 1 " + std::string(100000, '7') + "x\n2 2 1\n", 3, "7777...'"},
};

INSTANTIATE_TEST_SUITE_P(matrix_market, damaged_file, testing::ValuesIn(damages),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(matrix_market, names_a_file_that_cannot_be_read) {
  for (const std::string path : {"/nowhere/m.mtx", "/"}) {
    try {
      cg::read_matrix_market(path);
      FAIL() << "was read";
    } catch (const cg::matrix_market_error& error) {
      EXPECT_EQ(error.line(), 0U);
      EXPECT_EQ(std::string(error.what()).find(path + ": cannot be "), 0U) << error.what();
    }
  }
}

}  // namespace
