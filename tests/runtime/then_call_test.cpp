// Calls that bring bytes along, as a peer sends them: what is no such message, and bytes for memory that is not theirs.
#include "ham/offload/then_call.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace then_call_frames_test {

using namespace ham;
using namespace ham::test;
using detail::brought_bytes;
using detail::to_byte;
using detail::wire_kind;

int ran = 0;
int first_of(offload::buffer_ptr<int> at) {
  ++ran;
  return at[0];
}
using message =
    detail::bringing_message<detail::call_of<fn_t<decltype(&first_of), &first_of>, offload::buffer_ptr<int>>::message>;

class calls_with_bytes : public testing::Test {
 protected:
  void SetUp() override {
    ran = 0;
    std::memset(there_.get(), 0, 4);
  }
  /// Bytes of a call that says that `size` of its bytes belong to `address`.
  [[nodiscard]] bytes call_of(std::uint64_t address, std::uint64_t tag, std::uint64_t size, std::size_t sent) const {
    bytes payload(brought_bytes::head_bytes + sent + 20);
    msg::writer to(payload.data(), payload.size());
    to.number(address);
    to.number(tag);
    to.number(size);
    for (std::size_t i = 0; i < sent; ++i) to.number(std::uint8_t{5});
    msg::encode(to, there_);
    return payload;
  }
  /// Sends it; gives the kind of the answer.
  std::optional<std::uint8_t> answer_to(const bytes& payload) {
    const std::uint32_t key = message::entry().resolve();
    peer_.send({key, 9, to_byte(wire_kind::call)}, payload);
    world_.step();
    while (const auto frame = peer_.receive()) {
      if (frame->first.call == 9) return frame->first.kind;
    }
    return std::nullopt;
  }

  quiet quiet_;
  world world_;
  const detail::engine_scope scope_{&world_.node()};
  world::peer& peer_ = world_.friendly();
  const offload::buffer_ptr<int> there_ = offload::allocate<int>(world_.node().self(), 4);
};

TEST_F(calls_with_bytes, are_run_on_them) {
  EXPECT_EQ(answer_to(call_of(there_.address(), there_.tag(), 4, 4)), to_byte(wire_kind::reply));
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(there_[0], 0x05050505);
}

TEST_F(calls_with_bytes, for_memory_that_is_not_theirs_are_answered_with_the_error) {
  for (const auto& [address, tag, size] : {std::tuple{there_.address(), there_.tag() + 1, std::uint64_t{4}},
                                           {there_.address() + 16, there_.tag(), 4},
                                           {there_.address() - 1, there_.tag(), 4},
                                           {UINT64_MAX - 1, there_.tag(), 4},
                                           {std::uint64_t{64}, 0, 4}}) {
    EXPECT_EQ(answer_to(call_of(address, tag, size, 4)), to_byte(wire_kind::reply_error));
    EXPECT_TRUE(peer_.open()) << peer_.reason();
  }
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(there_[0], 0);
}

TEST_F(calls_with_bytes, that_end_too_early_close_the_connection) {
  EXPECT_EQ(answer_to(call_of(there_.address(), there_.tag(), UINT64_MAX - 8, 4)), std::nullopt);
  EXPECT_FALSE(peer_.open());
  EXPECT_EQ(ran, 0);
}

TEST_F(calls_with_bytes, without_a_head_close_the_connection) {
  EXPECT_EQ(answer_to(bytes(brought_bytes::head_bytes - 1)), std::nullopt);
  EXPECT_FALSE(peer_.open());
}

TEST_F(calls_with_bytes, whose_arguments_are_cut_off_close_the_connection) {
  bytes payload = call_of(there_.address(), there_.tag(), 4, 4);
  payload.pop_back();
  EXPECT_EQ(answer_to(payload), std::nullopt);
  EXPECT_FALSE(peer_.open());
  EXPECT_EQ(ran, 0);
}

}  // namespace then_call_frames_test
