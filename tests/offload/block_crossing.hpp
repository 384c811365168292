// Blocks of matrices on their way between nodes, for tests over every transport.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bulk.hpp"
#include "ham/offload.hpp"

namespace ham::inline v1::test {

/// A block in the middle of a matrix of doubles whose lines are `pitch` long.
struct matrix {
  std::size_t lines, pitch;
  std::size_t first_line = 1, first_column = 2;

  [[nodiscard]] std::size_t size() const { return lines * pitch; }
  [[nodiscard]] std::size_t begin() const { return first_line * pitch + first_column; }
};

/// Puts a block to `via`, copies it to `to`, gets it back from there; each time at another pitch. What lies around it
/// keeps its values everywhere.
inline void expect_block_crosses(node_t via, node_t to, std::size_t rows, std::size_t columns) {
  const matrix here{rows + 2, columns + 5};
  const matrix there{rows + 3, columns + 3};
  const matrix beyond{rows + 1, columns + 9};
  const std::vector<double> sent = numbered(here.size(), 1.0);
  const auto filled = [](node_t node, const matrix& shape) {
    offload::buffer<double> made(node, shape.size());
    offload::put_sync(std::vector<double>(shape.size(), -1.0).data(), made.ptr(), shape.size());
    return made;
  };
  const auto first = filled(via, there);
  const auto second = filled(to, beyond);
  const auto shape = [&](std::size_t source, std::size_t target) {
    return offload::block{.rows = rows, .columns = columns, .source_pitch = source, .target_pitch = target};
  };
  offload::put(sent.data() + here.begin(), first.ptr() + there.begin(), shape(here.pitch, there.pitch)).get();
  offload::copy(first.ptr() + there.begin(), second.ptr() + beyond.begin(), shape(there.pitch, beyond.pitch)).get();
  std::vector<double> got(here.size(), -1.0);
  offload::get(second.ptr() + beyond.begin(), got.data() + here.begin(), shape(beyond.pitch, here.pitch)).get();

  const auto expect = [&](const std::vector<double>& all, const matrix& of, const char* where) {
    std::vector<double> right(of.size(), -1.0);
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(sent.data() + here.begin() + row * here.pitch, columns, right.data() + of.begin() + row * of.pitch);
    }
    EXPECT_TRUE(same_bytes(all, right)) << where << ", " << rows << " rows of " << columns << " through node " << via
                                        << " to " << to;
  };
  expect(got, here, "got");
  for (const auto& [node, shape_there, buffer] : {std::tuple{via, there, first.ptr()}, {to, beyond, second.ptr()}}) {
    std::vector<double> all(shape_there.size());
    offload::get_sync(buffer, all.data(), all.size());
    expect(all, shape_there, node == via ? "in between" : "at the end");
  }
}

/// Shapes that go the different ways: short rows and long ones, more than one message, one row, one column.
inline void expect_blocks_cross(node_t via, node_t to) {
  expect_block_crosses(via, to, 1, 1);
  expect_block_crosses(via, to, 1, 1000);
  expect_block_crosses(via, to, 1000, 1);
  expect_block_crosses(via, to, 31, 17);
  expect_block_crosses(via, to, 700, 301);    // more than one message
  expect_block_crosses(via, to, 3, 140'003);  // rows longer than one
}

}  // namespace ham::test
