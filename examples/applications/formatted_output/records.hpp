// What the formatted output consists of: three numbers per line, and how they become text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace formatted_output {

inline constexpr std::size_t numbers_per_line = 3;

/// Numbers of all lines of a step: a polynomial of the line's number, by a loop that the compiler vectorises. The first
/// numbers of all lines, then the second ones, then the third ones.
void compute(std::uint64_t step, std::span<double> numbers);

/// Appends lines [first, last) to `text`.
void append_lines(std::span<const double> numbers, std::size_t first, std::size_t last, std::string& text);

}  // namespace formatted_output
