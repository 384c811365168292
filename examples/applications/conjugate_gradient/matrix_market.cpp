// Reader for Matrix Market files: every line is checked, every error names file and line.
#include "matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <string_view>
#include <vector>

namespace cg {
namespace {

/// A word of the file in a form that is safe to print.
std::string quoted(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text = "'";
  for (const char c : word.substr(0, longest)) text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return text + (word.size() > longest ? "...'" : "'");
}

std::string lower_case(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string_view> split(std::string_view line) {
  constexpr std::string_view blanks = " \t\v\f\r";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(words.back().size());
  }
}

struct matrix_size {
  std::int32_t rows;
  std::int32_t columns;
  std::uint64_t entries;
  std::size_t line;
};

class parser {
 public:
  parser(std::istream& in, const std::string& name) : in_(in), name_(name) {}

  csr_matrix parse() {
    read_banner();
    const matrix_size size = read_size();
    std::vector<entry> entries = read_entries(size);
    check_no_more_lines(size);
    check_enough_for_all_rows(size);
    return make_csr(size.rows, size.columns, entries);
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& message) const {
    throw matrix_market_error(name_ + ":" + std::to_string(line) + ": " + message, line);
  }
  [[noreturn]] void fail(const std::string& message) const { fail(line_number_, message); }

  bool next_line() {
    if (!std::getline(in_, line_)) {
      if (in_.bad()) fail(line_number_ + 1, "the file cannot be read on (input/output error)");
      return false;
    }
    ++line_number_;
    return true;
  }

  /// Words of the next line that is neither blank nor a comment; none at the end of the file.
  std::vector<std::string_view> next_words() {
    while (next_line()) {
      if (!line_.empty() && line_.front() == '%') continue;
      auto words = split(line_);
      if (!words.empty()) return words;
    }
    return {};
  }

  void read_banner() {
    if (!next_line())
      fail(1, "the file is empty (a Matrix Market file begins with '%%MatrixMarket'); check its download");
    const auto words = split(line_);
    if (words.empty() || lower_case(words[0]) != "%%matrixmarket") {
      fail(
          "the first line does not begin with '%%MatrixMarket' (this is not a Matrix Market file); check the path, and "
          "unpack the file if it is compressed");
    }
    if (words.size() != 5) {
      fail("the first line has " + std::to_string(words.size()) +
           " words instead of 5 (%%MatrixMarket matrix coordinate real symmetric, for example)");
    }
    if (lower_case(words[1]) != "matrix") {
      fail("the object is " + quoted(words[1]) + " (only 'matrix' can be read)");
    }
    if (lower_case(words[2]) != "coordinate") {
      fail("the format is " + quoted(words[2]) +
           " (only 'coordinate' can be read); convert dense 'array' files to coordinate format");
    }
    const std::string field = lower_case(words[3]);
    if (field != "real" && field != "integer") {
      fail("the field is " + quoted(words[3]) +
           " (only 'real' and 'integer' can be read); the solver needs real values");
    }
    integer_ = field == "integer";
    const std::string symmetry = lower_case(words[4]);
    if (symmetry != "general" && symmetry != "symmetric") {
      fail("the symmetry is " + quoted(words[4]) +
           " (only 'general' and 'symmetric' can be read); expand the matrix to 'general'");
    }
    symmetric_ = symmetry == "symmetric";
  }

  matrix_size read_size() {
    const auto words = next_words();
    if (words.empty())
      fail(line_number_ + 1, "the size line is missing (the file ends after its comments); it may be cut off");
    if (words.size() != 3) {
      fail("the size line has " + std::to_string(words.size()) + " words instead of 3 (rows, columns, entries)");
    }
    constexpr std::uint64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;
    const auto rows = parse_integer(words[0], "number of rows", 1, largest_index);
    const auto columns = parse_integer(words[1], "number of columns", 1, largest_index);
    const auto entries = parse_integer(words[2], "number of entries", 0, std::numeric_limits<std::uint64_t>::max() / 4);
    if (symmetric_ && rows != columns) {
      fail("a symmetric matrix has " + std::to_string(rows) + " rows and " + std::to_string(columns) +
           " columns (symmetric means square); correct the size line or declare it 'general'");
    }
    return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns), entries, line_number_};
  }

