// What waits for the resident kernel to be away: pages of other processes are locked then, and functions of the host
// have the device to themselves.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <span>
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
#include "transport/cuda/emulated_link.hpp"

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

TEST_F(device_residency, pages_are_locked_while_a_function_has_the_device_to_itself) {
  calls->begin_absence();
  EXPECT_TRUE(test::eventually([&] { return calls->is_away(); }));
  EXPECT_FALSE(locks->has(pages));
  EXPECT_TRUE(test::eventually([&] { return locks->has(pages); }));
  EXPECT_TRUE(calls->is_away());
  calls->end_absence();
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
int gives_two(int value) { return value + 2; }
int gives_two_by_grid(int value) { return value + 2; }

// A device function waits for a function of another node, which calls the device.
std::atomic<bool> asker_is_there{false};
std::atomic<bool> asker_may_ask{false};
std::atomic<bool> alone_is_about_to_be{false};
int asks_the_device(int value) {
  const offload::context other(1);
  asker_is_there.store(true);
  while (!asker_may_ask.load()) std::this_thread::yield();
  return offload::sync(other, fn<&gives_two>, value);
}
int waits_for_asker(int value) {
  auto answer = device::async<&asks_the_device>(2, value);
  int result = -1;
  return answer.get(result) ? result : -2;
}
bool says_that_it_will_be_alone() {
  alone_is_about_to_be.store(true);
  return cuda::while_absent([] { return true; });
}

}  // namespace ham::device_absence_functions

HAM_DEVICE_FUNCTION(ham::device_absence_functions::notes_strangers, thread)
HAM_DEVICE_FUNCTION(ham::device_absence_functions::holds_block_until_told, thread)
HAM_DEVICE_FUNCTION(ham::device_absence_functions::gives_two, thread)
HAM_DEVICE_FUNCTION(ham::device_absence_functions::gives_two_by_grid, grid)
HAM_DEVICE_FUNCTION(ham::device_absence_functions::waits_for_asker, thread)

namespace ham::inline v1 {
namespace {

using namespace device_absence_functions;
using namespace std::chrono_literals;
namespace wire = device::detail;

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

/// What the device executes may be waiting for later calls, as long as the absence has not begun.
TEST_F(while_absent, is_given_up_with_its_call) {
  asker_is_there = false;
  asker_may_ask = false;
  alone_is_about_to_be = false;
  const offload::context context(1);
  const offload::context of_the_block_of_the_first(1);
  auto held = offload::async(1, fn<&waits_for_asker>, 5);
  ASSERT_TRUE(test::eventually([] { return asker_is_there.load(); }));
  auto alone = offload::async(offload::stoppable(context), fn<&says_that_it_will_be_alone>);
  ASSERT_TRUE(test::eventually([] { return alone_is_about_to_be.load(); }));
  std::this_thread::sleep_for(20ms);
  asker_may_ask = true;
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(held.test()) << "its call of the device waits for the end of the absence";
  static_cast<void>(alone.request_stop());
  EXPECT_THROW(alone.get(), operation_cancelled);
  EXPECT_EQ(held.get(), 7);
}

TEST_F(while_absent, is_given_up_at_the_deadline_of_its_call) {
  const offload::context context(1);
  auto held = offload::async(1, fn<&holds_block_until_told>);
  ASSERT_TRUE(test::eventually([] { return alone_is_held.load(); }));
  auto alone = offload::async(offload::within(context, 20ms), fn<&sees_the_other_end>);
  EXPECT_THROW(alone.get(), deadline_exceeded);
  EXPECT_EQ(offload::sync(context, fn<&gives_two>, 1), 3) << "the other block has not left";
  alone_may_end = true;
  EXPECT_TRUE(held.get());
}

TEST_F(while_absent, is_refused_on_threads_that_serve_the_device) {
  const auto address = offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&detail::current()); });
  std::thread([address] {
    const detail::engine_scope scope(reinterpret_cast<detail::engine*>(address));
    detail::this_thread.serves_others = true;
    EXPECT_THROW(nests_alone(1), call_error);
  }).join();
  EXPECT_EQ(offload::sync(1, fn<&nests_alone>, 4), 5);
}

