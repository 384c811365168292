// What docs/richer-calls.md promises of event loops, continuations, events, the end of calls that hang, and heartbeats,
// on whatever targets a job has: for tests of every kind of transport. The other verbs: richer_calls.hpp.
#pragma once

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload.hpp"

namespace ham::inline v1::test::job_verbs {

using namespace std::chrono_literals;
using offload::event;
using offload::event_kind;

inline int echo(int value) { return value; }
inline pid_t pid_here() { return ::getpid(); }
inline int refuse() { throw std::out_of_range("refused"); }
/// Calls of the target to the host, of which this runs on.
inline int sum_of_echoes(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += offload::sync(0, fn<&echo>, i);
  return sum;
}
/// The file is removed by who has made the call: no message has to come through.
inline void while_there_is(const std::string& file) {
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;) {
    if (!std::filesystem::exists(file)) return;
    std::this_thread::sleep_for(1ms);
  }
}
inline void hang() {
  for (;;) std::this_thread::sleep_for(1s);
}
inline void work(int ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (std::chrono::steady_clock::now() < until) {
    this_call::heartbeat();
    std::this_thread::sleep_for(1ms);
  }
}

/// Calls that execute while it is there do not end.
class gate_file {
 public:
  gate_file() : path_((std::filesystem::temp_directory_path() / ("ham-gate-" + std::to_string(::getpid()))).string()) {
    std::ofstream(path_) << "shut\n";
  }
  gate_file(const gate_file&) = delete;
  gate_file& operator=(const gate_file&) = delete;
  ~gate_file() { open(); }
  void open() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a handler is told, by whatever thread makes progress.
class told_events {
 public:
  told_events() {
    offload::on_event([this](const event& what) {
      const std::lock_guard guard(mutex_);
      all_.push_back(what);
    });
  }
  told_events(const told_events&) = delete;
  told_events& operator=(const told_events&) = delete;
  ~told_events() { offload::on_event({}); }

  [[nodiscard]] std::vector<event> of(event_kind kind, node_t node) const {
    const std::lock_guard guard(mutex_);
    std::vector<event> found;
    std::ranges::copy_if(all_, std::back_inserter(found),
                         [&](const event& one) { return one.kind == kind && one.node == node; });
    return found;
  }
  /// Makes progress until there is one.
  [[nodiscard]] event first(event_kind kind, node_t node) const {
    for (const auto until = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < until;) {
      if (const auto found = of(kind, node); !found.empty()) return found.front();
      offload::progress();
      std::this_thread::sleep_for(200us);
    }
    ADD_FAILURE() << "no event: node " << node << ", " << offload::to_string(kind);
    return {};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<event> all_;
};

/// Waits as a program would.
class event_loop {
 public:
  event_loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event interest{EPOLLIN, {}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, offload::event_fd(), &interest);
  }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop() { ::close(epoll_); }

