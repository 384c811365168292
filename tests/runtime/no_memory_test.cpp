// Memory that runs out while a lock is held: the lock is given back, and the node goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include "base/extent_list.hpp"
#include "core/batch_reply.hpp"
#include "core/slot_table.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "ham/offload/detail/reverse_calls.hpp"
#include "runtime/device_job.hpp"
#include "runtime/graph_part.hpp"
#include "runtime/pool_state.hpp"

namespace no_memory_test {

/// Allocations of this thread until one fails; negative: none does.
thread_local long left = -1;
thread_local bool has_failed = false;

/// The allocation number `at` of its scope fails.
class failing {
 public:
  explicit failing(long at) {
    has_failed = false;
    left = at;
  }
  ~failing() { left = -1; }
  failing(const failing&) = delete;
  failing& operator=(const failing&) = delete;
  /// Also ends it.
  [[nodiscard]] bool failed() {
    left = -1;
    return has_failed;
  }
};

}  // namespace no_memory_test

#ifndef HAM_TEST_SANITIZED  // a sanitizer has its own; not inlined, because GCC warns of free and new then
[[gnu::noinline]] void* operator new(std::size_t size) {
  using namespace no_memory_test;
  if (left >= 0 && left-- == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  using namespace no_memory_test;
  if (left >= 0 && left-- == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  const auto align = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace no_memory_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::to_byte;
using detail::wire_kind;

int echo(int value) { return value; }
std::size_t length(const std::vector<int>& what) { return what.size(); }
int on_device(int value) { return value + 1; }

}  // namespace no_memory_test

HAM_DEVICE_FUNCTION(no_memory_test::on_device, thread)

namespace no_memory_test {

/// Counts how replays of a graph end.
struct counting final : detail::replay_observer {
  void on_result(std::uint32_t, std::span<const std::byte>) noexcept override { ended.fetch_add(1); }
  void on_failed(std::uint32_t, std::uint32_t, std::exception_ptr) noexcept override { ended.fetch_add(1); }
  void on_lost(node_t, const std::string&) noexcept override {}
  std::atomic<std::uint32_t> ended{0};
};

class no_memory : public testing::Test {
 protected:
  void SetUp() override {
#ifdef HAM_TEST_SANITIZED
    GTEST_SKIP() << "operator new is the sanitizer's";
#endif
  }

  [[nodiscard]] static node_t number_of(const world::peer& one) { return one.number; }
  /// The peer can be called, and its answers arrive: no lock was left behind.
  void expect_works(world::peer& with) {
    auto call = offload::async(number_of(with), fn<&echo>, 1);
    std::optional<std::pair<wire::frame_head, bytes>> asked;
    while ((asked = with.receive()) && asked->first.kind != to_byte(wire_kind::call)) {
    }
    ASSERT_TRUE(asked);
    with.send({0, asked->first.call, to_byte(wire_kind::reply)}, bytes{std::byte{7}, {}, {}, {}});
    world_.step();
    ASSERT_TRUE(call.test());
    EXPECT_EQ(call.get(), 7);
  }

  quiet quiet_;
  world world_;
  detail::engine_scope scope_{&world_.node()};
};

TEST_F(no_memory, for_a_long_message) {
  const std::vector<int> big(1 << 16);
  bool failed = true;
  for (long at = 0; failed; ++at) {
    world::peer& peer = world_.friendly();
    {
      failing now(at);
      try {
        if (auto one = offload::try_async(number_of(peer), fn<&length>, big)) one->detach();
      } catch (const std::bad_alloc&) {
        EXPECT_TRUE(has_failed);
      }
      failed = now.failed();
    }
    while (peer.receive()) {
    }
    world_.step();
    if (failed) expect_works(peer);
  }
}

TEST_F(no_memory, for_the_failure_of_a_node) {
  world::peer& living = world_.friendly();
  bool failed = true;
  for (long at = 0; failed; ++at) {
    world::peer& lost = world_.friendly();
    std::vector<offload::future<int>> pending;
    for (int i = 0; i < 3; ++i) pending.push_back(offload::async(number_of(lost), fn<&echo>, i));
    const std::string reason = "its process died in a way that takes some words to describe";
    {
      failing now(at);
      world_.node().events.on_died(number_of(lost), reason);
      world_.step();
      failed = now.failed();
    }
    for (auto& one : pending) {
      ASSERT_TRUE(one.test()) << at;
      EXPECT_THROW((void)one.get(), node_failure);
    }
    EXPECT_THROW((void)offload::async(number_of(lost), fn<&echo>, 1), node_failure);
    ASSERT_NO_FATAL_FAILURE(expect_works(living)) << at;
  }
}

TEST_F(no_memory, for_a_result_in_a_batch) {
  detail::peer_place place;
  std::atomic<std::uint32_t> filled{0};
  detail::peer caller(2, place, filled);
  auto* const reply = new detail::batch_reply(world_.node().replies, caller, 2);
  reply->share();
  {
    failing now(0);
    detail::reply_room none;
    EXPECT_THROW(reply->begin(1, 1 << 20, none), std::bad_alloc);
  }
  {
    detail::reply_room room;
    reply->begin(1, 4, room);  // hangs if the lock was kept
  }
  delete reply;
}

TEST_F(no_memory, for_an_error_in_a_batch) {
  world::peer& caller = world_.friendly();
  while (caller.receive()) {
  }
  const detail::peer_hold who = world_.node().peer_of(number_of(caller));
  auto* const reply = new detail::batch_reply(world_.node().replies, *who, 2);
  reply->share();
  const bytes long_error(1 << 16);
  {
    failing now(0);
    reply->fail(1, long_error);
    EXPECT_TRUE(now.failed());
  }
  reply->fail(2, {});  // hangs if the lock was kept
  const auto told = caller.receive();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->first.kind, to_byte(wire_kind::batch_reply));
  EXPECT_EQ(told->second.size(), 2 * detail::batch_reply::head_bytes) << "both failed, without a text";
}

bytes batch_of_calls(std::uint32_t key, std::uint32_t count) {
  bytes all;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t word : {key, 100 + i, std::uint32_t{4}, i}) {
      const auto* const at = reinterpret_cast<const std::byte*>(&word);
      all.insert(all.end(), at, at + 4);
    }
  }
  return all;
}

