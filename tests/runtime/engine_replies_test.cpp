// What a node answers to calls that return, throw, or cannot be read.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "core/remote_exception.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace engine_replies_test {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

int run = 0;
int next(int value) {
  ++run;
  if (value < 0) throw std::runtime_error("it is negative");
  return value + 1;
}

class engine_replies : public testing::Test {
 protected:
  engine_replies() { run = 0; }
  void call(std::uint32_t id, const bytes& arguments) {
    using entry = detail::call_of<fn_t<int (*)(int), &next>, int>;
    from_.send({entry::message::entry().resolve(), id, to_byte(wire_kind::call)}, arguments);
    world_.step();
  }
  /// Kind and call of the answer, and its bytes.
  std::pair<std::pair<wire_kind, std::uint32_t>, bytes> answer() {
    const auto frame = from_.receive();
    if (!frame) return {};
    return {{static_cast<wire_kind>(frame->first.kind), frame->first.call}, frame->second};
  }
  static constexpr std::byte none{0};

  quiet quiet_;
  world world_;
  const detail::engine_scope scope_{&world_.node()};
  world::peer& from_ = world_.friendly();
};

TEST_F(engine_replies, a_result) {
  call(7, {std::byte{4}, none, none, none});
  const auto [head, payload] = answer();
  EXPECT_EQ(head, std::pair(wire_kind::reply, std::uint32_t{7}));
  EXPECT_EQ(payload, bytes({std::byte{5}, none, none, none}));
}

TEST_F(engine_replies, an_exception) {
  call(8, bytes(4, std::byte{0xff}));
  const auto [head, payload] = answer();
  EXPECT_EQ(head, std::pair(wire_kind::reply_error, std::uint32_t{8}));
  EXPECT_NE(detail::describe_exception(payload).find("it is negative"), std::string::npos);
}

TEST_F(engine_replies, none_to_a_ping) {
  call(detail::no_reply, {std::byte{4}, none, none, none});
  call(detail::no_reply, bytes(4, std::byte{0xff}));
  EXPECT_EQ(run, 2);
  EXPECT_FALSE(from_.receive());
  EXPECT_TRUE(from_.open());
}

TEST_F(engine_replies, who_sends_arguments_that_cannot_be_read_hears_why_and_is_left) {
  call(9, bytes(3));
  EXPECT_EQ(run, 0);
  const auto [head, payload] = answer();
  EXPECT_EQ(head.first, wire_kind::goodbye);
  EXPECT_NE(std::string(reinterpret_cast<const char*>(payload.data()), payload.size()).find("cannot be read"),
            std::string::npos);
  world_.step();
  EXPECT_FALSE(from_.open());
}

}  // namespace engine_replies_test