  template <class Done>
  [[nodiscard]] bool run(Done done) const {
    for (const auto until = std::chrono::steady_clock::now() + 60s; !done();) {
      epoll_event event{};
      const int got = ::epoll_wait(epoll_, &event, 1, 10'000);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1 || std::chrono::steady_clock::now() > until) return false;
      offload::serve_event_fd();
    }
    return true;
  }

 private:
  int epoll_;
};

/// Nothing but the loop makes progress.
inline void expect_event_loop(const std::vector<node_t>& targets) {
  const event_loop loop;
  const std::vector<double> values(100'000, 2.5);
  for (const node_t node : targets) {
    int left = 100;
    for (int i = 0; i < 100; ++i) {
      offload::async(node, fn<&echo>, i).on_result([&left, i](offload::future<int> result) {
        EXPECT_EQ(result.get(), i);
        --left;
      });
    }
    EXPECT_TRUE(loop.run([&] { return left == 0; })) << left << " of node " << node;

    int chained = 0;
    auto chain = offload::async(node, fn<&echo>, 20).then([](int value) { return value + 1; });
    chain.on_ready([&] { ++chained; });
    EXPECT_TRUE(loop.run([&] { return chained == 1; }));
    EXPECT_EQ(chain.get(), 21);

    auto of_host = offload::async(node, fn<&sum_of_echoes>, 50);
    EXPECT_TRUE(loop.run([&] { return of_host.test(); })) << "calls of node " << node;
    EXPECT_EQ(of_host.get(), 49 * 50 / 2);

    auto refused = offload::async(node, fn<&refuse>);
    EXPECT_TRUE(loop.run([&] { return refused.test(); }));
    EXPECT_THROW(refused.get(), std::out_of_range);

    const gate_file gate;
    auto late = offload::async(offload::within(node, 20ms), fn<&while_there_is>, gate.path());
    EXPECT_TRUE(loop.run([&] { return late.test(); })) << "the deadline of a call to node " << node;
    EXPECT_THROW(late.get(), deadline_exceeded);
    gate.open();

    auto memory = offload::async(node, fn<&echo>, 0);  // behind the call that has missed it
    EXPECT_TRUE(loop.run([&] { return memory.test(); }));
    const offload::buffer<double> there(node, values.size());
    auto stored = offload::put(values.data(), there.ptr(), values.size());
    EXPECT_TRUE(loop.run([&] { return stored.test(); })) << "put to node " << node;
    stored.get();
  }
}

/// Other threads settle what the loop waits for.
inline void expect_event_loop_beside_threads(const std::vector<node_t>& targets) {
  const event_loop loop;
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (int i = 0; !over; ++i) EXPECT_EQ(offload::sync(targets.back(), fn<&echo>, i), i);
  });
  for (int i = 0; i < 100; ++i) {
    auto result = offload::async(targets.front(), fn<&echo>, i);
    EXPECT_TRUE(loop.run([&] { return result.test(); })) << i;
    EXPECT_EQ(result.get(), i);
  }
  over = true;
  other.join();
}

inline void expect_on_ready(const std::vector<node_t>& targets) {
  for (const node_t node : targets) {
    int ready = 0;
    const auto count = [&] { ++ready; };
    auto value = offload::async(node, fn<&echo>, 7);
    value.on_ready(count);
    EXPECT_EQ(value.get(), 7) << "the future has stayed";
    auto error = offload::async(node, fn<&refuse>);
    error.on_ready(count);
    EXPECT_THROW(error.get(), std::out_of_range);
    const gate_file gate;
    auto late = offload::async(offload::within(node, 20ms), fn<&while_there_is>, gate.path());
    late.on_ready(count);
    EXPECT_THROW(late.get(), deadline_exceeded);
    auto stopped = offload::async(offload::stoppable(node), fn<&while_there_is>, gate.path());
    stopped.on_ready(count);
    EXPECT_TRUE(stopped.request_stop(offload::when_stopped::at_once));
    EXPECT_THROW(stopped.get(), operation_cancelled);
    gate.open();
    auto settled = offload::async(node, fn<&echo>, 8);
    settled.wait();
    settled.on_ready(count);
    EXPECT_EQ(settled.get(), 8);
    for (const auto until = std::chrono::steady_clock::now() + 30s;
         ready < 5 && std::chrono::steady_clock::now() < until;)
      offload::sync(node, fn<&echo>, 0);
    EXPECT_EQ(ready, 5) << "node " << node;
  }
}

/// Of calls: a missed deadline, a full queue.
inline void expect_events_of_calls(const std::vector<node_t>& targets) {
  for (const node_t node : targets) {
    const told_events told;
    {
      const gate_file gate;
      auto late = offload::async(offload::within(node, 20ms), fn<&while_there_is>, gate.path());
      EXPECT_THROW(late.get(), deadline_exceeded);
    }
    const event missed = told.first(event_kind::deadline_missed, node);
    EXPECT_NE(missed.reason.find("while_there_is"), std::string::npos) << missed.reason;
    EXPECT_EQ(missed.count, 1U);
  }
}

/// The sender waits for room; the gate is opened by the handler, which that thread calls.
inline void expect_full_queues(const std::vector<node_t>& targets) {
  for (const node_t node : targets) {
    const gate_file gate;
    std::atomic<int> told{0};
    offload::on_event([&](const event& what) {
      if (what.kind != event_kind::queue_full || what.node != node) return;
      ++told;
      gate.open();
    });
    auto busy = offload::async(node, fn<&while_there_is>, gate.path());
    const std::string text(1000, 'x');
    std::vector<offload::future<std::size_t>> sent;
    for (int i = 0; i < 300'000 && told == 0; ++i)
      sent.push_back(offload::async(
          node, [](const std::string& of) { return of.size(); }, text));
    for (auto& one : sent) ASSERT_EQ(one.get(), text.size());
    EXPECT_GE(told, 1) << "node " << node << ": " << sent.size() << " calls have found room";
    gate.open();
    busy.get();
    offload::on_event({});
  }
}

/// Of what kill_call cannot end. The call is executed until the gate opens.
template <class Expect>
void expect_not_killed(node_t node, Expect expect) {
  const gate_file gate;
  auto call = offload::async(node, fn<&while_there_is>, gate.path());
  try {
    offload::kill_call(call);
    ADD_FAILURE() << "node " << node << " was killed";
  } catch (const call_error& why) {
    expect(std::string(why.what()));
  }
  gate.open();
  EXPECT_NO_THROW(call.get());
  EXPECT_FALSE(offload::kill_call(call)) << "there is nothing to be killed any more";
  EXPECT_EQ(offload::sync(node, fn<&echo>, 3), 3);
}

inline std::string killed_from_here(node_t node) {
  const gate_file gate;
  auto call = offload::async(node, fn<&while_there_is>, gate.path());
  std::string said = "it was killed";
  try {
    offload::kill_call(call);
  } catch (const call_error& why) {
    said = why.what();
  }
  gate.open();
  call.wait();
  return said;
}

/// All that does not end processes.
inline void expect_all_but_deaths(const std::vector<node_t>& targets) {
  expect_on_ready(targets);
  expect_event_loop(targets);
  expect_event_loop_beside_threads(targets);
  expect_events_of_calls(targets);
  expect_full_queues(targets);
  for (const node_t node : targets)
    EXPECT_NO_THROW(offload::sync(node, fn<&work>, 30)) << "heartbeats that nobody asks for";
}

}  // namespace ham::test::job_verbs
