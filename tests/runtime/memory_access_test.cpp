// Accesses to another node's memory: what the caller does itself, what runs in the background, and what is refused.
#include "runtime/memory_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "base/process.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using transport::access_result;
using background_access = transport::remote_memory::background_access;

void never_answered() {}

/// One allocation, at address 1000.
class fake_memory final : public transport::remote_memory {
 public:
  static constexpr std::uint64_t begin = 1000;
  fake_memory(std::size_t bytes, background_access how) : bytes_(bytes), how_(how) {}

  access_result put(std::uint64_t address, std::uint64_t, const std::byte*, std::size_t size) override {
    return access(address, size);
  }
  access_result get(std::uint64_t address, std::uint64_t, std::byte*, std::size_t size) override {
    return access(address, size);
  }
  [[nodiscard]] background_access background() const noexcept override { return how_; }

  std::size_t moved() {
    std::lock_guard guard(mutex_);
    return moved_;
  }
  bool moved_here_only() {
    std::lock_guard guard(mutex_);
    return by_ == std::set{std::this_thread::get_id()};
  }
  std::size_t largest() {
    std::lock_guard guard(mutex_);
    return largest_;
  }
  std::atomic<bool> lost{false}, throws{false}, hold{false}, held{false};
  std::atomic<std::int64_t> pause_ns{0};  ///< of each access

 private:
  access_result access(std::uint64_t address, std::size_t size) {
    if (throws && size != 0) throw std::bad_alloc();
    while (hold) {
      held = true;
      std::this_thread::yield();
    }
    if (lost) return access_result::lost;
    if (address < begin || address > begin + bytes_ || size > begin + bytes_ - address)
      return access_result::out_of_range;
    if (size == 0) return access_result::done;
    if (pause_ns != 0) base::sleep_ns(pause_ns);
    std::lock_guard guard(mutex_);
    moved_ += size;
    largest_ = std::max(largest_, size);
    by_.insert(std::this_thread::get_id());
    return access_result::done;
  }

  const std::size_t bytes_;
  const background_access how_;
  std::mutex mutex_;
  std::size_t moved_ = 0, largest_ = 0;
  std::set<std::thread::id> by_;
};

class memory_access : public testing::Test {
 protected:
  static constexpr std::size_t large = std::size_t{16} << 20;  // pays on any machine with two cores

  [[nodiscard]] one_sided what(std::size_t bytes, moved_by whom = moved_by::anyone,
                               std::uint64_t address = fake_memory::begin) const {
    return {one_sided::direction::put, local_.data(), node_, {address, 7}, bytes, whom};
  }
  [[nodiscard]] future<void> access_to(fake_memory& memory, const one_sided& access) {
    return detail::access(world_.node(), world_.node().peer_of(node_), memory, access);
  }
  [[nodiscard]] one_sided until(std::int64_t deadline_ns, moved_by whom = moved_by::anyone) const {
    one_sided result = what(large);
    result.how = {whom, deadline_ns};
    return result;
  }
  static call_outcome late(future<void> access) {
    try {
      access.get();
      ADD_FAILURE() << "it has moved all";
    } catch (const deadline_exceeded& why) {
      EXPECT_NE(std::string(why.what()).find("put of 16777216 bytes"), std::string::npos) << why.what();
      return why.outcome();
    }
    return call_outcome::ran;
  }
  [[nodiscard]] static bool alone() { return base::usable_cores() < 2; }

  test::quiet quiet_;
  test::world world_;
  engine_scope scope_{&world_.node()};
  const node_t node_ = world_.friendly().number;
  mutable std::vector<std::byte> local_{large};
};

TEST_F(memory_access, small_ones_and_what_is_to_be_the_callers_are_moved_at_once) {
  for (const background_access how :
       {background_access::undivided, background_access::parts, background_access::started}) {
    fake_memory memory(large, how);
    const future<void> small = access_to(memory, what(1000));
    EXPECT_EQ(memory.moved(), 1000U);
    const future<void> own = access_to(memory, what(large, moved_by::caller));
    EXPECT_EQ(memory.moved(), 1000U + large);
    EXPECT_EQ(memory.largest(), large);
    EXPECT_TRUE(memory.moved_here_only());
  }
}

TEST_F(memory_access, large_ones_are_moved_once_as_the_memory_can) {
  for (const background_access how : {background_access::undivided, background_access::parts}) {
    fake_memory memory(large, how);
    std::vector<future<void>> some;
    for (int i = 0; i < 3; ++i) some.push_back(access_to(memory, what(large)));
    for (auto& one : some) one.get();
    EXPECT_EQ(memory.moved(), 3 * large);
    EXPECT_EQ(memory.largest() == large, how == background_access::undivided || alone());
  }
}

TEST_F(memory_access, what_is_not_allowed_moves_nothing) {
  fake_memory memory(large, background_access::parts);
  for (const std::uint64_t address : {fake_memory::begin - 1, fake_memory::begin + 1}) {
    auto refused = access_to(memory, what(large, moved_by::anyone, address));
    EXPECT_THROW(refused.get(), buffer_error);
  }
  auto wraps = access_to(memory, what(UINT64_MAX - 3, moved_by::anyone, fake_memory::begin + 10));
  EXPECT_THROW(wraps.get(), buffer_error);
  EXPECT_EQ(memory.moved(), 0U);
}

