// The reader of Matrix Market files of the conjugate gradient example: a sound matrix, or an error with its line.
// fuzz: -max_len=1024 -dict=DIR/matrix_market.dict
#include "matrix_market.hpp"

#include <cmath>
#include <sstream>

#include "input.hpp"

using namespace ham;

namespace {

void check(const cg::csr_matrix& got) {
  fuzz::require(got.rows() >= 1 && got.columns >= 1, "a matrix of nothing");
  fuzz::require(got.column.size() == got.value.size() && got.row_start.back() == got.value.size(), "parts of one size");
  for (std::int32_t row = 0; row < got.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    fuzz::require(got.row_start[at] <= got.row_start[at + 1], "rows in order");
    for (std::uint64_t i = got.row_start[at]; i < got.row_start[at + 1]; ++i) {
      fuzz::require(got.column[i] >= 0 && got.column[i] < got.columns, "a column outside");
      fuzz::require(i == got.row_start[at] || got.column[i - 1] < got.column[i], "columns in order");
    }
  }
}

}  // namespace

HAM_FUZZ(from) {
  std::istringstream text{std::string(from.text())};
  try {
    check(cg::read_matrix_market(text, "file"));
  } catch (const cg::matrix_market_error& problem) {
    fuzz::require(problem.line() != 0, "an error without its line");
    for (const char* c = problem.what(); *c != 0; ++c) {
      fuzz::require(static_cast<unsigned char>(*c) >= 0x20, "what the file holds, on the terminal");
    }
  }
}
