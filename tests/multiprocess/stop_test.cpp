// Calls are stopped across processes, over shared memory and tcp: queued ones never run, running ones see it.
// link: ham::ham
// timeout: 600
#include <array>
#include <atomic>

#include "ham/offload/graph.hpp"
#include "ham/offload/senders.hpp"
#include "tcp_server.hpp"

using namespace ham;
using namespace ham::test;
using offload::when_stopped;

namespace {

std::atomic<long> ran{0};
long count() { return ++ran; }
long counted() { return ran.load(); }
std::size_t length(const std::vector<int>& of) { return of.size(); }
pid_t my_pid() { return ::getpid(); }
void sleep_ms(int time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }
void wait_for(buffer_ptr<int> gate) {
  while (__atomic_load_n(gate.get(), __ATOMIC_ACQUIRE) == 0) std::this_thread::sleep_for(100us);
}
void begin_and_wait(buffer_ptr<int> gate) {
  __atomic_store_n((gate + 1).get(), 1, __ATOMIC_RELEASE);
  wait_for(gate);
}
void hang(buffer_ptr<int> begun) {
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  for (;;) ::pause();
}
/// Polls as fast as it can; what it answers with is when it saw the stop, on the clock of this machine.
std::int64_t until_stopped() {
  const auto stop = this_call::stop_token();
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!stop.stop_requested()) {
    if (std::chrono::steady_clock::now() > until) return -1;
  }
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

template <class Result>
bool never_ran(offload::future<Result>& of) {
  try {
    of.get();
  } catch (const operation_cancelled& why) {
    return why.outcome() == call_outcome::not_run;
  }
  return false;
}

/// Calls wait behind one that waits for a word, and are stopped before that comes: none of them runs.
void queued_calls_never_run(int rounds) {
  constexpr int at_once = 500;
  const offload::buffer<int> gate(1, 1);
  for (int round = 0; round < rounds; ++round) {
    const std::array<int, 1> shut{0};
    const std::array<int, 1> open{1};
    offload::put_sync(shut.data(), gate.ptr(), 1);
    auto busy = offload::async(1, fn<&wait_for>, gate.ptr());
    std::vector<offload::future<long>> waiting;
    for (int i = 0; i < at_once; ++i) waiting.push_back(offload::async(offload::stoppable(1), fn<&count>));
    for (auto& one : waiting) ASSERT_TRUE(one.request_stop());
    offload::put_sync(open.data(), gate.ptr(), 1);
    for (auto& one : waiting) ASSERT_TRUE(never_ran(one)) << "round " << round;
  }
  EXPECT_EQ(offload::sync(1, fn<&counted>), 0);
}

/// The stops may still be on their way when their calls begin: what is said of them agrees with what has run.
void queued_calls_run_or_say_that_they_have_not(int rounds) {
  constexpr int at_once = 500;
  long values = 0;
  for (int round = 0; round < rounds; ++round) {
    auto busy = offload::async(1, fn<&sleep_ms>, 5);
    std::vector<offload::future<long>> waiting;
    for (int i = 0; i < at_once; ++i) waiting.push_back(offload::async(offload::stoppable(1), fn<&count>));
    for (auto& one : waiting) one.request_stop();
    for (auto& one : waiting) values += never_ran(one) ? 0 : 1;
    ASSERT_EQ(offload::sync(1, fn<&counted>), values) << "round " << round;
  }
}

void a_function_that_polls_sees_its_stop() {
  int stopped_while_running = 0;
  auto time = 1ms;
  for (int round = 0; round < 1000 && stopped_while_running < 100; ++round) {
    auto call = offload::async(offload::stoppable(1), fn<&until_stopped>);
    std::this_thread::sleep_for(time);
    ASSERT_TRUE(call.request_stop());
    try {
      ASSERT_GT(call.get(), 0) << "round " << round;
      ++stopped_while_running;
    } catch (const operation_cancelled& why) {  // on a loaded machine it has not begun by then
      ASSERT_EQ(why.outcome(), call_outcome::not_run);
      time = std::min(2 * time, 100ms);
    }
  }
  EXPECT_EQ(stopped_while_running, 100);
}

/// The deadline passes while the function runs, and it is told; the node goes on. Where this process slept until the
/// function had answered, there is an answer.
void a_deadline_stops_the_function() {
  auto call = offload::async(offload::within(1, 20ms), fn<&until_stopped>);
  try {
    EXPECT_GT(call.get(), 0);
  } catch (const deadline_exceeded&) {
  }
  EXPECT_EQ(offload::sync(offload::within(1, 30s), fn<&counted>), offload::sync(1, fn<&counted>));
}

/// Notes that it is stopped.
struct stopped_receiver {
  struct env {
    std::stop_token token;
    [[nodiscard]] std::stop_token query(offload::execution::get_stop_token_t) const noexcept { return token; }
  };
  std::stop_token token;
  bool* stopped;
  [[nodiscard]] env get_env() const noexcept { return {token}; }
  void set_value(long) noexcept {}
  void set_error(const std::exception_ptr&) noexcept {}
  void set_stopped() noexcept { *stopped = true; }
};

/// The queue to the node is full, whose only thread waits: so do calls and what is asked of the node, until their token
/// is stopped.
void a_token_ends_the_wait_for_room() {
  const offload::buffer<int> gate(1, 2);
  const std::array<int, 2> shut{0, 0};
  const std::array<int, 1> open{1};
  const long before = offload::sync(1, fn<&counted>);
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&count>));
  EXPECT_EQ(step().get(), before + 1);
  offload::put_sync(shut.data(), gate.ptr(), 2);
  auto busy = offload::async(1, fn<&begin_and_wait>, gate.ptr());
  EXPECT_TRUE(eventually([&] {
    std::array<int, 2> words{};
    offload::get_sync(gate.ptr(), words.data(), 2);
    return words[1] == 1;
  }));
  const std::jthread late_opening(
      [&](const std::stop_token& in_time) {  // so that what waits on fails, and does not hang
        for (int i = 0; i < 1200 && !in_time.stop_requested(); ++i) std::this_thread::sleep_for(50ms);
        if (!in_time.stop_requested()) offload::put_sync(open.data(), gate.ptr(), 1);
      });
  long queued = 0;
  for (bool filled = true; filled;) {  // once more, when what has begun has left the queue
    std::this_thread::sleep_for(20ms);
    filled = false;
    for (; auto one = offload::try_async(1, fn<&count>); ++queued) {
      one->detach();
      filled = true;
    }
  }
  const auto wait_until_stopped = [](auto start) {
    std::stop_source source;
    std::thread later([&] {
      std::this_thread::sleep_for(20ms);
      source.request_stop();
    });
    start(offload::stoppable(1, source.get_token()));
    later.join();
  };
  wait_until_stopped([](const auto& to) {
    auto call = offload::async(to, fn<&count>);
    EXPECT_TRUE(never_ran(call));
  });
  wait_until_stopped([](const auto& to) {
    auto call = offload::async(to, fn<&length>, std::vector<int>(1 << 20));
    EXPECT_TRUE(never_ran(call));
  });
  wait_until_stopped([](const auto& to) {
    auto call = offload::async(offload::retry(to, 2), idempotent(fn<&count>));
    EXPECT_TRUE(never_ran(call));
  });
  wait_until_stopped([](const auto& to) {
    bool stopped = false;
    auto operation = offload::call(1, fn<&count>).connect(stopped_receiver{to.token(), &stopped});
    operation.start();
    EXPECT_TRUE(stopped);
  });
  wait_until_stopped([&](const auto& to) {
    auto replay = step.stoppable(to.token())();
    EXPECT_THROW(static_cast<void>(replay.get()), operation_cancelled);
  });
  wait_until_stopped(
      [](const auto& to) { EXPECT_THROW(static_cast<void>(offload::allocate<int>(to, 10)), operation_cancelled); });
  offload::put_sync(open.data(), gate.ptr(), 1);
  busy.get();
  EXPECT_EQ(offload::sync(1, fn<&counted>), before + 1 + queued);
}

