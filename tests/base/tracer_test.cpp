#include "base/tracer.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_file.hpp"
#include "ham/error.hpp"

namespace {

using namespace ham::base;

bool names_of_test(std::uint32_t key, std::string_view& name) noexcept {
  static constexpr std::string_view all[] = {"first()", "second(int)"};
  if (key >= 2) return false;
  name = all[key];
  return true;
}

/// While it lives, this process is traced.
struct traced {
  explicit traced(trace_setup how = {}) {
    how.names = &names_of_test;
    how.job = 77;
    begun = begin_trace(how);
  }
  ~traced() { end_trace(); }
  bool begun = false;
};

trace_part part_so_far(int fd = trace_file()) {
  std::vector<std::byte> bytes(file_size(fd));
  EXPECT_EQ(::pread(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  const auto part = parse_trace_part(bytes);
  EXPECT_TRUE(part.has_value());
  return part.value_or(trace_part());
}

/// The events of the calling thread for a node.
std::vector<trace_event> mine(const trace_part& part, std::int32_t node) {
  for (const trace_part::thread& one : part.threads)
    if (one.node == node && one.id == static_cast<std::uint32_t>(::gettid())) return one.events;
  return {};
}

TEST(tracer, that_is_off_writes_nothing) {
  EXPECT_FALSE(tracing());
  { const traced_execution running(1, 0, 0, 5, read_ticks()); }
  { const traced_time asleep(trace_kind::slept); }
  const traced on;
  EXPECT_TRUE(mine(part_so_far(), 1).empty());
}

TEST(tracer, says_whose_part_it_is) {
  trace_setup how;
  how.node = 3;
  const traced on(how);
  const trace_part part = part_so_far();
  EXPECT_EQ(part.node, 3);
  EXPECT_EQ(part.job, 77U);
  EXPECT_EQ(part.pid, ::getpid());
  EXPECT_EQ(part.source, own_tick_source);
  EXPECT_EQ(part.functions, (std::vector<std::string>{"first()", "second(int)"}));
  EXPECT_FALSE(part.machine.empty());
  EXPECT_FALSE(part.program.empty());
}

TEST(tracer, begins_once) {
  const traced on;
  EXPECT_TRUE(on.begun);
  EXPECT_FALSE(begin_trace({}));
}

TEST(tracer, writes_calls_executions_and_answers) {
  const traced on;
  this_tracer.expect_call();
  this_tracer.begin_call(1, 48);
  const std::uint64_t sent = this_tracer.end_call();
  this_tracer.add_call(trace_kind::sent, 0, 2, 1, 9, sent);
  {
    const traced_execution running(0, 2, 1, 10, read_ticks());
    this_tracer.begin_reply(8);
    this_tracer.end_reply();
  }
  this_tracer.add_settled(0, 2, 1, 8);
  const std::vector<trace_event> events = mine(part_so_far(), 0);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].kind(), trace_kind::sent);
  EXPECT_EQ(events[0].begin + events[0].length(), sent);
  EXPECT_EQ(events[0].bytes(), 48U);
  EXPECT_EQ(events[0].peer(), 2);
  EXPECT_EQ(events[0].call(), 9U);
  EXPECT_EQ(events[1].kind(), trace_kind::executed);
  EXPECT_EQ(events[1].bytes(), 1U) << "a short reply, which is not timed";
  EXPECT_EQ(events[2].kind(), trace_kind::settled);
  EXPECT_EQ(events[2].call(), 8U);
}

TEST(tracer, times_long_messages_and_replies) {
  const traced on;
  this_tracer.begin_call(1, max_untimed_bytes + 1);
  const std::uint64_t before = read_ticks();
  const std::uint64_t sent = this_tracer.end_call();
  this_tracer.add_call(trace_kind::sent, 0, 2, 1, 9, sent);
  {
    const traced_execution running(0, 2, 1, 10, before);
    this_tracer.begin_reply(max_untimed_bytes + 1);
    const std::uint64_t written = read_ticks();
    while (read_ticks() < written + 100) continue;
    this_tracer.end_reply();
  }
  const std::vector<trace_event> events = mine(part_so_far(), 0);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_LE(events[0].begin, before);
  EXPECT_EQ(events[0].begin + events[0].length(), sent);
  EXPECT_EQ(events[1].begin, before);
  EXPECT_GT(events[1].bytes(), 1U);
  EXPECT_LE(events[1].bytes(), events[1].length()) << "the reply is the end of the execution";
}

TEST(tracer, an_answer_to_who_waits_is_one_event_that_reads_as_two) {
  const traced on;
  const std::uint64_t sent = this_tracer.end_call();
  this_tracer.add_call(trace_kind::sent, 0, 2, 1, 9, sent);
  {
    traced_wait outer(0, 9);
    {
      traced_wait inner(0, 11);  // it executes a call that waits as well
      this_tracer.add_settled(0, 2, 1, 9);
      this_tracer.add_settled(1, 2, 1, 11);  // of another node
      inner.end(2, 1);
    }
    outer.end(2, 1);
  }
  {
    traced_wait again(0, 12);
    this_tracer.add_settled(0, 2, 1, 12);
    again.end(2, 1);
  }
  const trace_part part = part_so_far();
  const std::vector<trace_event> of_0 = mine(part, 0);
  ASSERT_EQ(of_0.size(), 6U);
  EXPECT_EQ(of_0[1].kind(), trace_kind::settled);
  EXPECT_EQ(of_0[1].call(), 9U);
  EXPECT_EQ(of_0[2].kind(), trace_kind::waited);
  EXPECT_EQ(of_0[2].call(), 11U);
  EXPECT_EQ(of_0[3].kind(), trace_kind::waited);
  EXPECT_EQ(of_0[3].call(), 9U);
  EXPECT_EQ(of_0[3].begin, sent) << "the wait begins where the call has ended";
  EXPECT_EQ(of_0[4].kind(), trace_kind::settled);
  EXPECT_EQ(of_0[4].call(), 12U);
  EXPECT_EQ(of_0[4].peer(), 2);
  EXPECT_EQ(of_0[5].kind(), trace_kind::waited);
  EXPECT_EQ(of_0[5].begin + of_0[5].length(), of_0[4].begin);
  EXPECT_EQ(mine(part, 1).size(), 1U);
}

TEST(tracer, a_call_that_is_given_to_another_thread_is_queued) {
  const traced on;
  {
    const traced_execution outer(0, 1, 0, 4, read_ticks());
    { const traced_execution inner(0, 1, 0, 5, read_ticks()); }
    this_tracer.mark_queued();
  }
  const std::vector<trace_event> events = mine(part_so_far(), 0);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind(), trace_kind::executed);
  EXPECT_EQ(events[0].call(), 5U);
  EXPECT_EQ(events[1].kind(), trace_kind::queued);
  EXPECT_EQ(events[1].call(), 4U);
}