  std::vector<entry> read_entries(const matrix_size& size) {
    constexpr std::uint64_t largest_advance = 1U << 20U;
    std::vector<entry> entries;
    entries.reserve(static_cast<std::size_t>(std::min(size.entries, largest_advance)) * (symmetric_ ? 2 : 1));
    for (std::uint64_t read = 0; read < size.entries; ++read) {
      const auto words = next_words();
      if (words.empty()) {
        fail(line_number_ + 1, "the file ends after " + std::to_string(read) + " of " + std::to_string(size.entries) +
                                   " entries (announced in line " + std::to_string(size.line) + "); it may be cut off");
      }
      const entry e = parse_entry(words, size);
      entries.push_back(e);
      if (symmetric_ && e.row != e.column) entries.push_back({e.column, e.row, e.value});
    }
    return entries;
  }

  entry parse_entry(const std::vector<std::string_view>& words, const matrix_size& size) const {
    if (words.size() != 3) {
      fail("an entry has " + std::to_string(words.size()) + " words instead of 3 (row, column, value)");
    }
    const auto row = parse_integer(words[0], "row", 1, static_cast<std::uint64_t>(size.rows));
    const auto column = parse_integer(words[1], "column", 1, static_cast<std::uint64_t>(size.columns));
    if (symmetric_ && column > row) {
      fail("entry (" + std::to_string(row) + ", " + std::to_string(column) +
           ") lies above the diagonal (symmetric files store the lower triangle only); swap row and column or declare "
           "the matrix 'general'");
    }
    return {static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1), value(words[2])};
  }

  std::uint64_t parse_integer(std::string_view word, const std::string& what, std::uint64_t least,
                              std::uint64_t most) const {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool complete = error == std::errc{} && end == word.data() + word.size();
    if (!complete || number < least || number > most) {
      fail("the " + what + " is " + quoted(word) + " (a whole number from " + std::to_string(least) + " to " +
           std::to_string(most) + " is needed)");
    }
    return number;
  }

  double value(std::string_view word) const {
    // The check of the characters keeps out what strtod takes beyond the format: hexadecimal numbers, "nan", "inf".
    const std::string_view allowed = integer_ ? "0123456789+-" : "0123456789+-.eE";
    const std::string text(word);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (word.find_first_not_of(allowed) != std::string_view::npos || end != text.c_str() + text.size()) {
      fail("the value is " + quoted(word) + " (not " +
           (integer_ ? "an integer, as the first line announces" : "a real number") + ")");
    }
    if (!std::isfinite(number)) fail("the value is " + quoted(word) + " (too large for double precision)");
    return number;
  }

  void check_no_more_lines(const matrix_size& size) {
    if (!next_words().empty()) {
      fail("there are more than the " + std::to_string(size.entries) + " entries announced in line " +
           std::to_string(size.line) + "; correct the size line or remove what follows the last entry");
    }
  }

  /// Also what keeps memory in proportion to the file: the row index of a matrix is as long as its size line says.
  void check_enough_for_all_rows(const matrix_size& size) const {
    const std::uint64_t reachable = symmetric_ ? 2 * size.entries : size.entries;
    if (reachable < static_cast<std::uint64_t>(size.rows)) {
      fail(size.line, std::to_string(size.rows) + " rows but only " + std::to_string(size.entries) +
                          " entries (some row must be empty, so the matrix is singular); check the size line");
    }
  }

  std::istream& in_;
  const std::string& name_;
  std::string line_;
  std::size_t line_number_ = 0;
  bool integer_ = false;
  bool symmetric_ = false;
};

}  // namespace

csr_matrix read_matrix_market(std::istream& in, const std::string& name) { return parser(in, name).parse(); }

csr_matrix read_matrix_market(const std::string& path) {
  // Opening a directory succeeds on Linux; only reading it fails, with a message that helps nobody.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw matrix_market_error(path + ": cannot be read (it is a directory); give the path of a .mtx file", 0);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw matrix_market_error(path + ": cannot be opened (missing, or no permission); check the path", 0);
  return read_matrix_market(in, path);
}

}  // namespace cg