/// Which may be on the thread that receives what the kernel waits for, where neither a stop nor a deadline ends it.
TEST_F(while_absent, is_refused_in_continuations) {
  std::atomic<int> refused{0};
  EXPECT_TRUE(offload::sync(
      1,
      [](std::uintptr_t to) {
        auto& count = *reinterpret_cast<std::atomic<int>*>(to);
        auto done = offload::async(2, fn<&gives_two>, 1);
        done.on_result([&count](offload::future<int>) {
          try {
            nests_alone(1);
          } catch (const call_error&) {
            count.fetch_add(1);
          }
        });
        return test::eventually([&] {
          offload::progress();
          return count.load() == 1;
        });
      },
      reinterpret_cast<std::uintptr_t>(&refused)));
}

TEST_F(while_absent, fails_if_the_device_ends_first) {
  const offload::context context(1);
  auto held = offload::async(1, fn<&holds_block_until_told>);
  ASSERT_TRUE(test::eventually([] { return alone_is_held.load(); }));
  auto alone = offload::async(context, fn<&sees_the_other_end>);
  std::thread ends([this] { calls.reset(); });
  EXPECT_THROW(alone.get(), call_error);
  alone_may_end = true;
  ends.join();
  held.detach();  // nobody answers it
}

TEST_F(while_absent, may_outlive_the_device) {
  const offload::context context(1);
  auto alone = offload::async(context, fn<&holds_it_until_told>);
  ASSERT_TRUE(test::eventually([] { return alone_is_held.load(); }));
  calls.reset();
  alone_may_end = true;
  EXPECT_TRUE(alone.get());
}

TEST_F(while_absent, is_no_matter_without_a_device) {
  EXPECT_EQ(offload::sync(2, fn<&nests_alone>, 4), 5);
  EXPECT_EQ(nests_alone(1), 2) << "on the host";
}

TEST(while_absent_elsewhere, is_no_matter_without_a_job) { EXPECT_EQ(nests_alone(6), 7); }

/// A device with one block, which is the test.
class device_by_hand final : public transport::device_driver {
 public:
  [[nodiscard]] const char* type() const noexcept override { return "by hand"; }
  [[nodiscard]] std::span<wire::call_queue> queues() noexcept override { return {queue_.get(), 1}; }
  [[nodiscard]] std::span<wire::outbox> messages() noexcept override { return {messages_.get(), 1}; }
  [[nodiscard]] bool has(const wire::function_entry&) const noexcept override { return true; }
  void upload(std::uint32_t) override {}
  void launch() override {
    launches.fetch_add(1);
    state_.store(transport::residency::resident);
  }
  [[nodiscard]] transport::residency state() noexcept override { return state_.load(); }
  [[nodiscard]] failure_report failure() override { return {}; }
  [[nodiscard]] std::uint64_t stage(std::span<const std::byte>) override { throw std::bad_alloc(); }
  void unstage(std::uint64_t) noexcept override {}

  /// The header of the next call, which has come.
  [[nodiscard]] std::uint64_t next() {
    const wire::call_header& header = queue_->header_at(position_);
    EXPECT_TRUE(test::eventually([&] { return wire::is_call_at(wire::acquire(header.what), position_); }));
    return wire::acquire(header.what);
  }
  /// Replies to it.
  void reply(device::call_status status, int result = 0) {
    transport::cuda::emulated_link link({});
    alignas(8) std::byte bytes[8]{};
    std::memcpy(bytes, &result, sizeof result);
    wire::kept_replies one{};
    wire::keep_reply(one, position_++, status, bytes, status == device::call_status::done ? sizeof result : 0);
    wire::send_kept(link, *queue_, one);
  }
  /// Begins a later one, and keeps the replies to those before it.
  void begin_next_but(std::uint64_t count) { wire::release(queue_->step, wire::step_word(position_ + count, 0)); }
  /// As a kernel whose block has been asked to.
  void leave() {
    EXPECT_EQ(wire::function_of(next()), wire::leave_function);
    reply(device::call_status::done, 0);
  }
  void be_gone() { state_.store(transport::residency::absent); }

  std::atomic<int> launches{0};

 private:
  std::atomic<transport::residency> state_{transport::residency::absent};
  std::uint64_t position_ = 0;
  std::unique_ptr<wire::call_queue> queue_ = std::make_unique<wire::call_queue>();
  std::unique_ptr<wire::outbox> messages_ = std::make_unique<wire::outbox>();
};

class owner_of_device_by_hand final : public transport::device_owner {
 public:
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override { return std::move(made_); }
  [[nodiscard]] limits device_limits() const noexcept override { return {0, watchdog_ns}; }
  [[nodiscard]] device_by_hand& device() noexcept { return device_; }

  static constexpr std::int64_t watchdog_ns = 1'000'000'000;

