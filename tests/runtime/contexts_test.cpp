// Contexts of a node, called by a peer: each runs its calls in order on its own thread, and ends after them.
#include "runtime/contexts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace contexts_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::contexts;
using detail::to_byte;
using detail::wire_kind;

std::atomic<bool> let_go{false};
std::atomic<detail::engine*> node{nullptr};
int context_number(int) {
  while (!let_go.load()) std::this_thread::sleep_for(100us);
  return static_cast<int>(contexts::current());
}
int close_it(int value) {
  node.load()->thread_contexts.close_current();
  return value;
}
int ask_for_losses(int value) {
  node.load()->thread_contexts.fail_if_lost();
  return value;
}

detail::stored_message any_message() { return {nullptr, detail::frame_header::call(0, 0, true), {}}; }

class node_contexts : public testing::Test {
 protected:
  node_contexts() {
    let_go = true;
    node = &world_.node();
    while (peer_.receive()) {
    }
  }
  ~node_contexts() override { let_go = true; }

  template <class Function>
  void call(std::uint32_t context, Function, std::uint32_t id) {
    auto& entry = detail::call_of<Function, int>::message::entry();
    bytes payload(8);
    std::memcpy(payload.data(), &context, sizeof context);
    peer_.send({entry.resolve(), id, static_cast<std::uint8_t>(to_byte(wire_kind::call) | detail::in_context)},
               payload);
    world_.step(1);
  }
  /// The next answer: its call, and its value if it is one.
  std::pair<std::uint32_t, std::optional<int>> answer() {
    for (int i = 0; i < 200'000; ++i) {
      if (const auto frame = peer_.receive()) {
        if (frame->first.kind == to_byte(wire_kind::reply_error)) return {frame->first.call, std::nullopt};
        if (frame->first.kind != to_byte(wire_kind::reply)) continue;
        int value = 0;
        std::memcpy(&value, frame->second.data(), sizeof value);
        return {frame->first.call, value};
      }
      world_.step(1);
      std::this_thread::sleep_for(100us);
    }
    ADD_FAILURE() << "no answer came";
    return {};
  }
  [[nodiscard]] contexts& all() { return world_.node().thread_contexts; }

  quiet quiet_;
  world world_;
  world::peer& peer_ = world_.friendly();
};

TEST_F(node_contexts, run_their_calls_in_order) {
  const std::uint32_t first = all().open();
  const std::uint32_t second = all().open();
  EXPECT_NE(first, second);
  EXPECT_NE(first, 0U) << "0 is the main queue";
  let_go = false;
  for (std::uint32_t i = 0; i < 5; ++i) call(first, fn<&context_number>, i);
  let_go = true;
  for (std::uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(answer(), (std::pair<std::uint32_t, std::optional<int>>(i, static_cast<int>(first))));
  call(second, fn<&context_number>, 7);
  EXPECT_EQ(answer().second, static_cast<int>(second));
}

TEST_F(node_contexts, know_what_waits) {
  const std::uint32_t context = all().open();
  const auto is_second = [](const detail::stored_message& message) { return message.head.id() == 2; };
  let_go = false;
  call(context, fn<&context_number>, 1);
  EXPECT_FALSE(all().any(is_second));
  call(context, fn<&context_number>, 2);
  EXPECT_TRUE(all().any(is_second));
  let_go = true;
  EXPECT_EQ(answer().first, 1U);
  EXPECT_EQ(answer().first, 2U);
  EXPECT_FALSE(all().any(is_second));
}

TEST_F(node_contexts, do_not_wait_for_each_other) {
  const std::uint32_t held = all().open();
  const std::uint32_t free = all().open();
  let_go = false;
  call(held, fn<&context_number>, 1);
  call(free, fn<&ask_for_losses>, 2);
  EXPECT_EQ(answer().first, 2U);
  let_go = true;
  EXPECT_EQ(answer().first, 1U);
}

TEST_F(node_contexts, end_after_what_is_queued) {
  const std::uint32_t context = all().open();
  let_go = false;
  for (std::uint32_t i = 0; i < 3; ++i) call(context, fn<&context_number>, i);
  all().end(context);
  all().end(context);
  all().end(12345);
  let_go = true;
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(answer().second, static_cast<int>(context)) << i;
  EXPECT_FALSE(all().push(context, any_message()));
  const std::uint32_t next = all().open();
  EXPECT_NE(next, context) << "numbers are never used twice";
}

TEST_F(node_contexts, close_themselves_from_within) {
  const std::uint32_t context = all().open();
  call(context, fn<&close_it>, 1);
  EXPECT_EQ(answer().first, 1U);
  EXPECT_FALSE(all().push(context, any_message()));
}

TEST_F(node_contexts, say_once_that_pings_were_lost) {
  const std::uint32_t context = all().open();
  for (int i = 0; i < 3; ++i) all().count_lost(context);
  all().count_lost(12345);
  call(context, fn<&ask_for_losses>, 1);
  EXPECT_EQ(answer().second, std::nullopt) << "it throws";
  call(context, fn<&ask_for_losses>, 2);
  EXPECT_NE(answer().second, std::nullopt) << "it was told";
}

TEST_F(node_contexts, are_no_matter_of_other_threads) {
  EXPECT_FALSE(contexts::on_context_thread());
  EXPECT_EQ(contexts::current(), 0U);
  EXPECT_NO_THROW(all().fail_if_lost());
  try {
    all().close_current();
    ADD_FAILURE() << "this thread is no context's";
  } catch (const error& problem) {
    EXPECT_STREQ(problem.what(), "no context to close (this call did not arrive in a context)");
  }
}

TEST_F(node_contexts, are_not_opened_while_the_node_ends) {
  contexts own(world_.node());
  const std::uint32_t context = own.open();
  EXPECT_TRUE(own.close_all().empty());
  EXPECT_FALSE(own.push(context, any_message()));
  try {
    static_cast<void>(own.open());
    ADD_FAILURE() << "it was opened";
  } catch (const error& problem) {
    EXPECT_STREQ(problem.what(), "this node is ending; no context can be opened");
  }
  own.stop();
  own.stop();
}

}  // namespace contexts_test
