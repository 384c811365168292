// Received bytes are executed only if they are a message of a handler of this program.
#include "ham/msg/active_msg_base.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ham/error.hpp"
#include "ham/msg/active_msg.hpp"
#include "ham/msg/handler_table.hpp"

namespace {

using namespace ham::msg;

int executed = 0;

struct counted_message : active_msg<counted_message> {
  explicit counted_message(int by) : by_(by) {}
  void operator()() { executed += by_; }

 private:
  int by_;
};

class active_msg_base_test : public testing::Test {
 protected:
  active_msg_base_test() {
    executed = 0;
    const counted_message message(3);
    std::memcpy(buffer.data(), static_cast<const void*>(&message), buffer.size());
  }
  std::vector<std::byte> buffer = std::vector<std::byte>(sizeof(counted_message));
};

TEST_F(active_msg_base_test, executes_a_complete_message) {
  active_msg_base::execute(buffer.data(), buffer.size());
  EXPECT_EQ(executed, 3);
}

TEST_F(active_msg_base_test, refuses_every_part_of_one) {
  for (std::size_t size = 0; size < buffer.size(); ++size)
    EXPECT_THROW(active_msg_base::execute(buffer.data(), size), ham::protocol_error) << size;
  EXPECT_EQ(executed, 0);
}

TEST_F(active_msg_base_test, refuses_keys_that_no_handler_has) {
  const auto first_unknown = static_cast<std::uint32_t>(handler_table::local().size());
  auto& message = *reinterpret_cast<active_msg_base*>(buffer.data());
  for (const std::uint32_t key : {first_unknown, 0x7fffffffU, invalid_key}) {
    message.set_key(key);
    EXPECT_EQ(message.key(), key);
    EXPECT_THROW(message(buffer.data()), ham::protocol_error);
    EXPECT_THROW(active_msg_base::execute(buffer.data(), buffer.size()), ham::protocol_error);
  }
  EXPECT_EQ(executed, 0);
}

}  // namespace