TEST(tracer, an_execution_can_be_given_a_name_or_the_key_of_another_function) {
  this_tracer.name_execution("nothing is executed");
  const traced on;
  {
    const traced_execution by_name(1, 0, 0, 5, read_ticks());
    this_tracer.name_execution("square");
  }
  {
    const traced_execution by_key(1, 0, 0, 6, read_ticks());
    this_tracer.name_execution(1U);
  }
  {
    const traced_execution ping(1, 0, 0, 0xffffffff, read_ticks());
    this_tracer.name_execution(1U);
  }
  const trace_part part = part_so_far();
  const auto events = mine(part, 1);
  ASSERT_EQ(events.size(), 3U);
  ASSERT_GE(events[0].function(), first_named_function);
  EXPECT_EQ(part.texts.at(events[0].function()), "square");
  EXPECT_EQ(events[0].call(), 5U);
  EXPECT_EQ(events[1].function(), 1U);
  EXPECT_EQ(events[1].call(), 6U);
  EXPECT_EQ(events[2].function(), 0U) << "pings are found by the function that was sent";
}

TEST(tracer, keeps_nodes_of_one_thread_apart) {
  const traced on;
  for (int i = 0; i < 3; ++i)
    for (const int node : {0, 1}) this_tracer.add(node, trace_event::make(trace_kind::slept, 1, 2, 0, 0));
  const trace_part part = part_so_far();
  EXPECT_EQ(mine(part, 0).size(), 3U);
  EXPECT_EQ(mine(part, 1).size(), 3U);
}

TEST(tracer, events_of_no_node_are_the_process_s) {
  trace_setup how;
  how.node = 4;
  const traced on(how);
  std::thread([] {
    for (int i = 0; i < 3; ++i) this_tracer.add(trace_event::make(trace_kind::slept, 1, 2, 0, 0));
  }).join();
  const trace_part part = part_so_far();
  ASSERT_EQ(part.threads.size(), 1U);
  EXPECT_EQ(part.threads[0].node, 4);
  EXPECT_EQ(part.threads[0].events.size(), 3U);
}

