// Calls that write and read memory of a device: when they are answered, and with what.
#include "runtime/device_accesses.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/device_node.hpp"

namespace ham::inline v1::detail {
namespace {

int plus_one(int value) { return value + 1; }

using device_accesses = test::device_node;

TEST_F(device_accesses, are_answered_when_the_device_has_copied_and_hold_nobody_up) {
  constexpr std::size_t n = 1000;
  const auto sent = test::counted(n);
  const auto there = offload::allocate<std::uint32_t>(1, n);
  auto put = offload::put(sent.data(), there, n);
  ASSERT_TRUE(test::eventually([&] { return memory->started() == 1; }));
  EXPECT_EQ(offload::sync(1, fn<&plus_one>, 1), 2);
  EXPECT_FALSE(put.test());
  memory->allow(1);
  put.get();

  std::vector<std::uint32_t> got(n);
  auto get = offload::get(there, got.data(), n);
  ASSERT_TRUE(test::eventually([&] { return memory->started() == 2; }));
  EXPECT_EQ(offload::sync(1, fn<&plus_one>, 1), 2);
  EXPECT_FALSE(get.test());
  memory->allow(1);
  get.get();
  EXPECT_EQ(got, sent);
  offload::free(there);
}

TEST_F(device_accesses, to_rows_are_answered_in_the_same_way) {
  const auto sent = test::counted(60);
  const auto there = offload::allocate<std::uint32_t>(1, 100);
  const offload::block rows{10, 6, 6, 10};
  auto put = offload::put(sent.data(), there, rows);
  ASSERT_TRUE(test::eventually([&] { return memory->started() == 1; })) << "one copy for all rows";
  EXPECT_EQ(offload::sync(1, fn<&plus_one>, 1), 2);
  EXPECT_FALSE(put.test());
  memory->allow_all();
  put.get();
  std::vector<std::uint32_t> got(60);
  offload::get(there, got.data(), offload::block{10, 6, 10, 6}).get();
  EXPECT_EQ(got, sent);
}

TEST_F(device_accesses, fail_with_the_words_of_the_device) {
  const auto sent = test::counted(10);
  const auto there = offload::allocate<std::uint32_t>(1, 10);
  auto put = offload::put(sent.data(), there, 10);
  memory->fail();
  const std::string why = test::message_of<call_error>([&] { put.get(); });
  EXPECT_NE(why.find("the device of node 1"), std::string::npos) << why;
  EXPECT_NE(why.find("an illegal address"), std::string::npos) << why;
  std::vector<std::uint32_t> got(10);
  EXPECT_THROW(offload::get(there, got.data(), 10).get(), call_error);
}

TEST_F(device_accesses, are_checked_before_any_byte_moves) {
  const auto sent = test::counted(20);
  const auto there = offload::allocate<std::uint32_t>(1, 10);
  EXPECT_THROW(offload::put(sent.data(), there, 20).get(), buffer_error);
  EXPECT_THROW(offload::put(sent.data(), there, offload::block{2, 4, 4, 8}).get(), buffer_error);
  offload::free(there);
  EXPECT_THROW(offload::put(sent.data(), there, 10).get(), buffer_error);
  EXPECT_EQ(memory->started(), 0U);
}

TEST(arguments_of_calls, are_read_in_their_order_and_to_the_end) {
  const std::vector<std::byte> sent(5, std::byte{7});
  const std::tuple<std::uint64_t, std::span<const std::byte>> all(42, sent);
  std::vector<std::byte> bytes(msg::encoded_pack_size(all));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode_pack(to, all);
  incoming_call call;
  call.payload = bytes;
  const auto [number, view] = arguments_of<std::uint64_t, std::span<const std::byte>>(call);
  EXPECT_EQ(number, 42U);
  EXPECT_TRUE(std::ranges::equal(view.get(), sent));
  EXPECT_FALSE(call.decoded);
  EXPECT_THROW((void)(arguments_of<std::uint64_t>(call)), protocol_error);
  call.payload = std::span(bytes).first(bytes.size() - 1);
  EXPECT_THROW((void)(arguments_of<std::uint64_t, std::span<const std::byte>>(call)), protocol_error);
}

/// Staging memory is shorter than messages.
class device_accesses_in_small_steps : public test::device_node {
 protected:
  device_accesses_in_small_steps() : device_node(1000) { memory->allow_all(); }
};

TEST_F(device_accesses_in_small_steps, are_done_at_once_where_they_are_long) {
  const auto sent = test::counted(5000);
  const auto there = offload::allocate<std::uint32_t>(1, 8000);
  std::vector<std::uint32_t> got(5000);
  offload::put(sent.data(), there, 5000).get();
  offload::get(there, got.data(), 5000).get();
  EXPECT_EQ(got, sent);
  offload::put(sent.data(), there, offload::block{5, 1000, 1000, 1500}).get();
  offload::get(there, got.data(), offload::block{5, 1000, 1500, 1000}).get();
  EXPECT_EQ(got, sent);
}

}  // namespace
}  // namespace ham::detail
