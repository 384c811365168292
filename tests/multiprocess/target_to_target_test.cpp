// Targets call each other, the host, and move memory among themselves; each process is on its own.
// link: ham::ham
#include "some_attempt.hpp"
#include "support.hpp"

#include "offload/block_crossing.hpp"

#include <sys/resource.h>
#include <chrono>
#include <numeric>

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_pid() { return ::getpid(); }
pid_t pid_of(node_t node) { return offload::sync(node, fn<&my_pid>); }
/// Goes through all nodes of a list, one after the other, nested.
std::vector<pid_t> tour(const std::vector<node_t>& way, std::size_t at) {
  std::vector<pid_t> result{::getpid()};
  if (at == way.size()) return result;
  const auto rest = offload::sync(way[at], fn<&tour>, way, at + 1);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}
int ping_pong(node_t partner, int depth) {
  if (depth == 0) return 0;
  return 1 + offload::sync(partner, fn<&ping_pong>, offload::this_node(), depth - 1);
}
long sum(offload::buffer_ptr<int> at, std::size_t n) { return std::accumulate(at.get(), at.get() + n, 0L); }
void fill(offload::buffer_ptr<int> at, std::size_t n, int start) { std::iota(at.get(), at.get() + n, start); }

TEST(target_to_target, calls_in_every_direction) {
  runtime rt(nodes("shm:3"));
  std::vector<pid_t> pids{::getpid()};
  for (node_t node = 1; node <= 3; ++node) pids.push_back(offload::sync(node, fn<&my_pid>));
  for (node_t from = 0; from <= 3; ++from) {
    for (node_t to = 0; to <= 3; ++to) {
      EXPECT_EQ(offload::sync(from, fn<&pid_of>, to), pids[static_cast<std::size_t>(to)]) << from << " to " << to;
    }
  }
  const std::vector<node_t> way{1, 2, 3, 0, 3, 1, 1, 2, 0, 1};
  std::vector<pid_t> expected{::getpid()};
  for (const node_t node : way) expected.push_back(pids[static_cast<std::size_t>(node)]);
  EXPECT_EQ(tour(way, 0), expected);
}

TEST(target_to_target, deep_nesting) {
  runtime rt(nodes("shm:2"));
  EXPECT_EQ(offload::sync(1, fn<&ping_pong>, 2, 100), 100);
  EXPECT_EQ(offload::sync(1, fn<&ping_pong>, 0, 100), 100);
}

void spend(int microseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}
pid_t pid_through(node_t next, node_t last) { return offload::sync(next, fn<&pid_of>, last); }

/// What the host says of the new node lies behind a lot of work in node 1's queue; the call from node 2 overtakes it.
TEST(target_to_target, a_number_that_arrives_before_the_word_of_a_new_node) {
  runtime rt(nodes("shm:2"));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 500; ++i) offload::ping(1, fn<&spend>, 400);
    const node_t fresh = offload::add_node("shm:1");
    EXPECT_GT(offload::sync(2, fn<&pid_through>, 1, fresh), 0);
  }
  EXPECT_THROW(offload::sync(1, fn<&pid_of>, 77), call_error) << "the host knows of no such node either";
}

TEST(target_to_target, all_call_all_at_once) {
  constexpr int count = 6;
  runtime rt(nodes("shm:" + std::to_string(count)));
  std::vector<offload::future<int>> all;
  for (node_t node = 1; node <= count; ++node) {
    all.push_back(offload::async(node, [] {
      int good = 0;
      const auto self = offload::this_node();
      for (int round = 0; round < 50; ++round) {
        std::vector<offload::future<node_t>> answers;
        for (std::size_t other = 0; other < offload::num_nodes(); ++other) {
          answers.push_back(offload::async(
              other, [](node_t from) { return from; }, self));
        }
        for (auto& one : answers) good += one.get() == self ? 1 : 0;
      }
      return good;
    }));
  }
  for (auto& one : all) EXPECT_EQ(one.get(), 50 * (count + 1));
}

TEST(target_to_target, copy_of_memory) {
  runtime rt(nodes("shm:3"));
  constexpr std::size_t n = 3'000'001;
  offload::buffer<int> on[] = {{0, n}, {1, n}, {2, n}, {3, n}};
  for (int from = 0; from <= 3; ++from) {
    for (int to = 0; to <= 3; ++to) {
      if (from == to) continue;
      const int start = 100 * from + to;
      offload::sync(from, fn<&fill>, on[from].ptr(), n, start);
      offload::copy_sync(on[from].ptr(), on[to].ptr(), n);
      EXPECT_EQ(offload::sync(to, fn<&sum>, on[to].ptr(), n),
                static_cast<long>(n) * start + static_cast<long>(n) * (static_cast<long>(n) - 1) / 2)
          << from << " to " << to;
    }
  }
}

TEST(target_to_target, blocks_of_rows) {
  runtime rt(nodes("shm:2"));
  expect_blocks_cross(1, 2);
  expect_blocks_cross(1, 1);
  expect_blocks_cross(0, 2);
}

TEST(target_to_target, copy_from_inside_a_target) {
  runtime rt(nodes("shm:2"));
  offload::buffer<int> there(2, 1000);
  const long got = offload::sync(
      1,
      [](offload::buffer_ptr<int> other) {
        offload::buffer<int> mine(offload::this_node(), 1000);
        fill(mine.ptr(), 1000, 1);
        offload::copy_sync(mine.ptr(), other, 1000);
        std::vector<int> back(1000);
        offload::get_sync(other, back.data(), 1000);
        return std::accumulate(back.begin(), back.end(), 0L);
      },
      there.ptr());
  EXPECT_EQ(got, 500500);
}