TEST(tracer, grows_and_loses_nothing) {
  const traced on;
  constexpr std::uint64_t count = 100'000;
  for (std::uint64_t i = 0; i < count; ++i) this_tracer.add(0, trace_event::make(trace_kind::sent, i, i, 0, i));
  const trace_part part = part_so_far();
  const std::vector<trace_event> events = mine(part, 0);
  ASSERT_EQ(events.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(events[i].begin, i);
  EXPECT_EQ(part.dropped, 0U);
}

TEST(tracer, a_thread_that_works_for_nodes_in_turns_loses_nothing) {
  const traced on;
  constexpr std::uint64_t count = 300;
  for (std::uint64_t i = 0; i < count; ++i)
    this_tracer.add(static_cast<std::int32_t>(i % 2), trace_event::make(trace_kind::sent, i, i, 0, i));
  const trace_part part = part_so_far();
  for (const int node : {0, 1}) {
    const std::vector<trace_event> events = mine(part, node);
    ASSERT_EQ(events.size(), count / 2);
    for (std::uint64_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].begin, 2 * i + static_cast<unsigned>(node));
  }
}

TEST(tracer, says_how_many_events_it_has_dropped) {
  trace_setup how;
  how.max_bytes = 4 * trace_step;  // a head, names, a chunk
  const traced on(how);
  constexpr std::uint64_t count = 10'000;
  for (std::uint64_t i = 0; i < count; ++i) this_tracer.add(0, trace_event::make(trace_kind::sent, i, i, 0, i));
  const trace_part part = part_so_far();
  const std::vector<trace_event> events = mine(part, 0);
  EXPECT_GT(events.size(), 0U);
  EXPECT_GT(part.dropped, 0U);
  EXPECT_EQ(events.size() + part.dropped, count);
}

TEST(tracer, writes_names_once) {
  const traced on;
  const std::uint64_t one = this_tracer.number_of(0, "assemble");
  const std::uint64_t other = this_tracer.number_of(0, std::string(300, 'x'));
  EXPECT_EQ(this_tracer.number_of(0, "assemble"), one);
  EXPECT_NE(one, other);
  this_tracer.add(0, trace_event::make(trace_kind::span, 1, 2, 0, one));
  const trace_part part = part_so_far();
  ASSERT_EQ(part.texts.size(), 2U);
  EXPECT_EQ(part.texts.at(one), "assemble");
  EXPECT_EQ(part.texts.at(other), std::string(200, 'x'));
  EXPECT_EQ(mine(part, 0).size(), 1U) << "names are no events";
}

TEST(tracer, threads_write_beside_each_other) {
  const traced on;
  constexpr std::size_t count = 20'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (std::uint64_t k = 0; k < count; ++k) this_tracer.add(0, trace_event::make(trace_kind::sent, k, k, 0, k));
    });
  for (std::thread& one : threads) one.join();
  const trace_part part = part_so_far();
  ASSERT_EQ(part.threads.size(), 4U);
  for (const trace_part::thread& one : part.threads) EXPECT_EQ(one.events.size(), count);
}

TEST(tracer, a_second_trace_has_a_file_of_its_own) {
  {
    const traced on;
    this_tracer.add(0, trace_event::make(trace_kind::slept, 1, 2, 0, 0));
  }
  const traced on;
  EXPECT_TRUE(mine(part_so_far(), 0).empty());
  this_tracer.add(0, trace_event::make(trace_kind::slept, 3, 4, 0, 0));
  EXPECT_EQ(mine(part_so_far(), 0).size(), 1U);
}

TEST(tracer, a_file_outlives_a_killed_process) {
  const std::string path = ::testing::TempDir() + "tracer_test." + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    trace_setup how;
    how.path = path;
    static_cast<void>(begin_trace(how));
    this_tracer.add(0, trace_event::make(trace_kind::slept, 1, 2, 0, 0));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const trace_part part = part_so_far(file.get());
  ASSERT_EQ(part.threads.size(), 1U);
  EXPECT_EQ(part.threads[0].events.size(), 1U);
  std::filesystem::remove(path);
}

TEST(tracer, does_not_replace_a_file) {
  const std::string path = ::testing::TempDir() + "tracer_test.there." + std::to_string(::getpid());
  ASSERT_EQ(::close(::creat(path.c_str(), 0600)), 0);
  trace_setup how;
  how.path = path;
  EXPECT_THROW(static_cast<void>(begin_trace(how)), ham::config_error);
  EXPECT_FALSE(tracing());
  std::filesystem::remove(path);
}

TEST(tracer, of_a_forked_child_writes_nothing) {
  const traced on;
  this_tracer.add(0, trace_event::make(trace_kind::slept, 1, 2, 0, 0));
  const pid_t child = ::fork();
  if (child == 0) {
    detach_tracer_after_fork();
    const bool quiet = !tracing() && trace_file() == -1;
    this_tracer.add(0, trace_event::make(trace_kind::slept, 3, 4, 0, 0));
    ::_exit(quiet ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(mine(part_so_far(), 0).size(), 1U);
}

}  // namespace