TEST_F(no_memory, for_a_batch_that_has_waited) {
  const std::uint32_t key = detail::call_of<fn_t<int (*)(int), &echo>, int>::message::entry().key();
  world::peer& living = world_.listening();
  bool failed = true;
  for (long at = 0; failed; ++at) {
    world::peer& caller = world_.listening();
    caller.send({4, detail::no_reply, to_byte(wire_kind::batch)}, batch_of_calls(key, 4));
    {
      const detail::only_receiving sets_aside;
      world_.step();
    }
    {
      failing now(at);
      world_.step();
      failed = now.failed();
    }
    bool answered = false;
    for (int i = 0; i < 10'000 && caller.open() && !answered; ++i) {
      while (const auto got = caller.receive())
        answered = answered || got->first.kind == to_byte(wire_kind::batch_reply);
      world_.step();
    }
    EXPECT_TRUE(answered || !caller.open()) << "who called waits for ever, at " << at;
    ASSERT_NO_FATAL_FAILURE(expect_works(living)) << at;
  }
}

std::atomic<long> fails_at{-1};

int leaves_no_memory(int) {
  left = fails_at;
  return 0;
}

/// On the thread of the context, which has none from its first call on.
TEST_F(no_memory, for_a_batch_in_a_context) {
  const std::uint32_t key = detail::call_of<fn_t<int (*)(int), &leaves_no_memory>, int>::message::entry().key();
  const std::uint32_t context = world_.node().thread_contexts.open();
  bytes in_it(4);
  std::memcpy(in_it.data(), &context, 4);
  const auto with_context = [&](const bytes& what) {
    bytes all = in_it;
    all.insert(all.end(), what.begin(), what.end());
    return all;
  };
  for (const long at : {0, 1}) {  // the object, its room
    fails_at = at;
    world::peer& caller = world_.listening();
    caller.send({key, 5, static_cast<std::uint8_t>(to_byte(wire_kind::call) | detail::in_context)},
                with_context(bytes(4)));
    bool told = false;
    while (!told) {
      world_.step();
      while (const auto got = caller.receive()) told = told || got->first.call == 5;
    }
    caller.send({4, detail::no_reply, static_cast<std::uint8_t>(to_byte(wire_kind::batch) | detail::in_context)},
                with_context(batch_of_calls(key, 4)));
    bool answered = false;
    while (caller.open() && !answered) {  // hangs if the process goes on without an answer
      world_.step();
      while (const auto got = caller.receive())
        answered = answered || got->first.kind == to_byte(wire_kind::batch_reply);
    }
    EXPECT_EQ(answered, at == 1) << at;
  }
}

