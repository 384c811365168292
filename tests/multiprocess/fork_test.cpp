// fork() in a host and in a target: the job stays the parent's, the child gets clear errors.
// link: ham::ham
// timeout: 300
// A child leaves the parent's runtime alone, destructors included, which is reported as leaks; and leak detection takes
// locks that another thread may have held at the fork.
// env: ASAN_OPTIONS=detect_leaks=0
#include "support.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "ham/offload/graph.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }
int echo_after_ms(int value, int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return value;
}

/// Runs `what` in a fork of this process that then calls exit(); 0 if it returned true.
template <class What>
[[nodiscard]] int in_a_fork(What what) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);  // a child that hangs is killed
    std::exit(what() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

/// True if `what` throws an E that speaks of the fork.
template <class E, class What>
[[nodiscard]] bool is_told(What what) {
  try {
    what();
    std::puts("nothing was thrown");
  } catch (const E& problem) {
    if (std::string(problem.what()).find("forked from process") != std::string::npos) return true;
    std::printf("another text: %s\n", problem.what());
  } catch (const std::exception& problem) {
    std::printf("another exception: %s: %s\n", typeid(problem).name(), problem.what());
  }
  std::fflush(stdout);
  return false;
}

class fork_of_a_host : public testing::Test {
 protected:
  /// The job works, and nobody took anything out of its rings.
  void TearDown() override {
    ASSERT_TRUE(job);
    for (int i = 0; i < (sanitized() ? 1000 : 5000); ++i) ASSERT_EQ(offload::sync(1 + i % 2, fn<&echo>, i), i);
    for (const pid_t pid : targets) EXPECT_TRUE(alive(pid));
    job.reset();
    EXPECT_EQ(children(), std::set<pid_t>());
  }
  std::optional<runtime> job{std::in_place, nodes("shm:2")};
  const std::vector<pid_t> targets = target_pids();
};

TEST_F(fork_of_a_host, calls_in_the_child_are_errors) {
  offload::context queue(1);
  offload::buffer<int> memory(1, 100);
  auto before = offload::async(1, fn<&echo_after_ms>, 5, 300);
  auto chained = offload::async(2, fn<&echo_after_ms>, 5, 300).then([](int value) { return value + 1; });
  std::vector<offload::future<int>> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(offload::async(1, fn<&echo>, i));
  auto all = offload::when_all(std::move(parts));
  int here[100] = {};
  const int status = in_a_fork([&] {
    bool good = is_told<config_error>([] { offload::sync(1, fn<&echo>, 1); });
    good = is_told<config_error>([] { offload::ping(0, fn<&echo>, 1); }) && good;
    good = is_told<config_error>([&] { offload::sync(queue, fn<&echo>, 1); }) && good;
    good = is_told<config_error>([&] { offload::put_sync(here, memory.ptr(), 100); }) && good;
    good = is_told<config_error>([] { (void)offload::allocate<int>(2, 1); }) && good;
    good = is_told<error>([&] { (void)before.get(); }) && good;
    good = is_told<error>([&] { (void)chained.get(); }) && good;
    good = is_told<error>([&] { (void)all.get(); }) && good;
    const auto use = job->use();
    good = is_told<node_failure>([] { offload::sync(1, fn<&echo>, 1); }) && good;
    return is_told<node_failure>([] { offload::sync(0, fn<&echo>, 1); }) && good;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(before.get(), 5);
  EXPECT_EQ(chained.get(), 6);
  auto results = all.get();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i);
  EXPECT_EQ(offload::sync(queue, fn<&echo>, 9), 9);
}

TEST_F(fork_of_a_host, the_end_of_the_runtime_in_the_child_ends_nothing) {
  EXPECT_EQ(in_a_fork([&] {
              job.reset();
              return true;
            }),
            0);
}

TEST_F(fork_of_a_host, futures_and_contexts_that_die_in_the_child_wait_for_nothing) {
  std::vector<offload::future<int>> pending;
  for (int i = 0; i < 100; ++i) pending.push_back(offload::async(1 + i % 2, fn<&echo_after_ms>, i, 2));
  std::optional<offload::context> queue(std::in_place, 1);
  EXPECT_EQ(in_a_fork([&] {
              pending.clear();
              queue.reset();
              return true;
            }),
            0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pending[static_cast<std::size_t>(i)].get(), i);
}

TEST_F(fork_of_a_host, the_child_may_have_a_job_of_its_own) {
  EXPECT_EQ(in_a_fork([] {
              runtime own(nodes("shm:1"));
              for (int i = 0; i < 1000; ++i) {
                if (offload::sync(1, fn<&echo>, i) != i) return false;
              }
              return offload::sync(0, pooled(fn<&echo>), 4) == 4;
            }),
            0);
}

TEST_F(fork_of_a_host, with_a_thread_pool) {
  EXPECT_EQ(offload::sync(0, pooled(fn<&echo>), 4), 4);
  EXPECT_EQ(in_a_fork([] { return true; }), 0) << "exit() must not wait for threads that are the parent's";
}

TEST_F(fork_of_a_host, while_other_threads_call) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer's allocator may be locked by another thread at fork(), for ever in the child";
#endif
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 3; ++thread) {
    callers.emplace_back([&, thread] {
      for (int i = 0; !stop; ++i) {
        if (offload::sync(1 + (i + thread) % 2, fn<&echo>, i) != i) ++wrong;
      }
    });
  }
  for (int i = 0; i < std::min(rounds(30), 300) && !HasFailure(); ++i) {
    EXPECT_EQ(in_a_fork([] { return is_told<config_error>([] { offload::sync(1, fn<&echo>, 1); }); }), 0) << i;
  }
  stop = true;
  for (std::thread& one : callers) one.join();
  EXPECT_EQ(wrong.load(), 0);
}

