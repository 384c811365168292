// Pings to a node that has too much to do: their sender is told, and waits; who does not gets them refused.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace engine_flow_test {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;
using namespace std::chrono_literals;

int echo(int value) { return value; }
std::atomic<bool> let_go{false};
void hold() {
  while (!let_go) std::this_thread::sleep_for(100us);
}
void take(const std::vector<std::byte>&) {}

class engine_flow : public testing::Test {
 protected:
  /// The bytes of a message in a context.
  template <class Callable, class... Args>
  bytes call_in(std::uint32_t context, const Callable& callable, const Args&... args) {
    bytes result(sizeof context);
    std::memcpy(result.data(), &context, sizeof context);
    using plan = detail::call_plan<Callable, const Args&...>;
    using message = typename plan::call::message;
    plan::with(
        [&](const auto& core, const auto&... values) {
          const std::size_t size = message::size(core, values...);
          result.resize(sizeof context + size);
          msg::writer to(result.data() + sizeof context, size);
          message::encode(to, core, values...);
          key_ = message::entry().resolve();
        },
        callable, args...);
    return result;
  }
  void send(world::peer& from, std::uint32_t id, const bytes& payload) {
    from.send({key_, id, static_cast<std::uint8_t>(to_byte(wire_kind::call) | detail::in_context)}, payload);
    world_.step(1);
  }
  /// What the node said last of pings; nullopt: nothing.
  static std::optional<bool> said(world::peer& by) {
    std::optional<bool> held;
    while (const auto frame = by.receive()) {
      if (frame->first.kind == to_byte(wire_kind::flow)) held = frame->second.at(0) == std::byte{1};
    }
    return held;
  }

  quiet quiet_;
  world world_;
  detail::engine_scope scope_{&world_.node()};
  std::uint32_t key_ = 0;
};

TEST_F(engine_flow, a_node_with_too_much_to_do_says_so_and_says_when_that_is_over) {
  world_.node().limit_messages(1 << 16);  // 16 times as much may wait
  world::peer& peer = world_.friendly();
  let_go = false;
  const std::uint32_t context = world_.node().thread_contexts.open();
  send(peer, detail::no_reply, call_in(context, fn<&hold>));
  const bytes large = call_in(context, fn<&take>, std::vector<std::byte>(1 << 14));
  int sent = 0;
  while (!said(peer) && sent < 1000) {
    send(peer, detail::no_reply, large);
    ++sent;
  }
  EXPECT_GT(sent, 40);
  EXPECT_LT(sent, 64) << "there is still room for what is under way";
  let_go = true;
  std::optional<bool> held;
  for (int i = 0; i < 10000 && !held; ++i) {
    std::this_thread::sleep_for(1ms);
    held = said(peer);
  }
  EXPECT_EQ(held, false);
}

TEST_F(engine_flow, a_loss_is_told_by_draining_the_context) {
  world_.node().limit_messages(1 << 16);
  world::peer& rude = world_.friendly();
  let_go = false;
  offload::context queue(1);  // the node's own
  send(rude, detail::no_reply, call_in(queue.id(), fn<&hold>));
  const bytes large = call_in(queue.id(), fn<&take>, std::vector<std::byte>(1 << 14));
  for (int i = 0; i < 100; ++i) send(rude, detail::no_reply, large);
  let_go = true;
  while (said(rude) != false) std::this_thread::sleep_for(1ms);  // there is room for one more
  try {
    queue.drain();
    ADD_FAILURE() << "nothing was said of a loss";
  } catch (const call_error& lost) {
    EXPECT_NE(std::string(lost.what()).find("were not run"), std::string::npos) << lost.what();
  }
  EXPECT_NO_THROW(queue.drain()) << "it was told";
}

TEST_F(engine_flow, pings_wait_while_they_are_not_welcome) {
  world::peer& busy = world_.friendly();
  const node_t node = busy.number;
  busy.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{1}});
  world_.step();
  try {
    offload::ping(offload::within(node, 5ms), fn<&echo>, 1);
    ADD_FAILURE() << "it was sent";
  } catch (const deadline_exceeded& late) {
    EXPECT_EQ(late.outcome(), call_outcome::not_run);
  }
  EXPECT_FALSE(busy.receive());
  auto answered = offload::async(node, fn<&echo>, 1);
  EXPECT_TRUE(busy.receive()) << "calls that are waited for are not held";

  std::thread later([&] {
    std::this_thread::sleep_for(5ms);
    busy.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{0}});
  });
  offload::ping(node, fn<&echo>, 1);
  later.join();
  EXPECT_TRUE(busy.receive());

  busy.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{1}});
  world_.step();
  world_.node().events.on_lost(node, "it hung up");
  EXPECT_THROW(offload::ping(node, fn<&echo>, 1), node_failure);
  EXPECT_THROW((void)answered.get(), node_failure);
}

TEST_F(engine_flow, who_only_pings_hears_that_it_shall_stop) {
  world::peer& busy = world_.friendly();
  const node_t node = busy.number;
  busy.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{1}});
  int sent = 0;
  EXPECT_THROW(
      {
        for (; sent < 3000; ++sent) offload::ping(offload::within(node, 50ms), fn<&echo>, 1);
      },
      deadline_exceeded);
  EXPECT_LT(sent, 3000);
}

TEST_F(engine_flow, words_that_mean_nothing_close_the_connection) {
  for (const bytes& bad : {bytes{}, bytes{std::byte{2}}, bytes{std::byte{0}, std::byte{0}}}) {
    world::peer& peer = world_.friendly();
    peer.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bad);
    world_.step();
    EXPECT_FALSE(peer.open());
  }
}

}  // namespace engine_flow_test
