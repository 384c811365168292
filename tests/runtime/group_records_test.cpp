// Answers of groups as bytes: what hostile nodes may write, how parts become one, and what errors say.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ham/offload/group.hpp"

using namespace ham;
using namespace ham::detail;

namespace group_records_test {

int twice(int value) { return 2 * value; }
using call = call_of<std::remove_cvref_t<decltype(fn<&twice>)>, int>;
msg::handler_entry& function() { return call::message::entry(); }

std::vector<std::byte> head_bytes(std::uint32_t total, std::uint32_t first, std::uint32_t count, std::size_t nodes) {
  std::vector<std::byte> bytes(12 + 4 * nodes);
  msg::writer to(bytes.data(), bytes.size());
  to.number(total);
  to.number(first);
  to.number(count);
  for (std::size_t i = 0; i < nodes; ++i) to.number(static_cast<node_t>(7 + i));
  return bytes;
}
group_head read_head(const std::vector<std::byte>& bytes) {
  msg::reader from(bytes);
  return group_head::read(from);
}

std::vector<std::byte> error_of(const std::string& text, std::uint32_t count, node_t seen_by = 3) {
  try {
    throw std::domain_error(text);
  } catch (...) {
    return group_error_record(seen_by, count);
  }
}
std::vector<std::byte> together(std::vector<std::byte> first, const std::vector<std::byte>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
offload::group_result<int> read(const std::vector<group_answer>& parts, std::size_t nodes) {
  std::vector<node_t> numbers(nodes);
  for (std::size_t i = 0; i < nodes; ++i) numbers[i] = static_cast<node_t>(10 + i);
  offload::group_result<int> all(numbers);
  read_group_answers(parts, function(), all);
  return all;
}

TEST(GroupHead, IsReadAsItWasWritten) {
  const group_head head = read_head(head_bytes(9, 4, 2, 2));
  EXPECT_EQ(head.total, 9U);
  EXPECT_EQ(head.first, 4U);
  EXPECT_EQ(head.nodes, (std::vector<node_t>{7, 8}));
}

TEST(GroupHead, RefusesPartsThatAGroupDoesNotHave) {
  EXPECT_THROW(read_head(head_bytes(9, 0, 0, 0)), protocol_error);
  EXPECT_THROW(read_head(head_bytes(9, 8, 2, 2)), protocol_error);
  EXPECT_THROW(read_head(head_bytes(9, 10, 1, 1)), protocol_error);
  EXPECT_THROW(read_head(head_bytes(0xffffffff, 1, 0xfffffffe, 3)), protocol_error);  // not the bytes for them
  EXPECT_THROW(read_head({}), protocol_error);
  for (const node_t wrong : {node_t{-1}, node_t{1} << 30}) {
    std::vector<std::byte> bytes = head_bytes(9, 4, 2, 1);
    bytes.resize(bytes.size() + sizeof wrong);
    msg::writer(bytes.data() + bytes.size() - sizeof wrong, sizeof wrong).number(wrong);
    EXPECT_THROW(read_head(bytes), protocol_error);
  }
}

TEST(GroupRecords, AreReadPerNode) {
  const auto all = read({{0, 1, group_value_record(5)}, {1, 3, together(error_of("no", 2), group_value_record(6))}}, 4);
  EXPECT_EQ(all.value(0), 5);
  EXPECT_THROW(static_cast<void>(all.value(1)), std::domain_error);
  EXPECT_FALSE(all.ok(2));
  EXPECT_EQ(all[3], 6);
}

TEST(GroupRecords, OfWrongCountsAreRefused) {
  EXPECT_THROW(read({{0, 2, group_value_record(5)}}, 2), protocol_error);  // too few
  EXPECT_THROW(read({{0, 1, together(group_value_record(5), group_value_record(5))}}, 1), protocol_error);
  EXPECT_THROW(read({{0, 2, group_value_record(5, 2)}}, 2), protocol_error);  // a reduction's
  EXPECT_THROW(read({{0, 2, error_of("no", 3)}}, 2), protocol_error);
  EXPECT_THROW(read({{0, 1, left_out_record(1)}}, 1), protocol_error);
  EXPECT_THROW(read({{0, 1, {}}}, 1), protocol_error);
  EXPECT_THROW(read({{0, 1, {std::byte{9}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}}}}, 1),
               protocol_error);
  std::vector<std::byte> cut = error_of("no", 1);
  cut.pop_back();
  EXPECT_THROW(read({{0, 1, cut}}, 1), protocol_error);
}

TEST(GroupRecords, OfPartsAreJoinedInOrder) {
  std::vector<group_answer> parts{{0, 1, group_value_record(1)},
                                  {1, 2, together(group_value_record(2), error_of("x", 1))}};
  const auto all = read({{0, 3, group_merge().merge(parts)}}, 3);
  EXPECT_EQ(all[0], 1);
  EXPECT_EQ(all[1], 2);
  EXPECT_FALSE(all.ok(2));
}

// ---- reductions

const auto minus = [](int left, int right) { return left - right; };
using reducing = reducing_merge<int, std::remove_cvref_t<decltype(minus)>>;

TEST(Reduction, TakesItsOperandsFromLeftToRight) {
  std::vector<group_answer> parts{
      {2, 1, group_value_record(10)}, {3, 4, group_value_record(3, 4)}, {7, 1, group_value_record(2)}};
  EXPECT_TRUE(all_reduced(parts));
  EXPECT_EQ(nodes_of(parts), 6U);
  const group_answer one{2, 6, reducing(minus).merge(parts)};
  EXPECT_TRUE(is_reduced(one));
  EXPECT_EQ((reduced_value<int>(minus, {one})), 5);
}

TEST(Reduction, LeavesValuesOutWhenANodeHasFailed) {
  std::vector<group_answer> parts{{0, 1, group_value_record(10)},
                                  {1, 3, together(error_of("no", 1), group_value_record(3, 2))},
                                  {4, 1, group_value_record(1)}};
  EXPECT_FALSE(all_reduced(parts));
  const group_answer one{0, 5, reducing(minus).merge(parts)};
  EXPECT_FALSE(is_reduced(one));
  const std::vector<node_t> nodes{10, 11, 12, 13, 14};
  try {
    throw_failures({one}, nodes, function());
    FAIL();
  } catch (const offload::group_error& why) {
    ASSERT_EQ(why.failures().size(), 1U);
    EXPECT_EQ(why.failures()[0].node, 11);
  }
}

TEST(Reduction, RefusesAnswersThatItCannotRead) {
  const std::vector<node_t> nodes{1, 2};
  EXPECT_THROW(throw_failures({{0, 2, left_out_record(2)}}, nodes, function()), protocol_error);
  EXPECT_THROW(throw_failures({{0, 2, left_out_record(1)}}, nodes, function()), protocol_error);
  EXPECT_THROW(throw_failures({{0, 2, group_value_record(1, 1)}}, nodes, function()), protocol_error);
  EXPECT_THROW(static_cast<void>(errors_of_parts({{0, 1, together(error_of("x", 1), error_of("y", 1))}})),
               protocol_error);
}

// ---- errors

TEST(GroupError, NamesTheNodesAndTellsEachErrorOnce) {
  const auto one = std::make_exception_ptr(std::runtime_error("lost"));
  const auto other = std::make_exception_ptr(std::runtime_error("refused"));
  const offload::group_error why({{4, one}, {5, one}, {9, other}}, 16);
  EXPECT_STREQ(why.what(), "3 of 16 nodes of a group have failed: 4, 5 (lost); 9 (refused)");
}

TEST(GroupError, TellsWhereAnUnknownExceptionCameFrom) {
  std::vector<std::byte> record;
  try {
    throw 7;
  } catch (...) {
    record = group_error_record(12, 1);
  }
  const auto all = read({{0, 1, record}}, 1);
  try {
    std::rethrow_exception(all.error(0));
  } catch (const remote_error& why) {
    EXPECT_EQ(why.node(), 12);
  }
}

}  // namespace group_records_test
