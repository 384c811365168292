// What threads write into the memory of the flight recorder, read as another process would.
#include "base/recorder.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_file.hpp"
#include "base/recording.hpp"

namespace ham::inline v1::base {
namespace {

bool two_names(std::uint32_t key, std::string_view& name) noexcept {
  if (key > 1) return false;
  name = key == 0 ? "assemble()" : "solve(int)";
  return true;
}

class recorder : public testing::Test {
 protected:
  recorder() { detach_recorder_after_fork(); }  // forgets what tests before have done
  ~recorder() override { detach_recorder_after_fork(); }

  void record_here(std::int32_t node = 3) {
    enable_recorder(node, &two_names);
    ASSERT_TRUE(use_recorder_area(file_.get(), recorder_area::bytes));
  }
  [[nodiscard]] recording read() const {
    auto read = parse_recording(read_recorder_area(file_.get(), recorder_area::bytes));
    return read ? *read : recording{};
  }
  /// The events of the calling thread.
  [[nodiscard]] recording::thread mine() const {
    const recording all = read();
    for (const recording::thread& one : all.threads) {
      if (one.id == static_cast<std::uint32_t>(::gettid())) return one;
    }
    return {};
  }

  unique_fd file_ = make_memory_file("ham-test", 2 * recorder_area::bytes);
};

TEST_F(recorder, knows_functions_that_are_no_handlers_by_name) {
  EXPECT_EQ(named_function("early"), 0xffffffffU) << "nothing is recorded";
  record_here();
  this_recorder.name_execution(7);  // executes nothing
  {
    const recorded_execution outer(1, 0, 5);
    this_recorder.name_execution(named_function("square"));
    {
      const recorded_execution inner(2, 0, 6);
      this_recorder.name_execution(named_function("cube"));
    }
    EXPECT_EQ(named_function("square"), first_named_function);
    const recording::thread now = mine();
    ASSERT_EQ(now.open.size(), 1U);
    EXPECT_EQ(now.open[0].function, first_named_function);
    EXPECT_EQ(now.open[0].call, 5U);
    EXPECT_EQ(now.open[0].peer, 1);
    ASSERT_EQ(now.past.size(), 1U);
    EXPECT_EQ(now.past[0].kind, recorded_kind::executed);
    EXPECT_EQ(now.past[0].function, first_named_function + 1);
  }
  EXPECT_EQ(read().names, (std::vector<std::string>{"assemble()", "solve(int)"}));
  EXPECT_EQ(read().named, (std::vector<std::string>{"square", "cube"}));
}

TEST_F(recorder, takes_no_more_names_than_there_is_room_for) {
  record_here();
  this_recorder.record(recorded_kind::sent, 1, 0, 77);
  std::uint32_t count = 0;
  while (named_function(std::string(300, 'x') + std::to_string(count)) == first_named_function && count < 3) ++count;
  EXPECT_EQ(count, 3U) << "200 bytes count";
  for (count = 1; named_function(std::to_string(count) + std::string(100, 'y')) != 0xffffffffU;) ++count;
  EXPECT_GT(count, 500U);
  const recording all = read();
  ASSERT_EQ(all.named.size(), count);
  EXPECT_EQ(all.named[0], std::string(200, 'x'));
  EXPECT_EQ(all.named.back(), std::to_string(count - 1) + std::string(100, 'y'));
  EXPECT_EQ(named_function(std::string(200, 'x')), first_named_function);
}

TEST_F(recorder, cuts_names_between_characters) {
  record_here();
  this_recorder.record(recorded_kind::sent, 1, 0, 77);
  const std::string cut_within = std::string(199, 'x') + "\u00e4\u00e4";
  const std::string cut_between = std::string(198, 'y') + "\u00e4\u00e4";
  const std::string no_text(300, '\x80');
  for (const std::string& one : {cut_within, cut_between, no_text}) ASSERT_NE(named_function(one), 0xffffffffU);
  EXPECT_EQ(read().named,
            (std::vector<std::string>{std::string(199, 'x'), cut_between.substr(0, 200), no_text.substr(0, 200)}));
}

TEST_F(recorder, writes_what_is_called) {
  record_here();
  this_recorder.record(recorded_kind::sent, 1, 0, 77);
  this_recorder.record(recorded_kind::pinged, 2, 1, 0xffffffff);
  const recording all = read();
  EXPECT_EQ(all.node, 3);
  EXPECT_EQ(all.pid, ::getpid());
  EXPECT_EQ(all.names, (std::vector<std::string>{"assemble()", "solve(int)"}));
  ASSERT_EQ(all.threads.size(), 1U);
  const recording::thread thread = mine();
  EXPECT_TRUE(thread.open.empty());
  ASSERT_EQ(thread.past.size(), 2U);
  EXPECT_EQ(thread.past[0].kind, recorded_kind::pinged);
  EXPECT_EQ(thread.past[0].peer, 2);
  EXPECT_EQ(thread.past[1].kind, recorded_kind::sent);
  EXPECT_EQ(thread.past[1].peer, 1);
  EXPECT_EQ(thread.past[1].function, 0U);
  EXPECT_EQ(thread.past[1].call, 77U);
}

TEST_F(recorder, tells_what_is_executed_now_and_how_long) {
  record_here();
  {
    const recorded_execution outer(4, 0, 10);
    sleep_ns(20'000'000);
    {
      const recorded_execution inner(5, 1, 11);
      const recording::thread during = mine();
      ASSERT_EQ(during.open.size(), 2U);
      EXPECT_EQ(during.open[0].call, 10U);
      EXPECT_EQ(during.open[1].call, 11U);
      EXPECT_EQ(during.open[1].peer, 5);
      EXPECT_EQ(during.open[1].kind, recorded_kind::executing);
      EXPECT_GE(during.open[0].age_ns, 19'000'000);
      EXPECT_LT(during.open[0].age_ns, 60'000'000'000);
      EXPECT_TRUE(during.past.empty());
    }
    const recording::thread after = mine();
    ASSERT_EQ(after.open.size(), 1U);
    EXPECT_EQ(after.open[0].call, 10U);
    ASSERT_EQ(after.past.size(), 1U);
    EXPECT_EQ(after.past[0].kind, recorded_kind::executed);
    EXPECT_EQ(after.past[0].call, 11U);
  }
  EXPECT_TRUE(mine().open.empty());
  ASSERT_EQ(mine().past.size(), 2U);
}

TEST_F(recorder, one_that_follows_has_the_place_of_the_one_before) {
  record_here();
  {
    const recorded_execution outer(4, 0, 10);
    recorded_execution stage(4, 1, 11);
    stage.next(5, 0, 12, read_ticks());
    recording::thread during = mine();
    ASSERT_EQ(during.open.size(), 2U);
    EXPECT_EQ(during.open[0].call, 10U);
    EXPECT_EQ(during.open[1].call, 12U);
    EXPECT_EQ(during.open[1].peer, 5);
    EXPECT_EQ(during.open[1].kind, recorded_kind::executing);
    ASSERT_EQ(during.past.size(), 1U);
    EXPECT_EQ(during.past[0].kind, recorded_kind::executed);
    EXPECT_EQ(during.past[0].call, 11U);
    this_recorder.mark_queued(12);
    stage.next(4, 1, 13, read_ticks());
    during = mine();
    ASSERT_EQ(during.past.size(), 2U);
    EXPECT_EQ(during.past[0].kind, recorded_kind::queued) << "another thread executes it";
    EXPECT_EQ(during.past[0].call, 12U);
  }
  EXPECT_TRUE(mine().open.empty());
  EXPECT_EQ(mine().past.size(), 4U);
}

void nest(std::uint32_t depth, const std::function<void()>& inside) {
  if (depth == 0) {
    inside();
    return;
  }
  const recorded_execution one(1, 0, depth);
  nest(depth - 1, inside);
}

TEST_F(recorder, calls_that_are_nested_deeper_than_there_are_places_share_the_last) {
  record_here();
  const std::uint32_t depth = 3 * recorder_ring::max_open;
  recording::thread during;
  nest(depth, [&] { during = mine(); });
  ASSERT_EQ(during.open.size(), recorder_ring::max_open);
  EXPECT_EQ(during.open.front().call, depth);
  EXPECT_EQ(during.open.back().call, 1U) << "the innermost";
  EXPECT_EQ(mine().past.size(), recorder_ring::max_open) << "the others of the last place are forgotten";
  EXPECT_TRUE(mine().open.empty());
  {
    const recorded_execution one(1, 0, 99);
    EXPECT_EQ(mine().open.size(), 1U);
  }
}

TEST_F(recorder, keeps_the_newest_events) {
  record_here();
  const std::uint32_t count = 3 * recorder_ring::max_past + 5;
  for (std::uint32_t i = 0; i < count; ++i) this_recorder.record(recorded_kind::sent, 1, 0, i);
  std::set<std::uint32_t> calls;
  for (const recording::event& one : mine().past) calls.insert(one.call);
  EXPECT_EQ(calls.size(), recorder_ring::max_past);
  EXPECT_EQ(*calls.begin(), count - recorder_ring::max_past);
  EXPECT_EQ(*calls.rbegin(), count - 1);
}

TEST_F(recorder, a_call_that_is_given_to_another_thread_was_not_executed_here) {
  record_here();
  {
    const recorded_execution one(1, 0, 5);
    this_recorder.mark_queued(6);
    EXPECT_EQ(mine().open.at(0).kind, recorded_kind::executing) << "that is another call";
    this_recorder.mark_queued(5);
  }
  ASSERT_EQ(mine().past.size(), 1U);
  EXPECT_EQ(mine().past[0].kind, recorded_kind::queued);
  this_recorder.mark_queued(5);  // nothing is executed
}

TEST_F(recorder, does_nothing_until_it_is_enabled) {
  ASSERT_TRUE(use_recorder_area(file_.get(), recorder_area::bytes));
  this_recorder.record(recorded_kind::sent, 1, 0, 1);
  { const recorded_execution one(1, 0, 2); }
  EXPECT_TRUE(read_recorder_area(file_.get(), recorder_area::bytes).empty());
  enable_recorder(1, &two_names);
  this_recorder.record(recorded_kind::sent, 1, 0, 3);
  EXPECT_EQ(mine().past.size(), 1U);
}

TEST_F(recorder, does_nothing_if_it_is_off) {
  disable_recorder();
  enable_recorder(1, &two_names);
  EXPECT_FALSE(use_recorder_area(file_.get(), recorder_area::bytes));
  this_recorder.record(recorded_kind::sent, 1, 0, 1);
  { const recorded_execution one(1, 0, 2); }
  EXPECT_TRUE(read_recorder_area(file_.get(), recorder_area::bytes).empty());
}

/// Files of that name that this process has open.
std::vector<std::filesystem::path> open_recorders() {
  std::vector<std::filesystem::path> found;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(one, gone).string().find("memfd:ham-recorder") != std::string::npos)
      found.push_back(one.path());
  }
  return found;
}

TEST_F(recorder, has_memory_of_its_own_where_nobody_gives_it_any) {
  enable_recorder(9, &two_names);
  EXPECT_TRUE(open_recorders().empty()) << "only when there is something to record";
  this_recorder.record(recorded_kind::sent, 1, 0, 55);
  ASSERT_EQ(open_recorders().size(), 1U);
  const unique_fd theirs(::open(open_recorders()[0].c_str(), O_RDONLY | O_CLOEXEC));
  const auto all = parse_recording(read_recorder_area(theirs.get(), 0));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->node, 9);
  ASSERT_EQ(all->threads.size(), 1U);
  EXPECT_EQ(all->threads[0].past.at(0).call, 55U);
  EXPECT_FALSE(use_recorder_area(file_.get(), recorder_area::bytes)) << "threads record elsewhere already";
}