/// While it is moved, the node is lost. What waits for that must not run on the transfer thread, which others need.
TEST_F(memory_access, of_a_node_that_is_lost_meanwhile) {
  if (alone()) GTEST_SKIP() << "one core: there is no background access";
  fake_memory memory(large, background_access::undivided);
  memory.hold = true;
  struct note final : continuation {
    std::thread::id by;
  } of_call;
  of_call.run = [](continuation* self) { static_cast<note*>(self)->by = std::this_thread::get_id(); };
  auto call = offload::async(node_, fn<&never_answered>);
  offload::detail::future_access::on_settled(call, &of_call);
  auto access = access_to(memory, what(large));
  while (!memory.held) std::this_thread::yield();
  memory.lost = true;
  world_.node().events.on_lost(node_, "it was unplugged");
  memory.hold = false;
  while (world_.node().memory.transfers().busy()) std::this_thread::yield();
  EXPECT_EQ(of_call.by, std::thread::id()) << "nobody has waited yet";
  EXPECT_THROW(access.get(), node_failure);
  EXPECT_EQ(of_call.by, std::this_thread::get_id());
  EXPECT_THROW(call.get(), node_failure);
}

TEST_F(memory_access, what_waits_for_one_goes_on_where_somebody_waits) {
  fake_memory memory(large, background_access::parts);
  for (int round = 0; round < 20; ++round) {
    std::thread::id by;
    auto behind = access_to(memory, what(large)).then([&] { by = std::this_thread::get_id(); });
    behind.get();
    EXPECT_EQ(by, std::this_thread::get_id());
  }
}

TEST_F(memory_access, stops_at_the_deadline_between_two_parts) {
  for (const background_access how :
       {background_access::started, background_access::undivided, background_access::parts}) {
    for (const moved_by whom : {moved_by::caller, moved_by::anyone}) {
      fake_memory memory(large, how);
      // On a busy machine the deadline may pass before the first part begins: then it is later.
      call_outcome outcome = call_outcome::not_run;
      for (std::int64_t ns = 10'000'000; outcome == call_outcome::not_run && ns < 10'000'000'000; ns *= 4) {
        EXPECT_EQ(memory.moved(), 0U);
        memory.pause_ns = 2 * ns;
        outcome = late(access_to(memory, until(base::now_ns() + ns, whom)));
      }
      EXPECT_EQ(outcome, call_outcome::may_have_run);
      EXPECT_GT(memory.moved(), 0U);
      EXPECT_LT(memory.moved(), large);
      const std::size_t moved = memory.moved();
      base::sleep_ns(memory.pause_ns + 10'000'000);
      EXPECT_EQ(memory.moved(), moved) << "nothing goes on behind the future";
      memory.pause_ns = 0;
      access_to(memory, until(base::now_ns() + 60'000'000'000, whom)).get();
      EXPECT_EQ(memory.moved(), moved + large);
    }
  }
}

TEST_F(memory_access, the_program_is_told_of_a_deadline_that_passes) {
  std::vector<offload::event> received;
  world_.node().reports.use([&](const offload::event& what) { received.push_back(what); });
  for (const moved_by whom : {moved_by::anyone, moved_by::caller}) {
    received.clear();
    for (const background_access how : {background_access::undivided, background_access::parts}) {
      fake_memory memory(large, how);
      memory.pause_ns = 20'000'000;
      EXPECT_NE(late(access_to(memory, until(base::now_ns() + 10'000'000, whom))), call_outcome::ran);
      base::sleep_ns(2 * memory.pause_ns);  // what is under way needs the memory
    }
    for (int i = 0; i < 100 && received.empty(); ++i) world_.node().poll_once();
    ASSERT_FALSE(received.empty());
    EXPECT_EQ(received[0].kind, offload::event_kind::deadline_missed);
    EXPECT_EQ(received[0].node, node_);
    EXPECT_EQ(received[0].reason, "put");
  }
}

/// The thread of transfers is held by another access, and nobody waits for this one by itself.
TEST_F(memory_access, expires_while_nobody_moves_it) {
  if (alone()) GTEST_SKIP() << "one core: there is no background access";
  fake_memory blocked(large, background_access::undivided);
  blocked.hold = true;
  auto first = access_to(blocked, what(large));
  while (!blocked.held) std::this_thread::yield();
  fake_memory memory(large, background_access::parts);
  auto behind = access_to(memory, until(base::now_ns() + 10'000'000)).then([] {});
  EXPECT_EQ(late(std::move(behind)), call_outcome::not_run);
  EXPECT_EQ(memory.moved(), 0U);
  blocked.hold = false;
  first.get();
}

TEST_F(memory_access, what_the_transport_throws_arrives) {
  fake_memory memory(large, background_access::undivided);
  memory.throws = true;
  auto access = access_to(memory, what(large));
  EXPECT_THROW(access.get(), std::bad_alloc);
}

}  // namespace
}  // namespace ham::offload::detail
