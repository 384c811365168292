// Reader for Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html), strict about damage.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <stdexcept>
#include <string>

#include "csr_matrix.hpp"

namespace cg {

/// The file cannot be used. what() reads "file:line: what is wrong (why) what to do".
class matrix_market_error : public std::runtime_error {
 public:
  matrix_market_error(const std::string& message, std::size_t line) : std::runtime_error(message), line_(line) {}

  /// Line of the file, counted from one; zero if the file could not be read at all.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

/// Reads a matrix in coordinate format, real or integer, general or symmetric (the stored triangle is mirrored).
/// Entries for the same place are added up. Comments, blank lines and CRLF line ends are accepted.
/// Memory grows with what the file holds, not with what its size line claims.
/// Throws matrix_market_error.
csr_matrix read_matrix_market(const std::string& path);

/// The same from a stream; `name` stands for the file in error messages.
csr_matrix read_matrix_market(std::istream& in, const std::string& name);

}  // namespace cg
