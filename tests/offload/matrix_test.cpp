// Matrices: parts of them between all nodes, what has the shape of std::mdspan, and shapes that make no sense.
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "ham/msg/codec.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace matrix_test {

constexpr std::size_t rows = 4;
constexpr std::size_t columns = 6;
constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

class matrices : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, matrices, testing::Bool(), name_of_way);

std::vector<int> numbers() {
  std::vector<int> result(rows * columns);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

long trace(offload::buffer_matrix<const int> matrix) {
  const auto here = matrix.local();
  long result = 0;
  for (std::size_t i = 0; i < here.rows() && i < here.columns(); ++i) result += here(i, i);
  return result;
}

TEST_P(matrices, a_part_goes_into_a_part) {
  for (node_t node = 0; node <= 2; ++node) {
    auto field = numbers();
    matrix_span<int> here(field.data(), rows, columns);
    const buffer<int> memory(node, rows * columns);
    const buffer_matrix<int> there(memory, rows, columns);
    offload::put(here, there).get();
    offload::put(here.part(0, 0, 2, 2), there.part(2, 4, 2, 2)).get();
    std::vector<int> got(rows * columns);
    offload::get(there, matrix_span<int>(got.data(), rows, columns)).get();
    auto expected = numbers();
    expected[2 * columns + 4] = 0;
    expected[2 * columns + 5] = 1;
    expected[3 * columns + 4] = 6;
    expected[3 * columns + 5] = 7;
    EXPECT_EQ(got, expected) << node;
  }
}

TEST_P(matrices, rows_and_columns) {
  const auto field = numbers();
  const matrix_span<const int> here(field.data(), rows, columns);
  const buffer<int> memory(1, rows * columns);
  const buffer_matrix<int> there(memory, rows, columns);
  offload::put_sync(here, there);
  std::vector<int> column(rows);
  offload::get_sync(there.column(2), matrix_span<int>(column.data(), rows, 1));
  EXPECT_EQ(column, (std::vector{2, 8, 14, 20}));
  std::vector<int> row(columns);
  offload::get_sync(there.row(3), matrix_span<int>(row.data(), 1, columns));
  EXPECT_EQ(row, (std::vector{18, 19, 20, 21, 22, 23}));
}

TEST_P(matrices, a_pitch_leaves_gaps) {
  std::vector<int> padded(3 * 8, -1);
  const matrix_span<int> here(padded.data(), 3, 5, 8);
  EXPECT_EQ(here.stride(0), 8U);
  const buffer<int> memory(1, 3 * 7);
  std::vector<int> fives(3 * 7, 5);
  offload::put_sync(fives, memory);
  offload::get_sync(buffer_matrix<int>(memory, 3, 5, 7), here);
  EXPECT_EQ(std::count(padded.begin(), padded.end(), 5), 15);
  EXPECT_EQ(padded[5], -1);
  EXPECT_EQ(here(2, 4), 5);
}

TEST_P(matrices, copies_between_nodes) {
  const auto field = numbers();
  const buffer<int> one(1, rows * columns);
  const buffer<int> two(2, columns);
  offload::put_sync(field, one);
  const buffer_matrix<const int> source(one, rows, columns);
  offload::copy(source.part(1, 1, 2, 3), buffer_matrix<int>(two, 2, 3)).get();
  offload::copy_sync(source.part(0, 0, 1, 1), buffer_matrix<int>(two, 1, 1));
  std::vector<int> got(columns);
  offload::get_sync(two, got);
  EXPECT_EQ(got, (std::vector{0, 8, 9, 13, 14, 15}));
}

TEST_P(matrices, arguments_of_calls) {
  const auto field = numbers();
  const buffer<int> memory(1, rows * columns);
  offload::put_sync(field, memory);
  const buffer_matrix<int> there(memory, rows, columns);
  EXPECT_EQ(offload::sync(1, fn<&trace>, there), 0 + 7 + 14 + 21);
  EXPECT_EQ(offload::sync(1, fn<&trace>, there.part(1, 0, 2, 2)), 6 + 13);
  EXPECT_THROW((void)offload::sync(2, fn<&trace>, there), buffer_error);
}

/// As std::mdspan of rank 2, which C++20 does not have.
struct strided {
  int* data;
  std::size_t extents[2];
  std::size_t strides[2];
  static constexpr std::size_t rank() { return 2; }
  [[nodiscard]] std::size_t extent(std::size_t dimension) const { return extents[dimension]; }
  [[nodiscard]] std::size_t stride(std::size_t dimension) const { return strides[dimension]; }
  [[nodiscard]] int* data_handle() const { return data; }
};

TEST_P(matrices, what_is_like_mdspan) {
  auto field = numbers();
  const buffer<int> memory(1, 4);
  const buffer_matrix<int> there(memory, 2, 2);
  offload::put(strided{field.data() + 1, {2, 2}, {columns, 1}}, there).get();
  offload::get_sync(there, strided{field.data() + 2 * columns, {2, 2}, {columns, 1}});
  EXPECT_EQ(field[2 * columns], 1);
  EXPECT_EQ(field[3 * columns + 1], 8);
  const auto transposed = [&] { offload::put(strided{field.data(), {2, 2}, {1, columns}}, there).get(); };
  EXPECT_NE(message_of<buffer_error>(transposed).find("lie 6 apart"), std::string::npos);
}

TEST_P(matrices, shapes_that_make_no_sense) {
  auto field = numbers();
  const matrix_span<int> here(field.data(), rows, columns);
  EXPECT_NE(message_of<buffer_error>([&] { (void)here.part(3, 0, 2, 1); }).find("outside of a matrix of 4 x 6"),
            std::string::npos);
  EXPECT_THROW((void)here.part(0, huge, 1, 2), buffer_error);
  EXPECT_THROW((void)here.part(1, 1, huge, 1), buffer_error);
  EXPECT_THROW((void)here.row(rows), buffer_error);
  EXPECT_THROW((matrix_span<int>(field.data(), 2, 6, 5)), buffer_error);
  EXPECT_THROW((matrix_span<int>(field.data(), huge, huge)), buffer_error);
  const buffer<int> memory(1, 10);
  EXPECT_NE(message_of<buffer_error>([&] { buffer_matrix<int>(memory, 2, 6); }).find("takes 12, and its memory has 10"),
            std::string::npos);
  EXPECT_NO_THROW((buffer_matrix<int>(memory, 2, 4, 6))) << "the last row needs no gap";
  const auto unequal = [&] { offload::put(here.part(0, 0, 2, 3), buffer_matrix<int>(memory, 3, 2)).get(); };
  EXPECT_NE(message_of<buffer_error>(unequal).find("2 x 3 elements into one of 3 x 2"), std::string::npos);
}

TEST(matrix_codec, hostile_shapes_are_refused) {
  const buffer_matrix<double> sent(offload::detail::buffer_ptr_access::make<double>(4096, 7, 1), 2, 3, 5);
  std::vector<std::byte> good(msg::encoded_size(sent));
  msg::writer to(good.data(), good.size());
  msg::encode(to, sent);
  const auto decoded = [](std::vector<std::byte> bytes) {
    msg::reader from(bytes.data(), bytes.size());
    return msg::decode<buffer_matrix<double>>(from);
  };
  EXPECT_EQ(decoded(good).pitch(), 5U);
  EXPECT_EQ(decoded(good).data_handle(), sent.data_handle());
  for (const std::size_t number : {20U, 28U, 36U}) {
    auto bytes = good;
    for (std::size_t at = number; at < number + 8; ++at) bytes[at] = std::byte{0xff};
    EXPECT_THROW((void)decoded(bytes), protocol_error) << number;
  }
  auto overlapping = good;
  overlapping[36] = std::byte{2};
  EXPECT_THROW((void)decoded(overlapping), protocol_error);
}

}  // namespace matrix_test
