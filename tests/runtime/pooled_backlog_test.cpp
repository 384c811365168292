// Pooled calls that wait for a thread are bounded as those of contexts are.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace pooled_backlog_test {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

std::atomic<bool> open{false};
int wait_for_the_gate(const std::string& text) {
  while (!open) std::this_thread::yield();
  return static_cast<int>(text.size());
}

std::size_t length(const std::string& text) { return text.size(); }

[[maybe_unused]] void never_called() { offload::sync(0, pooled(fn<&wait_for_the_gate>), std::string()); }
void (*const keep)() = &never_called;

TEST(pooled_backlog, is_bounded_and_refuses_what_is_beyond) {
  ASSERT_NE(keep, nullptr);
  open = false;
  world here;
  here.node().limit_messages(4096);  // 64 KiB of messages may wait
  world::peer& peer = here.friendly();
  const std::string text(1000, 'x');
  const std::size_t size = msg::encoded_size(text);
  bytes arguments(size);
  msg::writer to(arguments.data(), size);
  msg::encode(to, text);
  constexpr std::uint32_t calls = 200;
  for (std::uint32_t i = 0; i < calls; ++i) {
    peer.send({key_of("wait_for_the_gate"), i, to_byte(wire_kind::call)}, arguments);
    here.step();
  }
  std::uint32_t refused = 0;
  while (const auto answer = peer.receive()) {
    ASSERT_EQ(answer->first.kind, to_byte(wire_kind::reply_error));
    ++refused;
  }
  EXPECT_EQ(refused, calls - 65);
  open = true;
  for (std::uint32_t ran = 0; ran < calls - refused;) {
    here.step();
    const auto answer = peer.receive();
    if (!answer) continue;
    EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply));
    ++ran;
  }
  peer.send({key_of("wait_for_the_gate"), 1, to_byte(wire_kind::call)}, arguments);
  here.step();
  for (auto answer = peer.receive();; answer = peer.receive()) {
    if (!answer) continue;
    EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply)) << "there is room again";
    break;
  }
}

TEST(pooled_backlog, who_waits_for_room_gives_its_thread_to_the_next_job) {
  world here;
  world::peer& full = here.friendly();
  const auto fill = [&] {
    const detail::engine_scope scope(&here.node());
    while (auto one = offload::try_async(full.number, fn<&length>, std::string())) one->detach();
  };
  fill();
  msg::thread_pool& pool = msg::thread_pool::process();
  const std::size_t usual = pool.size();
  pool.resize(1);
  std::atomic<bool> sent{false};
  std::atomic<bool> next_ran{false};
  pool.submit([&] {
    const detail::engine_scope scope(&here.node());
    offload::async(full.number, fn<&length>, std::string()).detach();
    sent = true;
  });
  pool.submit([&] { next_ran = true; });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!next_ran && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(next_ran.load()) << "the only thread of the pool waits for room at a node";
  EXPECT_FALSE(sent.load());
  while (!sent) static_cast<void>(full.receive());
  pool.resize(usual);
}

}  // namespace pooled_backlog_test