TEST_F(no_memory, for_more_pending_calls) {
  detail::slot_table table(nullptr);
  {
    failing now(0);
    EXPECT_THROW((void)table.claim(), std::bad_alloc);
  }
  detail::call_slot* const slot = table.claim();  // hangs if the lock was kept
  ASSERT_NE(slot, nullptr);
  table.release(*slot);
}

TEST_F(no_memory, for_the_parts_of_an_extent_list) {
  base::extent_list list;
  list.add_free(0, 50);
  {
    failing now(0);
    EXPECT_THROW((void)list.take(10), std::bad_alloc);
  }
  for (std::uint64_t at = 0; at < 50; at += 10) ASSERT_EQ(list.take(10), at) << "nothing was taken in vain";
  {
    failing now(0);
    for (const std::uint64_t at : {10, 30, 20, 0, 40}) list.give(at);  // alone, and between neighbours
    EXPECT_FALSE(now.failed()) << "giving back asked for memory";
  }
  EXPECT_EQ(list.take(50), 0U) << "all of it is one part again";
}

TEST_F(no_memory, for_a_deadline) {
  bool failed = true;
  for (long at = 0; failed; ++at) {
    world::peer& peer = world_.friendly();
    while (peer.receive()) {
    }
    std::optional<offload::future<int>> call;
    {
      failing now(at);
      try {
        call.emplace(offload::async(offload::within(number_of(peer), 20ms), fn<&echo>, 1));
      } catch (const std::bad_alloc&) {
        EXPECT_TRUE(has_failed);
      }
      failed = now.failed();
    }
    if (!call) {
      EXPECT_FALSE(peer.receive()) << "it was sent, and nobody holds its future";
      continue;
    }
    EXPECT_TRUE(peer.receive());
    EXPECT_THROW((void)call->get(), deadline_exceeded);
  }
}

std::function<void()> inside;

int calls_others(int) {
  inside();
  return 0;
}

/// A function that can be stopped keeps a list of the calls that it makes.
TEST_F(no_memory, for_the_list_of_nested_calls) {
  const std::uint32_t key = detail::call_of<fn_t<int (*)(int), &calls_others>, int>::message::entry().key();
  world::peer& caller = world_.listening();
  world::peer& called = world_.listening();
  bool failed = true;
  for (long at = 0; failed; ++at) {
    bool run = false;
    inside = [&] {
      run = true;
      std::optional<offload::future<int>> call;
      {
        failing now(at);
        try {
          call.emplace(offload::async(number_of(called), fn<&echo>, 1));
        } catch (const std::bad_alloc&) {
          EXPECT_TRUE(has_failed);
        }
        failed = now.failed();
      }
      EXPECT_EQ(call.has_value(), called.receive().has_value())
          << "it was sent, and nobody holds its future, at " << at;
      if (call) call->detach();
    };
    caller.send({key, static_cast<std::uint32_t>(200 + at),
                 static_cast<std::uint8_t>(to_byte(wire_kind::call) | detail::stoppable)},
                bytes(12));  // no limit of time, and the argument
    world_.step();
    ASSERT_TRUE(run);
  }
}

