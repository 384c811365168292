// Numbers of nodes of every type of integer: none is cut off to the number of another node.
#include <cstdint>
#include <string>
#include <type_traits>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace node_number_test {

node_t where() { return offload::this_node(); }
enum names { the_host, the_worker };

using node_numbers = two_targets;

TEST_F(node_numbers, of_every_integer_type_work) {
  EXPECT_EQ(offload::sync(1L, fn<&where>), 1);
  EXPECT_EQ(offload::sync(1ULL, fn<&where>), 1);
  EXPECT_EQ(offload::sync(std::size_t{1}, fn<&where>), 1);
  EXPECT_EQ(offload::sync(std::int8_t{1}, f2f(&where)), 1);
  EXPECT_EQ(offload::sync(the_worker, fn<&where>), 1);
  for (std::size_t node = 0; node < offload::num_nodes(); ++node) {
    EXPECT_EQ(offload::sync(node, fn<&where>), static_cast<node_t>(node));
    EXPECT_EQ(offload::is_host(node), node == 0);
  }
}

TEST_F(node_numbers, beyond_32_bits_are_errors) {
  EXPECT_THROW(offload::sync(1L << 40, fn<&where>), call_error);
  EXPECT_THROW(offload::sync((1ULL << 32) + 1, fn<&where>), call_error);
  EXPECT_THROW(offload::sync(0x80000001U, fn<&where>), call_error);
  EXPECT_THROW(offload::sync(-(1LL << 32) + 1, fn<&where>), call_error);
  EXPECT_THROW(static_cast<void>(offload::allocate<int>(1L << 32, 1)), call_error);
  EXPECT_THROW(static_cast<void>(offload::get_node_descriptor((1L << 32) + 1)), call_error);
  EXPECT_THROW(static_cast<void>(offload::is_host(1L << 32)), call_error);
  try {
    offload::sync(1ULL << 63, fn<&where>);
    FAIL() << "must throw";
  } catch (const call_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("node 9223372036854775808 does not exist"), std::string::npos)
        << problem.what();
  }
}

TEST(node_number, is_checked_when_compiled_if_it_is_constant) {
  constexpr offload::destination one = 1L;
  static_assert(one.node == 1);
  static_assert(std::is_nothrow_constructible_v<offload::destination, int>);
  static_assert(!std::is_nothrow_constructible_v<offload::destination, long>);
  static_assert(!std::is_convertible_v<double, offload::node_number>);
}

}  // namespace node_number_test
