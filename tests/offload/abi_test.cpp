// The structs of the library that programs touch by code that is compiled into them (docs/versions.md). A change here
// breaks programs that were linked with a release: raise the minor version with it.
#include <gtest/gtest.h>

#include <cstddef>

#include "ham/offload/detail/engine_api.hpp"

namespace {

using namespace ham::detail;

// As on every processor of 64 bits that HAM is built for.
static_assert(sizeof(void*) == 8);

TEST(abi, of_pending_calls) {
  EXPECT_EQ(offsetof(call_slot, state), 0U);
  EXPECT_EQ(offsetof(call_slot, id), 4U);
  EXPECT_EQ(offsetof(call_slot, decode), 8U);
  EXPECT_EQ(offsetof(call_slot, owner), 16U);
  EXPECT_EQ(offsetof(call_slot, then), 24U);
  EXPECT_EQ(offsetof(call_slot, function), 32U);
  EXPECT_EQ(offsetof(call_slot, storage), 64U);
  EXPECT_EQ(sizeof(call_slot), 128U);
  EXPECT_EQ(alignof(call_slot), 64U);
  EXPECT_EQ(static_cast<unsigned>(slot_state::value), 2U);
  EXPECT_EQ(static_cast<unsigned>(slot_state::failed), 3U);
}

TEST(abi, of_room_for_messages) {
  EXPECT_EQ(offsetof(call_room, data), 0U);
  EXPECT_EQ(offsetof(call_room, slot), 24U);
  EXPECT_EQ(sizeof(call_room), 40U);
  EXPECT_EQ(offsetof(reply_room, data), 0U);
  EXPECT_EQ(sizeof(reply_room), 32U);
}

TEST(abi, of_received_calls) {
  EXPECT_EQ(offsetof(incoming_call, payload), 16U);
  EXPECT_EQ(offsetof(incoming_call, call), 32U);
  EXPECT_EQ(offsetof(incoming_call, decoded), 56U);
  EXPECT_EQ(offsetof(incoming_call, sink), 64U);
  EXPECT_EQ(sizeof(incoming_call), 72U);
}

}  // namespace
