// What waits for the resident kernel to be away: pages of other processes are locked then, and functions of the host
// have the device to themselves.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ham/cuda.hpp"
#include "ham/device.hpp"
#include "ham/offload/context.hpp"
#include "ham/offload/stop.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/device_job.hpp"
#include "runtime/stepped_memory.hpp"
#include "transport/cuda/emulated_device.hpp"

namespace ham::inline v1::device_residency_functions {

/// Words of this process.
std::uint64_t begun = 0;

/// Runs until the word is not zero.
int waits_for_word(std::uint64_t address) {
  const auto* const word = reinterpret_cast<const std::uint64_t*>(address);
  __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) {
  }
  return 7;
}

}  // namespace ham::device_residency_functions

HAM_DEVICE_FUNCTION(ham::device_residency_functions::waits_for_word, thread)

namespace ham::inline v1::detail {
namespace {

using device_residency_functions::begun;
using device_residency_functions::waits_for_word;

class residency_owner final : public transport::device_owner {
 public:
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override {
    return std::make_unique<transport::cuda::emulated_device>(transport::cuda::geometry{});
  }
  /// The kernel stays as long as a test may take.
  [[nodiscard]] limits device_limits() const noexcept override { return {100'000'000'000, 0}; }
};

/// Node 1 has a device and memory of it.
class device_residency : public testing::Test {
 protected:
  device_residency() {
    auto made = std::make_unique<test::stepped_memory>(1000);
    memory = made.get();
    engine& node =
        *reinterpret_cast<engine*>(offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&current()); }));
    node.memory.use_device(std::make_shared<device_heap>(std::move(made)));
    memory_of_node = node.memory.device();
    locks = &memory_of_node->locks();
    calls = std::make_unique<device_calls>(node, owner);
  }

  runtime job{test::loopback(1)};
  residency_owner owner;
  std::vector<std::byte> pages = std::vector<std::byte>(1000);
  test::stepped_memory* memory;
  device_heap* memory_of_node;
  page_locks* locks;
  std::unique_ptr<device_calls> calls;
};

TEST_F(device_residency, pages_are_locked_before_the_first_call) {
  EXPECT_FALSE(locks->has(pages));
  EXPECT_TRUE(test::eventually([&] { return locks->has(pages); }));
  EXPECT_EQ(memory->locked(), 1U);
}

TEST_F(device_residency, pages_wait_for_the_end_of_a_function_and_not_for_more) {
  std::uint64_t word = 0;
  auto call = offload::async(1, fn<&waits_for_word>, std::uint64_t{reinterpret_cast<std::uintptr_t>(&word)});
  ASSERT_TRUE(test::eventually([&] { return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 0; }));
  EXPECT_FALSE(locks->has(pages));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(memory->locked(), 0U) << "the kernel is there";
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(call.get(), 7);
  EXPECT_TRUE(test::eventually([&] { return locks->has(pages); })) << "the kernel leaves, though its linger is long";
  EXPECT_EQ(offload::sync(1, fn<&waits_for_word>, std::uint64_t{reinterpret_cast<std::uintptr_t>(&word)}), 7)
      << "and comes again";
}

TEST_F(device_residency, arenas_of_other_devices_wait_for_the_end_of_a_function_too) {
  const test::stepped_memory other(1000);
  peer_arenas& arenas = memory_of_node->arenas();
  std::uint64_t word = 0;
  __atomic_store_n(&begun, 0, __ATOMIC_RELEASE);
  auto call = offload::async(1, fn<&waits_for_word>, std::uint64_t{reinterpret_cast<std::uintptr_t>(&word)});
  ASSERT_TRUE(test::eventually([&] { return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 0; }));
  EXPECT_EQ(arenas.ask(5, other.export_arena()), peer_arenas::state::wanted);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(memory->asked_to_open(), 0U) << "the kernel is there";
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(call.get(), 7);
  EXPECT_TRUE(test::eventually([&] { return memory->open() == 1; }));
  memory_of_node->forget_peer(5);
  EXPECT_TRUE(test::eventually([&] { return memory->open() == 0; })) << "the thread is woken";
}

}  // namespace
}  // namespace ham::detail

// ---- ham::cuda::while_absent()

namespace ham::inline v1::device_absence_functions {

std::atomic<int> inside_alone{0};    // functions that have the device to themselves
std::atomic<int> strangers_seen{0};  // calls that the device has executed meanwhile
std::atomic<bool> alone_may_end{false};
std::atomic<bool> alone_is_held{false};
std::atomic<bool> holder_is_over{false};

int notes_strangers(int value) {
  strangers_seen.fetch_add(inside_alone.load());
  return value;
}
bool holds_block_until_told() {
  alone_is_held.store(true);
  while (!alone_may_end.load()) std::this_thread::yield();
  holder_is_over.store(true);
  return true;
}

/// What is true while no device function runs.
struct alone {
  alone() { inside_alone.fetch_add(1); }
  ~alone() { inside_alone.fetch_sub(1); }
};

int has_it_alone(int rounds) {
  int done = 0;
  for (; done < rounds; ++done) {
    cuda::while_absent([] {
      const alone here;
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    });
  }
  return done;
}
bool sees_the_other_end() {
  return cuda::while_absent([] { return holder_is_over.load(); });
}
bool holds_it_until_told() {
  return cuda::while_absent([] {
    const alone here;
    alone_is_held.store(true);
    while (!alone_may_end.load()) std::this_thread::yield();
    return true;
  });
}
int nests_alone(int value) {
  return cuda::while_absent([&] { return 1 + cuda::while_absent([&] { return value; }); });
}
void throws_alone() {
  cuda::while_absent([] { throw std::runtime_error("as asked"); });
}

}  // namespace ham::device_absence_functions

