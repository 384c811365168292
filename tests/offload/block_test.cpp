// Blocks of rows: put, get and copy between all nodes, one-sided and in messages, and shapes that make no sense.
#include <limits>
#include <string>
#include <vector>

#include "bulk.hpp"
#include "emulation.hpp"
#include "offload/block_crossing.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace block_test {

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

class blocks : public either_way {};
INSTANTIATE_TEST_SUITE_P(both, blocks, testing::Bool(), name_of_way);

TEST_P(blocks, between_all_nodes) {
  constexpr node_t last = unless_sanitized(2, 1);  // node 2 is another target
  for (node_t via = 0; via <= last; ++via) {
    for (node_t to = 0; to <= 2; ++to) expect_blocks_cross(via, to);
  }
}

TEST_P(blocks, pitch_of_zero_means_no_gap) {
  const std::vector<int> sent{1, 2, 3, 4, 5, 6};
  offload::buffer<int> there(1, 6);
  offload::put_sync(sent.data(), there.ptr(), {.rows = 3, .columns = 2});
  std::vector<int> got(6);
  offload::get_sync(there.ptr(), got.data(), {.rows = 2, .columns = 3});
  EXPECT_EQ(got, sent);
  std::vector<int> every_second(3);
  offload::get_sync(there.ptr(), every_second.data(), {.rows = 3, .columns = 1, .source_pitch = 2});
  EXPECT_EQ(every_second, (std::vector<int>{1, 3, 5}));
}

TEST_P(blocks, empty_ones_move_nothing) {
  offload::buffer<int> there(1, 6);
  int untouched = 5;
  offload::get_sync(there.ptr(), &untouched, {.rows = 0, .columns = 10});
  offload::get_sync(there.ptr(), &untouched, {.rows = 10, .columns = 0});
  offload::put_sync(&untouched, there.ptr(), {.rows = huge, .columns = 0});
  offload::copy_sync(there.ptr(), there.ptr(), {.rows = 0, .columns = 3});
  EXPECT_EQ(untouched, 5);
}

TEST_P(blocks, a_row_may_be_longer_than_its_pitch_if_there_is_one) {
  const std::vector<int> sent{1, 2, 3, 4};
  offload::buffer<int> there(1, 4);
  offload::put_sync(sent.data(), there.ptr(), {.rows = 1, .columns = 4, .source_pitch = 1, .target_pitch = 2});
  std::vector<int> got(4);
  offload::get_sync(there.ptr(), got.data(), 4);
  EXPECT_EQ(got, sent);
}

TEST_P(blocks, rows_that_overlap_are_refused) {
  std::vector<int> here(100);
  offload::buffer<int> there(1, 100);
  for (const offload::block& wrong :
       {offload::block{.rows = 2, .columns = 10, .source_pitch = 9}, {.rows = 2, .columns = 10, .target_pitch = 9}}) {
    const std::string text = message_of<buffer_error>([&] { offload::put_sync(here.data(), there.ptr(), wrong); });
    EXPECT_NE(text.find("40 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("36 bytes"), std::string::npos) << text;
    EXPECT_THROW(offload::get_sync(there.ptr(), here.data(), wrong), buffer_error);
    EXPECT_THROW(offload::copy_sync(there.ptr(), there.ptr() + 50, wrong), buffer_error);
  }
}

TEST_P(blocks, more_than_there_are_addresses) {
  std::vector<int> here(100);
  offload::buffer<int> there(1, 100);
  for (const offload::block& wrong : {offload::block{.rows = 2, .columns = huge},
                                      {.rows = huge, .columns = 2},
                                      {.rows = huge / 8, .columns = huge / 8},
                                      {.rows = 3, .columns = 1, .source_pitch = huge / 4},
                                      {.rows = 3, .columns = 1, .target_pitch = huge / 8 + 1},
                                      {.rows = huge / 16, .columns = 2, .source_pitch = 5}}) {
    EXPECT_THROW(offload::put_sync(here.data(), there.ptr(), wrong), buffer_error);
    EXPECT_THROW(offload::get_sync(there.ptr(), here.data(), wrong), buffer_error);
    EXPECT_THROW(offload::copy_sync(there.ptr(), there.ptr(), wrong), buffer_error);
  }
}

TEST_P(blocks, outside_of_the_allocation) {
  std::vector<int> here(1000, 7);
  offload::buffer<int> there(1, 100);
  offload::put_sync(std::vector<int>(100, 1).data(), there.ptr(), 100);
  const auto rows_of_5 = [](std::size_t rows) {
    return offload::block{.rows = rows, .columns = 5, .source_pitch = 10, .target_pitch = 10};
  };
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr() + 6, rows_of_5(10)), buffer_error);
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr(), rows_of_5(11)), buffer_error);
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr() - 1, rows_of_5(2)), buffer_error);
  EXPECT_THROW(offload::get_sync(there.ptr() + 6, here.data(), rows_of_5(10)), buffer_error);
  EXPECT_THROW(offload::copy_sync(there.ptr(), there.ptr() + 6, rows_of_5(10)), buffer_error);
  std::vector<int> got(100);
  offload::get_sync(there.ptr(), got.data(), 100);
  EXPECT_EQ(got, std::vector<int>(100, 1)) << "a mapped block, or a message, is checked before any byte of it moves";
  offload::put_sync(here.data(), there.ptr() + 5, rows_of_5(10));  // up to the last element
}

