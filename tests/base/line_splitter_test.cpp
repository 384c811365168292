// Lines out of pieces of any size.
#include "base/line_splitter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::base {
namespace {

using split_lines = std::vector<std::pair<std::string, line_end>>;

/// `text` in pieces of `piece` bytes.
split_lines split(const std::string& text, std::size_t piece, std::size_t max_line) {
  split_lines lines;
  const auto keep = [&](std::string_view line, line_end end) { lines.emplace_back(line, end); };
  line_splitter splitter(max_line);
  for (std::size_t at = 0; at < text.size(); at += piece) splitter.add(std::string_view(text).substr(at, piece), keep);
  splitter.finish(keep);
  splitter.finish(keep);  // nothing is left
  return lines;
}

TEST(line_splitter, gives_the_same_lines_whatever_the_pieces) {
  const std::string text = "one\n\ntwo three\n\nno newline";
  const split_lines expected{{"one", line_end::newline},
                             {"", line_end::newline},
                             {"two three", line_end::newline},
                             {"", line_end::newline},
                             {"no newline", line_end::none}};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(split(text, piece, 100), expected) << piece;
  EXPECT_TRUE(split("", 1, 100).empty());
  EXPECT_EQ(split("x\n", 1, 100), (split_lines{{"x", line_end::newline}}));
}

TEST(line_splitter, keeps_all_bytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  std::string back;
  for (const auto& [line, end] : split(bytes + bytes, 7, 1000)) back += line + (end == line_end::newline ? "\n" : "");
  EXPECT_EQ(back, bytes + bytes);
}

TEST(line_splitter, cuts_only_lines_that_are_longer_than_the_limit) {
  for (const std::size_t piece : {1U, 2U, 3U, 4U, 5U, 9U, 20U}) {
    EXPECT_EQ(split("1234\n5678\n", piece, 4), (split_lines{{"1234", line_end::newline}, {"5678", line_end::newline}}));
    EXPECT_EQ(split("1234", piece, 4), (split_lines{{"1234", line_end::none}}));
    EXPECT_EQ(
        split("123456789\nx\n", piece, 4),
        (split_lines{
            {"1234", line_end::part}, {"5678", line_end::part}, {"9", line_end::newline}, {"x", line_end::newline}}))
        << piece;
  }
}

}  // namespace
}  // namespace ham::base
