// Active messages on their own: copied through byte buffers, as programs without a transport use them.
#include "ham/msg/active_msg.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "ham/error.hpp"

namespace {

using namespace ham::msg;

int last_sum = 0;
int policy_runs = 0;

class add_message : public active_msg<add_message> {
 public:
  add_message(int a, int b) : a_(a), b_(b) {}
  void operator()() { last_sum = a_ + b_; }

 private:
  int a_, b_;
};

struct empty_message : active_msg<empty_message, execution_policy_direct> {
  void operator()() const { ++last_sum; }
};

struct alignas(64) aligned_message : active_msg<aligned_message> {
  void operator()() { last_sum = reinterpret_cast<std::uintptr_t>(this) % 64 == 0 ? value : -1; }
  int value = 0;
};

template <class Message>
struct counting_policy {
  static void handler(void* buffer) {
    ++policy_runs;
    (*static_cast<Message*>(buffer))();
  }
};

template <class T>
struct templated_message : active_msg<templated_message<T>, counting_policy> {
  explicit templated_message(T v) : value(v) {}
  void operator()() { last_sum = static_cast<int>(value); }
  T value;
};

template <class Message>
std::vector<std::byte> bytes_of(const Message& message) {
  std::vector<std::byte> bytes(sizeof(Message));
  std::memcpy(bytes.data(), static_cast<const void*>(&message), sizeof(Message));
  return bytes;
}

class ActiveMsg : public ::testing::Test {
 protected:
  void SetUp() override {
    msg_handler_registry::init();
    last_sum = 0;
    policy_runs = 0;
  }
};

TEST_F(ActiveMsg, ExecutesInTheReceivedBuffer) {
  auto buffer = bytes_of(add_message(3, 4));
  (*reinterpret_cast<active_msg_base*>(buffer.data()))(buffer.data());
  EXPECT_EQ(last_sum, 7);
}

TEST_F(ActiveMsg, ExecutesFromACopiedBaseObject) {
  char buffer[256];
  const add_message message(30, 4);
  std::memcpy(buffer, static_cast<const void*>(&message), sizeof message);
  const active_msg_base base = *reinterpret_cast<active_msg_base*>(buffer);
  base(buffer);
  EXPECT_EQ(last_sum, 34);
}

TEST_F(ActiveMsg, NeedsNoAlignmentOfTheBuffer) {
  std::array<char, 3 * sizeof(aligned_message)> buffer;
  aligned_message message;
  message.value = 5;
  for (std::size_t offset = 1; offset < 8; ++offset) {
    last_sum = 0;
    std::memcpy(buffer.data() + offset, static_cast<const void*>(&message), sizeof message);
    (*reinterpret_cast<active_msg_base*>(buffer.data() + offset))(buffer.data() + offset);
    EXPECT_EQ(last_sum, 5);
  }
}

TEST_F(ActiveMsg, EachInstanceOfATemplateHasItsOwnHandler) {
  auto one = bytes_of(templated_message<int>(1));
  auto two = bytes_of(templated_message<double>(2.5));
  active_msg_base::execute(two.data(), two.size());
  EXPECT_EQ(last_sum, 2);
  active_msg_base::execute(one.data(), one.size());
  EXPECT_EQ(last_sum, 1);
  EXPECT_EQ(policy_runs, 2) << "a user's policy is what runs the message";
}

TEST_F(ActiveMsg, EmptyMessagesWork) {
  auto buffer = bytes_of(empty_message());
  active_msg_base::execute(buffer.data(), buffer.size());
  EXPECT_EQ(last_sum, 1);
}

TEST_F(ActiveMsg, TheKeyIsTheFirstFourBytes) {
  const auto buffer = bytes_of(add_message(1, 1));
  std::uint32_t key;
  std::memcpy(&key, buffer.data(), sizeof key);
  EXPECT_EQ(key, add_message::handler().key());
  EXPECT_EQ(handler_table::local().find(key), &add_message::handler());
}

}  // namespace