HAM_DEVICE_FUNCTION(ham::device_absence_functions::notes_strangers, thread)
HAM_DEVICE_FUNCTION(ham::device_absence_functions::holds_block_until_told, thread)

namespace ham::inline v1 {
namespace {

using namespace device_absence_functions;
using namespace std::chrono_literals;

/// The resident kernel of node 1 stays for ever, unless somebody needs its absence.
class while_absent : public testing::Test {
 protected:
  while_absent() {
    inside_alone = 0;
    strangers_seen = 0;
    alone_may_end = false;
    alone_is_held = false;
    holder_is_over = false;
    const auto address = offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&detail::current()); });
    calls = std::make_unique<detail::device_calls>(*reinterpret_cast<detail::engine*>(address), owner);
  }
  ~while_absent() override { alone_may_end = true; }

  runtime job{test::loopback(2)};
  test::owner_of_device owner{{.blocks = 2, .warps = 1, .lanes = 2, .linger_ns = 3'600'000'000'000}};
  std::unique_ptr<detail::device_calls> calls;
};

TEST_F(while_absent, comes_although_others_keep_calling) {
  const offload::context context(1);
  std::deque<offload::future<int>> others;
  int sent = 0;
  int got = 0;
  while (others.size() < 200) others.push_back(offload::async(1, fn<&notes_strangers>, sent++));
  offload::future<int> alone = offload::async(context, fn<&has_it_alone>, 5);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!alone.test() && std::chrono::steady_clock::now() < until) {
    while (others.size() < 200) others.push_back(offload::async(1, fn<&notes_strangers>, sent++));
    ASSERT_EQ(others.front().get(), got++);
    others.pop_front();
  }
  ASSERT_TRUE(alone.test()) << "others keep the kernel there";
  EXPECT_EQ(alone.get(), 5);
  for (; !others.empty(); others.pop_front()) EXPECT_EQ(others.front().get(), got++);
  EXPECT_EQ(strangers_seen.load(), 0);
  EXPECT_EQ(got, sent);
}

TEST_F(while_absent, is_also_there_without_a_context_and_before_the_first_call) {
  EXPECT_EQ(offload::sync(1, fn<&has_it_alone>, 2), 2);
  EXPECT_EQ(offload::sync(1, fn<&notes_strangers>, 7), 7);
  EXPECT_EQ(offload::sync(1, fn<&has_it_alone>, 2), 2) << "the kernel does not linger";
  EXPECT_EQ(strangers_seen.load(), 0);
}

TEST_F(while_absent, waits_for_what_the_device_executes) {
  const offload::context context(1);
  auto held = offload::async(1, fn<&holds_block_until_told>);
  ASSERT_TRUE(test::eventually([] { return alone_is_held.load(); }));
  auto sees = offload::async(context, fn<&sees_the_other_end>);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(sees.test());
  alone_may_end = true;
  EXPECT_TRUE(sees.get());
  EXPECT_TRUE(held.get());
}

TEST_F(while_absent, of_several_threads_ends_with_the_last_one) {
  offload::sync(1, fn<&notes_strangers>, 1);
  std::vector<offload::context> contexts;
  std::vector<offload::future<int>> all;
  for (int i = 0; i < 4; ++i) {
    contexts.emplace_back(1);
    all.push_back(offload::async(contexts.back(), fn<&has_it_alone>, 10));
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(offload::sync(1, fn<&notes_strangers>, i), i);
  for (auto& one : all) EXPECT_EQ(one.get(), 10);
  EXPECT_EQ(strangers_seen.load(), 0);
}

TEST_F(while_absent, may_be_nested_and_left_by_an_exception) {
  EXPECT_EQ(offload::sync(1, fn<&nests_alone>, 4), 5);
  EXPECT_EQ(offload::sync(1, fn<&notes_strangers>, 1), 1);
  EXPECT_THROW(offload::sync(1, fn<&throws_alone>), std::runtime_error);
  EXPECT_EQ(offload::sync(1, fn<&notes_strangers>, 2), 2) << "the kernel is there again";
}

TEST_F(while_absent, leaves_calls_their_deadlines) {
  const offload::context context(1);
  offload::sync(1, fn<&notes_strangers>, 1);
  auto alone = offload::async(context, fn<&holds_it_until_told>);
  ASSERT_TRUE(test::eventually([] { return alone_is_held.load(); }));
  EXPECT_THROW(offload::async(offload::within(1, 20ms), fn<&notes_strangers>, 2).get(), deadline_exceeded);
  auto waits = offload::async(1, fn<&notes_strangers>, 3);
  alone_may_end = true;
  EXPECT_TRUE(alone.get());
  EXPECT_EQ(waits.get(), 3);
  EXPECT_EQ(strangers_seen.load(), 0);
}

TEST_F(while_absent, is_no_matter_without_a_device) {
  EXPECT_EQ(offload::sync(2, fn<&nests_alone>, 4), 5);
  EXPECT_EQ(nests_alone(1), 2) << "on the host";
}

TEST(while_absent_elsewhere, is_no_matter_without_a_job) { EXPECT_EQ(nests_alone(6), 7); }

}  // namespace
}  // namespace ham
