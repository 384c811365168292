// Accesses that their transport moves: on whose threads, rows some at a time, failures, losses, the end of the node.
#include "runtime/started_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using transport::access_result;
using background_access = transport::remote_memory::background_access;

/// Memory whose accesses are started: each is over when it has been tested `tests` times. At address 1000.
class started_memory final : public transport::remote_memory {
 public:
  static constexpr std::uint64_t begin = 1000;
  explicit started_memory(std::size_t bytes) : bytes_(bytes) {}

  access_result put(std::uint64_t, std::uint64_t, const std::byte*, std::size_t) override {
    ++blocking;
    return access_result::done;
  }
  access_result get(std::uint64_t, std::uint64_t, std::byte*, std::size_t) override {
    ++blocking;
    return access_result::done;
  }
  [[nodiscard]] background_access background() const noexcept override { return background_access::started; }
  [[nodiscard]] bool open_to_all() const noexcept override { return any_thread; }
  [[nodiscard]] std::unique_ptr<transport::started_access> start_put(std::uint64_t address, std::uint64_t,
                                                                     const std::byte*, std::size_t size) override {
    if (throws_after >= 0 && throws_after-- == 0) throw std::bad_alloc();
    auto answer = access_result::done;
    if (address < begin || address > begin + bytes_ || size > begin + bytes_ - address)
      answer = access_result::out_of_range;
    if (size != 0 && answer == access_result::done) {
      EXPECT_EQ(checks_under_way, 0) << "rows move before the block is known to be allowed";
      moved += size;
    }
    if (size == 0) ++checks_under_way;
    ++under_way;
    most = std::max(most.load(), under_way.load());
    return std::make_unique<one>(*this, lost ? access_result::lost : answer, size == 0);
  }
  [[nodiscard]] std::unique_ptr<transport::started_access> start_get(std::uint64_t address, std::uint64_t tag,
                                                                     std::byte* to, std::size_t size) override {
    return start_put(address, tag, to, size);
  }

  std::atomic<int> blocking{0}, under_way{0}, most{0}, checks_under_way{0}, tests{3}, throws_after{-1};
  std::atomic<std::size_t> moved{0};
  std::atomic<bool> any_thread{true}, hold{false}, lost{false}, by_other{false};
  const std::thread::id owner = std::this_thread::get_id();

 private:
  class one final : public transport::started_access {
   public:
    one(started_memory& of, access_result answer, bool check) : of_(of), answer_(answer), check_(check) {}
    ~one() override { --of_.under_way; }
    bool test(access_result& how) noexcept override {
      if (std::this_thread::get_id() != of_.owner) of_.by_other = true;
      if (of_.hold || ++tested_ < of_.tests) return false;
      if (check_) --of_.checks_under_way;
      how = of_.lost ? access_result::lost : answer_;
      return true;
    }

   private:
    started_memory& of_;
    const access_result answer_;
    const bool check_;
    int tested_ = 0;
  };
  const std::size_t bytes_;
};

class started_rows_of : public testing::Test {
 protected:
  static constexpr std::size_t large = std::size_t{16} << 20;
  static constexpr std::size_t row = std::size_t{64} << 10;

  [[nodiscard]] one_sided what(std::size_t bytes, std::uint64_t address = started_memory::begin) const {
    return {one_sided::direction::put, local_.data(), node_, {address, 7}, bytes, moved_by::anyone};
  }
  [[nodiscard]] one_sided block(std::size_t rows, std::uint64_t address = started_memory::begin) const {
    one_sided all = what(rows * row, address);
    all.rows = {row, row, 2 * row};
    return all;
  }
  [[nodiscard]] future<void> access_to(started_memory& memory, const one_sided& access) {
    return detail::access(world_.node(), world_.node().peer_of(node_), memory, access);
  }

  test::quiet quiet_;
  test::world world_;
  engine_scope scope_{&world_.node()};
  const node_t node_ = world_.friendly().number;
  mutable std::vector<std::byte> local_ = std::vector<std::byte>(large);
};