TEST_F(recorder, takes_no_area_that_the_file_does_not_hold) {
  enable_recorder(1, &two_names);
  EXPECT_FALSE(use_recorder_area(file_.get(), 2 * recorder_area::bytes));
  EXPECT_FALSE(use_recorder_area(-1, 0));
}

TEST_F(recorder, each_thread_has_a_ring_and_leaves_it_when_it_ends) {
  record_here();
  this_recorder.record(recorded_kind::sent, 1, 0, 1);
  const auto record_on_a_thread = [](std::uint32_t call) {
    std::thread([call] { this_recorder.record(recorded_kind::sent, 1, 0, call); }).join();
  };
  record_on_a_thread(2);
  EXPECT_EQ(read().threads.size(), 2U) << "that of a thread that has ended is still there";
  for (std::uint32_t i = 0; i < 3 * recorder_area::max_threads; ++i) {
    record_on_a_thread(100 + i);
    bool found = false;
    for (const recording::thread& one : read().threads)
      for (const recording::event& event : one.past) found = found || event.call == 100 + i;
    EXPECT_TRUE(found) << i;
  }
  EXPECT_EQ(mine().past.at(0).call, 1U) << "nobody takes the ring of a thread that lives";
}

TEST_F(recorder, a_child_after_fork_leaves_the_memory_to_its_parent) {
  record_here();
  this_recorder.record(recorded_kind::sent, 1, 0, 1);
  const recorded_execution one(1, 0, 2);
  const pid_t child = ::fork();
  if (child == 0) {
    detach_recorder_after_fork();
    this_recorder.record(recorded_kind::sent, 1, 0, 3);
    enable_recorder(4, &two_names);
    this_recorder.record(recorded_kind::sent, 1, 0, 4);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read().threads.size(), 1U);
  EXPECT_EQ(mine().past.size(), 1U);
  EXPECT_EQ(mine().open.size(), 1U);
}

TEST_F(recorder, is_readable_when_its_process_was_killed) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    enable_recorder(6, &two_names);
    static_cast<void>(use_recorder_area(file_.get(), recorder_area::bytes));
    { const recorded_execution before(0, 0, 20); }
    const recorded_execution now(0, 1, 21);
    static_cast<void>(::write(ready[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ready[0]);
  ::close(ready[1]);
  const recording all = read();
  EXPECT_EQ(all.node, 6);
  EXPECT_EQ(all.pid, child);
  ASSERT_EQ(all.threads.size(), 1U);
  ASSERT_EQ(all.threads[0].open.size(), 1U);
  EXPECT_EQ(all.threads[0].open[0].call, 21U);
  EXPECT_EQ(all.names.at(all.threads[0].open[0].function), "solve(int)");
  ASSERT_EQ(all.threads[0].past.size(), 1U);
  EXPECT_EQ(all.threads[0].past[0].call, 20U);
}

}  // namespace
}  // namespace ham::base