 private:
  std::unique_ptr<device_by_hand> made_ = std::make_unique<device_by_hand>();
  device_by_hand& device_ = *made_;
};

class job_with_device_by_hand : public testing::Test {
 protected:
  job_with_device_by_hand() {
    const auto address = offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&detail::current()); });
    calls = std::make_unique<detail::device_calls>(*reinterpret_cast<detail::engine*>(address), owner);
  }

  runtime job{test::loopback(1)};
  owner_of_device_by_hand owner;
  device_by_hand& device = owner.device();
  std::unique_ptr<detail::device_calls> calls;
};

/// The process ends if the watchdog counts for the first call, which has ended.
TEST_F(job_with_device_by_hand, the_watchdog_does_not_count_for_calls_whose_replies_are_kept) {
  auto ended = offload::async(offload::stoppable(1), fn<&gives_two>, 1);
  auto begun = offload::async(1, fn<&gives_two>, 2);
  static_cast<void>(device.next());
  offload::sync(1, [] {});  // the second one has come
  device.begin_next_but(1);
  static_cast<void>(ended.request_stop(offload::when_stopped::after_answer));
  std::this_thread::sleep_for(std::chrono::nanoseconds(owner_of_device_by_hand::watchdog_ns) + 200ms);
  device.reply(device::call_status::done, 3);
  device.reply(device::call_status::done, 4);
  EXPECT_EQ(ended.get(), 3);
  EXPECT_EQ(begun.get(), 4);
  device.leave();
  device.be_gone();
}

/// Calls that come behind the leave of a kernel.
class behind_a_leave : public job_with_device_by_hand {
 protected:
  behind_a_leave() {
    auto first = offload::async(1, fn<&gives_two>, 1);
    EXPECT_TRUE(test::eventually([&] { return device.launches.load() == 1; }));
    static_cast<void>(device.next());
    device.reply(device::call_status::done, 3);
    EXPECT_EQ(first.get(), 3);
    EXPECT_EQ(wire::function_of(device.next()), wire::leave_function) << "it does not linger";
  }
  /// The kernel is away, and this call is in its queue.
  template <class Future>
  void go_away(Future& call) {
    offload::sync(1, [] {});  // it has come
    EXPECT_FALSE(call.test());
    calls->begin_absence();
    device.leave();
    device.be_gone();
    EXPECT_TRUE(test::eventually([&] { return calls->is_away(); }));
  }
};

TEST_F(behind_a_leave, calls_that_are_stopped_are_answered_while_the_kernel_is_away) {
  auto stopped = offload::async(offload::stoppable(1), fn<&gives_two>, 5);
  auto other = offload::async(1, fn<&gives_two>, 7);
  go_away(other);
  static_cast<void>(stopped.request_stop());
  try {
    stopped.get();
    ADD_FAILURE() << "it was executed";
  } catch (const operation_cancelled& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
  }
  EXPECT_EQ(device.launches.load(), 1);
  calls->end_absence();
  EXPECT_TRUE(test::eventually([&] { return device.launches.load() == 2; }));
  EXPECT_NE(device.next() & wire::cancelled_call, 0U);
  device.reply(device::call_status::stopped);
  EXPECT_EQ(device.next() & wire::cancelled_call, 0U);
  device.reply(device::call_status::done, 9);
  EXPECT_EQ(other.get(), 9);
  device.leave();
  device.be_gone();
}

/// The process ends if it does.
TEST_F(behind_a_leave, the_watchdog_does_not_count) {
  auto of_grid = offload::async(offload::stoppable(1), fn<&gives_two_by_grid>, 5);
  offload::sync(1, [] {});
  static_cast<void>(of_grid.request_stop(offload::when_stopped::after_answer));
  device.leave();
  std::this_thread::sleep_for(20ms);  // it is the next one, as far as the host can see
  calls->begin_absence();
  device.be_gone();
  EXPECT_TRUE(test::eventually([&] { return calls->is_away(); }));
  std::this_thread::sleep_for(std::chrono::nanoseconds(owner_of_device_by_hand::watchdog_ns) + 200ms);
  calls->end_absence();
  EXPECT_TRUE(test::eventually([&] { return device.launches.load() == 2; }));
  std::this_thread::sleep_for(20ms);
  static_cast<void>(device.next());
  device.reply(device::call_status::done, 7);
  EXPECT_EQ(of_grid.get(), 7);
  device.leave();
  device.be_gone();
}

}  // namespace
}  // namespace ham