TEST_P(blocks, stale_and_foreign) {
  std::vector<int> here(100);
  const auto freed = offload::allocate<int>(1, 100);
  offload::free(freed);
  const offload::block some{.rows = 2, .columns = 5, .source_pitch = 7, .target_pitch = 9};
  EXPECT_THROW(offload::put_sync(here.data(), freed, some), buffer_error);
  EXPECT_THROW(offload::get_sync(freed, here.data(), some), buffer_error);
  offload::buffer<int> other(2, 100);
  EXPECT_THROW(offload::copy_sync(freed, other.ptr(), some), buffer_error);
  EXPECT_THROW(offload::copy_sync(other.ptr(), freed, some), buffer_error);
  EXPECT_THROW(offload::put_sync(
                   here.data(),
                   offload::detail::buffer_ptr_access::make<int>(other.ptr().address(), other.ptr().tag(), 1), some),
               buffer_error);
  EXPECT_THROW(offload::put_sync(here.data(), offload::buffer_ptr<int>(), some), call_error);
}

TEST_P(blocks, of_memory_that_was_not_allocated_here) {
  if (test::emulated()) GTEST_SKIP() << "the emulator has no process_vm_readv, by which addresses are checked";
  std::vector<int> matrix(100);
  const offload::buffer_ptr<int> named(matrix.data(), offload::this_node());
  const int got = offload::sync(
      1,
      [](offload::buffer_ptr<int> of_host) {
        const std::vector<int> column{1, 2, 3, 4};
        offload::put_sync(column.data(), of_host + 2, {.rows = 4, .columns = 1, .target_pitch = 10});
        offload::buffer<int> mine(offload::this_node(), 4);
        offload::copy_sync(of_host + 2, mine.ptr(), {.rows = 4, .columns = 1, .source_pitch = 10});
        return mine.ptr()[0] + mine.ptr()[3];
      },
      named);
  EXPECT_EQ(got, 5);
  EXPECT_EQ(matrix[2] + matrix[12] + matrix[22] + matrix[32], 10);
  EXPECT_EQ(matrix[3] + matrix[11] + matrix[42], 0);
  const auto nowhere = offload::detail::buffer_ptr_access::make<int>(16, 0, 1);
  EXPECT_THROW(offload::put_sync(matrix.data(), nowhere, {.rows = 2, .columns = 1, .target_pitch = 10}), buffer_error);
}

TEST_P(blocks, many_in_flight_and_waited_for_in_any_order) {
  constexpr std::size_t rows = unless_sanitized(2000, 1200), columns = 500;
  std::vector<double> sent(rows * columns, 3.0);
  offload::buffer<double> there(1, 4 * rows * columns);
  std::vector<offload::future<void>> parts;
  for (std::size_t i = 0; i < 4; ++i) {
    parts.push_back(offload::put(sent.data(), there.ptr() + i * columns,
                                 {.rows = rows, .columns = columns, .target_pitch = 4 * columns}));
  }
  while (!parts.empty()) {
    parts.back().get();
    parts.pop_back();
  }
  std::vector<double> all(4 * rows * columns);
  offload::get_sync(there.ptr(), all.data(), all.size());
  EXPECT_TRUE(same_bytes(all, std::vector<double>(all.size(), 3.0)));
}

}  // namespace block_test
