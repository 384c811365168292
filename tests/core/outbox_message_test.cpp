// A message with memory of its own moves into an outbox without another allocation.
#include <gtest/gtest.h>

#include "core/outbox_message.hpp"

namespace outbox_message_test {

using namespace ham;

TEST(outbox_message, keeps_its_bytes_where_they_are) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1} << 20}) {
    detail::outbox_message message(size);
    std::byte* const data = message.data();
    data[0] = data[size - 1] = std::byte{7};
    detail::message_list outbox;
    outbox.splice(outbox.end(), message.list);
    ASSERT_EQ(outbox.size(), 1U);
    EXPECT_EQ(outbox.front().bytes.data(), data);
    EXPECT_EQ(outbox.front().bytes.size(), size);
    EXPECT_EQ(outbox.front().bytes.back(), std::byte{7});
    EXPECT_EQ(outbox.front().sent, 0U);
  }
}

TEST(outbox_message, waits_without_limit_unless_told_otherwise) {
  const detail::outbox_message message(0);
  EXPECT_EQ(message.policy, detail::when_full::wait);
  EXPECT_EQ(message.deadline_ns, 0);
}

}  // namespace outbox_message_test
