// When arenas of other nodes' devices are opened and closed, and what is known of them until then.
#include "runtime/peer_arenas.hpp"

#include <gtest/gtest.h>

#include "runtime/stepped_memory.hpp"

namespace ham::inline v1::detail {
namespace {

class arenas_of_peers : public testing::Test {
 protected:
  using state = peer_arenas::state;

  test::stepped_memory memory_{1000};
  test::stepped_memory other_{1000};
  const transport::arena_handle handle_ = other_.export_arena();
  peer_arenas arenas_{memory_};
};

TEST_F(arenas_of_peers, are_opened_when_the_kernel_is_absent) {
  EXPECT_EQ(arenas_.own(), memory_.export_arena());
  EXPECT_FALSE(arenas_.wanted());
  EXPECT_EQ(arenas_.ask(3, handle_), state::wanted);
  EXPECT_EQ(arenas_.ask(3, handle_), state::wanted);
  EXPECT_TRUE(arenas_.wanted());
  EXPECT_EQ(arenas_.find(3), nullptr);
  EXPECT_EQ(memory_.asked_to_open(), 0U);
  arenas_.open_wanted();
  EXPECT_FALSE(arenas_.wanted());
  EXPECT_EQ(arenas_.ask(3, handle_), state::open);
  ASSERT_NE(arenas_.find(3), nullptr);
  EXPECT_EQ(arenas_.find(3)->address(), other_.arena().address);
  EXPECT_EQ(arenas_.find(4), nullptr);
  EXPECT_EQ(memory_.asked_to_open(), 1U);
}

TEST_F(arenas_of_peers, that_are_refused_are_not_asked_for_again) {
  memory_.refuse_peers();
  EXPECT_EQ(arenas_.ask(3, handle_), state::wanted);
  EXPECT_FALSE(arenas_.refuses(3));
  arenas_.open_wanted();
  EXPECT_EQ(arenas_.ask(3, handle_), state::refused);
  EXPECT_TRUE(arenas_.refuses(3));
  EXPECT_FALSE(arenas_.wanted());
  EXPECT_EQ(memory_.asked_to_open(), 1U);
}

TEST_F(arenas_of_peers, are_one_for_each_node_and_none_of_its_own) {
  EXPECT_EQ(arenas_.ask(1, {}), state::refused) << "it has none";
  EXPECT_EQ(arenas_.ask(2, memory_.export_arena()), state::refused) << "its own";
  EXPECT_EQ(arenas_.ask(3, handle_), state::wanted);
  arenas_.open_wanted();
  const test::stepped_memory third(1000);
  EXPECT_EQ(arenas_.ask(3, third.export_arena()), state::refused) << "another handle than before";
  EXPECT_EQ(arenas_.ask(3, handle_), state::open);
  EXPECT_EQ(memory_.asked_to_open(), 1U);
}

TEST_F(arenas_of_peers, are_closed_when_their_node_is_lost_and_no_copy_uses_them) {
  EXPECT_FALSE(arenas_.forget(3));
  EXPECT_EQ(arenas_.ask(3, handle_), state::wanted);
  EXPECT_EQ(arenas_.ask(4, handle_), state::wanted);
  arenas_.open_wanted();
  EXPECT_EQ(memory_.open(), 2U);
  auto used = arenas_.find(3);
  EXPECT_TRUE(arenas_.forget(3));
  EXPECT_TRUE(arenas_.forget(4));
  EXPECT_TRUE(arenas_.wanted());
  EXPECT_EQ(arenas_.find(3), nullptr);
  EXPECT_EQ(arenas_.ask(3, handle_), state::refused);
  EXPECT_EQ(memory_.open(), 2U) << "the kernel may be there";
  arenas_.open_wanted();
  EXPECT_EQ(memory_.open(), 1U) << "a copy uses the other one";
  EXPECT_TRUE(arenas_.wanted()) << "it is closed when that is over";
  used.reset();
  EXPECT_EQ(memory_.open(), 1U);
  arenas_.open_wanted();
  EXPECT_EQ(memory_.open(), 0U);
  EXPECT_FALSE(arenas_.wanted());
}

TEST_F(arenas_of_peers, of_nodes_that_are_lost_before_are_not_opened) {
  EXPECT_EQ(arenas_.ask(3, handle_), state::wanted);
  EXPECT_TRUE(arenas_.forget(3));
  arenas_.open_wanted();
  EXPECT_EQ(memory_.asked_to_open(), 0U);
}

TEST_F(arenas_of_peers, that_were_refused_need_no_closing) {
  EXPECT_EQ(arenas_.ask(3, {}), state::refused);
  EXPECT_FALSE(arenas_.forget(3));
  EXPECT_FALSE(arenas_.wanted());
}

TEST_F(arenas_of_peers, are_asked_for_once) {
  int asked = 0;
  arenas_.on_wanted([&asked] { ++asked; });
  static_cast<void>(arenas_.ask(3, handle_));
  static_cast<void>(arenas_.ask(3, handle_));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(arenas_.forget(3));
  EXPECT_EQ(asked, 1) << "who forgets may have locks";
  arenas_.wake();
  EXPECT_EQ(asked, 2);
  arenas_.on_wanted({});
  static_cast<void>(arenas_.ask(4, handle_));
  EXPECT_EQ(asked, 2);
}

TEST_F(arenas_of_peers, are_limited) {
  const auto all = static_cast<node_t>(peer_arenas::max_peers);
  for (node_t node = 0; node < all; ++node) ASSERT_EQ(arenas_.ask(node, handle_), state::wanted);
  EXPECT_EQ(arenas_.ask(all, handle_), state::refused);
  EXPECT_TRUE(arenas_.forget(0));
  arenas_.open_wanted();
  EXPECT_EQ(arenas_.ask(all, handle_), state::wanted);
}

}  // namespace
}  // namespace ham::detail