TEST_F(started_rows_of, that_the_transport_starts_goes_on_while_the_caller_computes) {
  started_memory memory(large);
  memory.tests = 50;
  auto access = access_to(memory, what(large));
  for (int i = 0; i < 5000 && memory.under_way != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(memory.under_way, 0);
  EXPECT_TRUE(memory.by_other);
  access.get();
  EXPECT_EQ(memory.moved, large);
  EXPECT_EQ(memory.blocking, 0);
}

TEST_F(started_rows_of, that_is_started_is_over_for_who_waits_where_no_other_thread_may) {
  started_memory memory(large);
  memory.any_thread = false;
  std::vector<future<void>> some;
  for (int i = 0; i < 4; ++i) some.push_back(access_to(memory, what(large)));
  EXPECT_EQ(memory.under_way, 4) << "at once";
  EXPECT_FALSE(some[0].wait_for(std::chrono::nanoseconds(0))) << "nobody has tested it often enough";
  for (auto& one : some) one.get();
  auto tested = access_to(memory, what(large));
  while (!tested.test()) {
  }
  EXPECT_FALSE(memory.by_other);
  EXPECT_EQ(memory.moved, 5 * large);
}

TEST_F(started_rows_of, started_rows_are_checked_first_and_some_are_under_way_at_once) {
  constexpr std::size_t rows = 50;
  started_memory memory((2 * rows - 1) * row);
  memory.any_thread = false;
  access_to(memory, block(rows)).get();
  EXPECT_EQ(memory.moved, rows * row);
  EXPECT_GT(memory.most, 1);
  EXPECT_LE(memory.most, 8);
  for (const std::uint64_t address : {started_memory::begin - 1, started_memory::begin + 1}) {
    auto refused = access_to(memory, block(rows, address));
    EXPECT_THROW(refused.get(), buffer_error);
  }
  auto wraps = access_to(memory, block(rows, UINT64_MAX - row));
  EXPECT_THROW(wraps.get(), buffer_error);
  EXPECT_EQ(memory.moved, rows * row) << "nothing of what was refused";
}

/// Its memory is the caller's again when the future has settled.
TEST_F(started_rows_of, a_started_row_that_fails_is_told_when_nothing_moves_any_more) {
  started_memory memory(100 * row);
  memory.any_thread = false;
  memory.throws_after = 5;  // three rows are under way
  auto access = access_to(memory, block(20));
  EXPECT_THROW(access.get(), std::bad_alloc);
  EXPECT_EQ(memory.moved, 3 * row);
  EXPECT_EQ(memory.under_way, 0);
}

TEST_F(started_rows_of, started_of_a_node_that_is_lost_meanwhile) {
  for (const bool any_thread : {true, false}) {
    test::world world;
    const engine_scope scope(&world.node());
    const node_t node = world.friendly().number;
    started_memory memory(large);
    memory.any_thread = any_thread;
    memory.hold = true;
    one_sided put = what(large);
    put.node = node;
    auto access = detail::access(world.node(), world.node().peer_of(node), memory, put);
    EXPECT_FALSE(access.wait_for(std::chrono::milliseconds(20)));
    memory.lost = true;
    memory.hold = false;
    world.node().events.on_lost(node, "it was unplugged");
    try {
      access.get();
      ADD_FAILURE() << "it was lost";
    } catch (const node_failure& failure) {
      EXPECT_NE(std::string(failure.what()).find("it was unplugged"), std::string::npos) << failure.what();
    }
  }
}

/// The transport says that it is lost, and nobody ever says why.
TEST_F(started_rows_of, started_and_lost_without_a_word) {
  started_memory memory(large);
  memory.lost = true;
  auto access = access_to(memory, what(large));
  EXPECT_THROW(access.get(), node_failure);
}

TEST_F(started_rows_of, what_stands_still_at_the_end_is_given_up) {
  auto world = std::make_unique<test::world>();
  started_memory memory(large);
  memory.hold = true;
  future<void> access = [&] {
    const engine_scope scope(&world->node());
    one_sided put = what(large);
    put.node = world->friendly().number;
    return detail::access(world->node(), world->node().peer_of(put.node), memory, put);
  }();
  EXPECT_EQ(memory.under_way, 1);
  world.reset();
  EXPECT_EQ(memory.under_way, 0);
  EXPECT_THROW(access.get(), error);
}

}  // namespace
}  // namespace ham::offload::detail