TEST(stop, over_shared_memory) {
  runtime job{nodes("shm:2")};
  queued_calls_never_run(rounds(sanitized() ? 20 : 200));
  a_function_that_polls_sees_its_stop();
  a_deadline_stops_the_function();
  a_token_ends_the_wait_for_room();
}

TEST(stop, over_tcp) {
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  server waiting("");
  {
    const runtime job{nodes(waiting.nodes())};
    queued_calls_run_or_say_that_they_have_not(rounds(sanitized() ? 2 : 20));
    a_function_that_polls_sees_its_stop();
    a_deadline_stops_the_function();
  }
  ::unsetenv("HAM_TCP_SECURITY");
}

TEST(stop, a_function_that_hangs_is_ended_with_its_process) {
  runtime job{nodes("shm:2")};
  offload::buffer<int> begun(1, 1);
  const std::array<int, 1> not_yet{0};
  offload::put_sync(not_yet.data(), begun.ptr(), 1);
  auto call = offload::async(offload::stoppable(1), fn<&hang>, begun.ptr());
  EXPECT_TRUE(eventually([&] {
    std::array<int, 1> word{};
    offload::get_sync(begun.ptr(), word.data(), 1);
    return word[0] == 1;
  }));
  EXPECT_TRUE(call.request_stop());
  EXPECT_FALSE(call.wait_for(50ms)) << "it does not ask";
  auto behind = offload::async(1, fn<&my_pid>);
  EXPECT_TRUE(offload::kill_call(call));
  EXPECT_THROW(call.get(), node_failure);
  EXPECT_THROW(behind.get(), node_failure);
  EXPECT_FALSE(offload::alive(1));
  EXPECT_GT(offload::sync(2, fn<&my_pid>), 0) << "others go on";
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