// ---- in a target

/// The child leaves by exit(), or returns out of the function into the library.
int fork_there(bool returns) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    if (returns) return -1;
    std::exit(0);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST_F(fork_of_a_host, functions_may_fork) {
  offload::context queue(1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(offload::sync(1, fn<&fork_there>, false), 0);
    EXPECT_EQ(offload::sync(1, fn<&fork_there>, true), 0) << "only the parent's answer counts";
    EXPECT_EQ(offload::sync(queue, fn<&fork_there>, false), 0);
    EXPECT_EQ(offload::sync(queue, fn<&fork_there>, true), 0);
    EXPECT_EQ(offload::sync(1, pooled(fn<&fork_there>), true), 0);
    auto behind = offload::async(1, fn<&echo>, i);
    EXPECT_EQ(behind.get(), i);
  }
  EXPECT_TRUE(offload::sync(
      1, [] { return in_a_fork([] { return is_told<config_error>([] { offload::sync(0, fn<&echo>, 1); }); }) == 0; }));
}

/// How many children have not ended well, of those that poll for a stop while another thread of the parent does.
int fork_while_polled_for(const call_stop_token& stop, int times) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) static_cast<void>(stop.stop_requested());
  });
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::alarm(20);
      const auto until = std::chrono::steady_clock::now() + 500us;
      while (std::chrono::steady_clock::now() < until) {
        if (stop.stop_requested()) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(pid, &status, 0);
    if (status != 0) ++failed;
  }
  over = true;
  other.join();
  return failed;
}
int fork_while_polled(int times) { return fork_while_polled_for(this_call::stop_token(), times); }
int fork_while_shielded(int times) {
  const auto stop = this_call::stop_token();
  const this_call::shield shielded;
  return fork_while_polled_for(stop, times);
}
int fork_on_another_thread(int times) {
  int failed = -1;
  std::thread([&, stop = this_call::stop_token()] { failed = fork_while_polled_for(stop, times); }).join();
  return failed;
}

TEST_F(fork_of_a_host, functions_that_can_be_stopped_may_fork) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer's allocator may be locked by another thread at fork(), for ever in the child";
#endif
  const auto expect_none_fails = [](auto forking, int times) {
    EXPECT_EQ(offload::sync(offload::within(1, 600s), forking, times), 0);
    offload::graph g;
    const auto many = g.input<int>();
    auto step = g.compile(g.call(1, forking, many));
    EXPECT_EQ(step.stoppable()(times).get(), 0) << "as a stage";
  };
  expect_none_fails(fn<&fork_while_polled>, std::min(rounds(300), 500));
  expect_none_fails(fn<&fork_while_shielded>, std::min(rounds(100), 200));
  expect_none_fails(fn<&fork_on_another_thread>, std::min(rounds(100), 200));
}

// ---- in a host with ham_init, whose exit ends the job

int forks_and_goes_on() {
  offload::ham_init(nullptr, nullptr);
  print_target_pids();
  if (in_a_fork([] { return is_told<config_error>([] { offload::sync(1, fn<&echo>, 1); }); }) != 0) return 1;
  if (in_a_fork([] {
        offload::ham_finalise();
        return true;
      }) != 0)
    return 2;
  for (int i = 0; i < 1000; ++i) {
    if (offload::sync(1, fn<&echo>, i) != i) return 3;
  }
  return 7;
}

/// The child holds all descriptors of its parent, which goes.
int leaves_a_fork_behind() {
  offload::ham_init(nullptr, nullptr);
  print_target_pids();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    for (;;) ::pause();
  }
  std::printf("child %d\n", static_cast<int>(pid));
  std::fflush(stdout);
  ::kill(::getpid(), SIGKILL);
  return 0;
}

const scenario scenarios[] = {{"forks_and_goes_on", forks_and_goes_on}, {"leaves_a_fork_behind", leaves_a_fork_behind}};

TEST(fork_of_ham_init, the_job_goes_on_and_ends_with_the_parent) {
  host_process host("forks_and_goes_on", {"HAM_NODES=shm:2"});
  const std::vector<pid_t> targets = parse_pids(host.line());
  EXPECT_EQ(targets.size(), 2U);
  const int status = host.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status << host.rest();
  for (const pid_t pid : targets) EXPECT_TRUE(eventually([pid] { return !alive(pid); }));
}

TEST(fork_of_ham_init, a_child_that_lives_on_does_not_keep_the_targets) {
  host_process host("leaves_a_fork_behind", {"HAM_NODES=shm:2"});
  const std::vector<pid_t> targets = parse_pids(host.line());
  const std::vector<pid_t> child = parse_pids(host.line());
  ASSERT_EQ(child.size(), 1U);
  host.wait();
  for (const pid_t pid : targets) EXPECT_TRUE(eventually([pid] { return !alive(pid); }));
  EXPECT_TRUE(alive(child.front()));
  ::kill(child.front(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(child.front()); }));
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) {
    if (std::getenv("HAM_TEST_SCENARIO") != nullptr) return offload::ham_init(&argc, &argv) ? 1 : 0;
    runtime rt(argc, argv);
  }
  return run(argc, argv);
}