TEST_F(no_memory, for_the_answer_to_a_call) {
  bool failed = true;
  for (long at = 0; failed; ++at) {
    world::peer& peer = world_.friendly();
    while (auto one = offload::try_async(number_of(peer), fn<&echo>, 1)) one->detach();  // no room for an answer
    const std::uint32_t key = detail::call_of<fn_t<int (*)(int), &echo>, int>::message::entry().key();
    peer.send({key, 7, to_byte(wire_kind::call)}, bytes{std::byte{7}, {}, {}, {}});
    {
      failing now(at);
      world_.step();
      failed = now.failed();
    }
    bool answered = false;
    for (int i = 0; i < 10'000 && peer.open() && !answered; ++i) {
      while (const auto got = peer.receive()) answered = answered || got->first.call == 7;
      world_.step();
    }
    EXPECT_TRUE(answered || !peer.open()) << "who called waits for ever, at " << at;
  }
}

TEST_F(no_memory, for_the_answer_to_the_own_node) {
  bool failed = true;
  for (long at = 0; failed; ++at) {
    auto call = offload::async(world_.node().self(), fn<&echo>, 5);
    {
      failing now(at);
      world_.step();
      failed = now.failed();
    }
    ASSERT_TRUE(call.wait_for(10s)) << at;
    try {
      EXPECT_EQ(call.get(), 5);
    } catch (const std::bad_alloc&) {
    }
  }
}

TEST_F(no_memory, for_the_loss_of_a_node_of_a_pool) {
  const node_t node = world_.friendly().number;
  const std::string what(100, 'x'), host(100, 'y');
  const std::exception_ptr why =
      std::make_exception_ptr(node_failure(what, {.node = node, .host = host, .function = {}}));
  long at = 0;
  for (bool failed = true; failed; ++at) {
    offload::detail::pool_state pool(world_.node(), {node}, 1);
    failing from(at);
    pool.exclude(0, why);
    failed = from.failed();
    EXPECT_EQ(pool.living(), 0U);
    EXPECT_THROW(static_cast<void>(pool.enter(detail::when_full::refuse)), node_failure);
  }
  EXPECT_GE(at, 2) << "its texts take some";
}

/// Its stages and its part go when they have ended.
TEST_F(no_memory, for_a_chain_of_a_device) {
  owner_of_device owner({.blocks = 1, .warps = 1, .lanes = 1});
  const detail::device_calls calls(world_.node(), owner);
  const node_t self = world_.node().self();
  auto& function = detail::call_of<std::decay_t<decltype(fn<&on_device>)>, int>::message::entry();
  offload::detail::graph_recording graph;
  std::uint32_t last = record_input(graph, typeid(int));
  for (int i = 0; i < 3; ++i) last = record_call(graph, self, function, {{last, {}}});
  offload::detail::part_plan plan = divide_graph(finish_recording(graph, last, {}), self, 2).parts[0];
  for (offload::detail::part_stage& one : plan.stages) one.key = function.resolve();
  plan.parts = {{self, 1}};
  const auto seen = std::make_shared<counting>();
  auto part = std::make_shared<detail::graph_part>(world_.node(), self, plan, seen);
  bytes input(8);
  msg::writer to(input.data(), input.size());
  to.number(std::uint32_t{4});
  msg::encode(to, 5);
  bool failed = true;
  std::uint32_t replay = 0;
  for (long at = -1; failed; ++at) {
    {
      failing now(at);
      part->start(++replay, input, {.stoppable = true});
      failed = now.failed() || at < 0;  // the part learns first which functions the device has
    }
    ASSERT_TRUE(eventually([&] { return seen->ended.load() == replay; })) << at;
  }
  const std::weak_ptr<detail::graph_part> left_of_it = part;
  part.reset();
  EXPECT_TRUE(eventually([&] { return left_of_it.expired(); }));
}

}  // namespace no_memory_test