TEST(target_to_target, the_death_of_a_target_reaches_the_others) {
  runtime rt(nodes("shm:3"));
  EXPECT_GT(offload::sync(1, fn<&pid_of>, 2), 0);  // 1 knows 2
  auto waiting = offload::async(1, [] {
    try {
      offload::sync(2, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
    } catch (const node_failure& failure) {
      return failure.node();
    }
    return node_t{-1};
  });
  EXPECT_FALSE(waiting.wait_for(50ms));
  ::kill(static_cast<pid_t>(offload::get_node_descriptor(2).pid()), SIGKILL);
  EXPECT_EQ(waiting.get(), 2);
  // One that never talked to it before gets told as well.
  const auto late = [] {
    try {
      offload::sync(2, fn<&my_pid>);
    } catch (const node_failure& failure) {
      return failure.node();
    }
    return node_t{-1};
  };
  EXPECT_EQ(offload::sync(3, late), 2);
  EXPECT_EQ(offload::sync(1, fn<&pid_of>, 3), offload::get_node_descriptor(3).pid());
}

TEST(target_to_target, statics_are_each_process_s_own) {
  runtime rt(nodes("shm:2"));
  const auto next = [] {
    static int counter = 0;
    return ++counter;
  };
  EXPECT_EQ(offload::sync(1, next), 1);
  EXPECT_EQ(offload::sync(1, next), 2);
  EXPECT_EQ(offload::sync(2, next), 1);
  EXPECT_EQ(next(), 1);
}

/// On a busy machine a second of sleep may be several.
struct stopwatch {
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
};

TEST(target_to_target, idle_targets_use_no_cpu) {
  const auto cpu_ms = [] {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000.0 +
           (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000.0;
  };
  runtime rt(nodes("shm:4"));
  double of_host = 0;  // milliseconds in a second of idleness
  double of_targets = 0;
  const auto are_quiet = [&] {
    const stopwatch since_begin;
    std::vector<double> before;
    for (node_t node = 1; node <= 4; ++node) before.push_back(offload::sync(node, cpu_ms));
    const double host_before = cpu_ms();
    std::this_thread::sleep_for(1s);
    of_host = (cpu_ms() - host_before) / since_begin.seconds();
    of_targets = 0;
    for (node_t node = 1; node <= 4; ++node) {
      const double used = offload::sync(node, cpu_ms) - before[static_cast<std::size_t>(node - 1)];
      of_targets = std::max(of_targets, used / since_begin.seconds());
    }
    return of_host < 50 && of_targets < (sanitized() ? 100 : 30);  // the bar is 10
  };
  EXPECT_TRUE(in_some_attempt(are_quiet)) << "host " << of_host << " ms, targets up to " << of_targets << " ms";
}

TEST(target_to_target, a_waiting_host_uses_no_cpu) {
  runtime rt(nodes("shm:1"));
  double ms = 0;  // in a second of waiting
  const auto is_quiet = [&] {
    const stopwatch since_begin;
    auto slow = offload::async(1, [] { std::this_thread::sleep_for(1s); });
    timespec before{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    slow.get();
    timespec after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    ms = (static_cast<double>(after.tv_sec - before.tv_sec) * 1e3 +
          static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e6) /
         since_begin.seconds();
    return ms < 50;
  };
  EXPECT_TRUE(in_some_attempt(is_quiet)) << ms << " ms";
}

std::atomic<int> answered{0};
std::string answer(std::size_t size) {
  ++answered;
  return std::string(size, 'a');
}
int count_answered() { return answered.load(); }
/// Takes nothing of what `node` answers until its process has gone; then "values 4, failures 6".
std::string take_answers_when_gone(node_t node, pid_t process, int calls, std::size_t size) {
  auto& all = *new std::vector<offload::future<std::string>>;  // one that never settles could not be destroyed
  for (int i = 0; i < calls; ++i) all.push_back(offload::async(node, fn<&answer>, size));
  while (::kill(process, 0) == 0) ::usleep(1000);
  int values = 0;
  int failures = 0;
  for (auto& one : all) {
    if (!one.wait_for(10s)) return "a future that never settles";
    try {
      values += one.get().size() == size ? 1 : 0;
    } catch (const node_failure&) {
      ++failures;
    }
  }
  return "values " + std::to_string(values) + ", failures " + std::to_string(failures);
}

/// Its goodbye finds no room.
TEST(target_to_target, a_target_that_was_removed_is_lost_to_those_that_have_not_taken_its_answers) {
  runtime rt(nodes("shm:2"));
  constexpr int calls = 20;  // whose answers are more than a ring holds
  const pid_t second = pid_of(2);
  auto taken = offload::async(1, fn<&take_answers_when_gone>, node_t{2}, second, calls, std::size_t{30'000});
  EXPECT_TRUE(eventually([] { return offload::sync(2, fn<&count_answered>) == calls; }));
  offload::remove_node(2);
  const std::string found = taken.get();
  EXPECT_TRUE(found.starts_with("values ")) << found;
  EXPECT_FALSE(found.ends_with("failures 0")) << found;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
