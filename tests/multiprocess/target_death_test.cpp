// Targets that die: by kill -9 in mid-call, by themselves inside a handler. Every future settles.
// link: ham::ham
// timeout: 600
#include "support.hpp"

#include <csignal>

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }
pid_t my_pid() { return ::getpid(); }
void work_forever() {
  volatile bool forever = true;
  while (forever) {
  }
}
void signal_and_work_forever(buffer_ptr<int> begun) {
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  work_forever();
}
void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
void leave(int status) { ::_exit(status); }
void leave_in_order(int status) { std::exit(status); }
void give_up() { std::abort(); }
void touch_nothing() {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
}
std::vector<char>& hoard() {
  static std::vector<char> memory;
  return memory;
}
std::size_t fill_memory(std::size_t bytes) {
  hoard().assign(bytes, 'x');
  return hoard().size();
}

/// get() fails with node_failure that names node, process and function.
template <class T>
void expect_node_failure(offload::future<T>& future, node_t node, pid_t pid, const std::string& function) {
  try {
    future.get();
    ADD_FAILURE() << "a call of " << function << " on a dead node gave a result";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), node);
    EXPECT_EQ(failure.pid(), pid);
    EXPECT_FALSE(failure.host().empty());
    EXPECT_NE(failure.function().find(function), std::string::npos) << failure.function();
    EXPECT_NE(std::string(failure.what()).find("node " + std::to_string(node)), std::string::npos) << failure.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << "not a node_failure: " << other.what();
  }
}

/// One target is killed while it computes and 64 calls are pending. Milliseconds until the first future has settled.
double kill_in_mid_call(bool sleepy, std::size_t resident) {
  runtime rt(nodes("shm:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  EXPECT_EQ(offload::sync(1, fn<&fill_memory>, resident), resident);
  auto computing = offload::async(1, fn<&work_forever>);
  std::vector<offload::future<int>> pending;
  for (int i = 0; i < 63; ++i) pending.push_back(offload::async(1, fn<&echo>, i));
  // The target is inside the first call; the host's waiting thread still spins, or sleeps in the kernel.
  EXPECT_FALSE(computing.wait_for(sleepy ? 30ms : 1ms));

  std::chrono::steady_clock::time_point killed;
  std::thread killer([&] {
    if (sleepy) std::this_thread::sleep_for(5ms);
    killed = std::chrono::steady_clock::now();
    ::kill(pid, SIGKILL);
  });
  computing.wait();
  const auto noticed = std::chrono::steady_clock::now();
  killer.join();
  expect_node_failure(computing, 1, pid, "work_forever");
  for (auto& one : pending) expect_node_failure(one, 1, pid, "echo");
  EXPECT_THROW(offload::sync(1, fn<&echo>, 1), node_failure);
  EXPECT_THROW((void)offload::async(1, fn<&echo>, 1), node_failure);
  return std::chrono::duration<double, std::milli>(noticed - killed).count();
}

void report(const char* what, std::vector<double>& times) {
  const double p50 = quantile(times, 0.5);
  const double p99 = quantile(times, 0.99);
  std::printf("%s: %zu rounds, detected after p50 %.3f ms, p99 %.3f ms, longest %.3f ms\n", what, times.size(), p50,
              p99, times.back());
  EXPECT_LT(p50, sanitized() ? 2000 : 200) << "not even on a busy machine should it take that long";
}

TEST(target_death, kill_in_mid_call_with_64_futures_pending) {
  const auto before = traces();
  std::vector<double> times;
  for (int i = 0; i < rounds(50) && !HasFailure(); ++i) times.push_back(kill_in_mid_call(false, 0));
  report("kill -9, host spins", times);
  EXPECT_EQ(traces(), before);
  EXPECT_EQ(children(), std::set<pid_t>());
}

TEST(target_death, kill_in_mid_call_while_the_host_sleeps) {
  std::vector<double> times;
  for (int i = 0; i < rounds(20) && !HasFailure(); ++i) times.push_back(kill_in_mid_call(true, 0));
  report("kill -9, host sleeps", times);
}

TEST(target_death, kill_with_a_gibibyte_resident) {
  if (sanitized()) GTEST_SKIP() << "the sanitizer's own memory is what would be measured";
  std::vector<double> times;
  for (int i = 0; i < std::min(rounds(3), 100) && !HasFailure(); ++i) {
    times.push_back(kill_in_mid_call(false, std::size_t{1} << 30));
  }
  report("kill -9 with 1 GiB resident", times);
  EXPECT_TRUE(eventually([] { return children().empty(); }));
}

TEST(target_death, no_file_descriptor_is_left) {
  (void)kill_in_mid_call(false, 0);
  const std::size_t before = open_files();
  for (int i = 0; i < 5; ++i) (void)kill_in_mid_call(false, 0);
  EXPECT_EQ(open_files(), before);
}

/// Mappings here of memory that targets allocated, and open files of it.
std::size_t heaps_held() {
  std::size_t count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("ham-heap") != std::string::npos ? 1 : 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += std::filesystem::read_symlink(file, gone).string().find("ham-heap") != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST(target_death, a_host_that_goes_on_keeps_no_memory_of_the_dead) {
  runtime rt(nodes("none"));
  const std::size_t before = heaps_held();
  for (int i = 0; i < 4; ++i) {
    const node_t node = offload::add_node("shm:1");
    offload::buffer<int> numbers(node, 1000);
    const int seven = 7;
    offload::put_sync(&seven, numbers.ptr(), 1);
    EXPECT_GT(heaps_held(), before);
    if (i % 2 == 0)
      ::kill(offload::sync(node, fn<&my_pid>), SIGKILL);
    else
      offload::remove_node(node);
    EXPECT_TRUE(eventually([&] { return heaps_held() == before; }));
    int arrived = 0;
    EXPECT_THROW(offload::get_sync(numbers.ptr(), &arrived, 1), node_failure);
  }
}

TEST(target_death, outcome_tells_what_may_be_repeated) {
  runtime rt(nodes("shm:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  offload::buffer<int> begun(1, 1);
  int there = 0;
  offload::put_sync(&there, begun.ptr(), 1);
  auto running = offload::async(1, fn<&signal_and_work_forever>, begun.ptr());
  EXPECT_TRUE(eventually([&] {
    offload::get_sync(begun.ptr(), &there, 1);
    return there == 1;
  }));
  auto queued = offload::async(1, fn<&echo>, 1);
  ::kill(pid, SIGKILL);
  try {
    running.get();
    ADD_FAILURE();
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run) << failure.what();
  }
  try {
    queued.get();
    ADD_FAILURE();
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::not_run) << failure.what();
  }
}

TEST(target_death, results_that_were_sent_before_count) {
  runtime rt(nodes("shm:1"));
  std::vector<offload::future<int>> answered;
  for (int i = 0; i < 64; ++i) answered.push_back(offload::async(1, fn<&echo>, i));
  auto last = offload::async(1, fn<&leave>, 0);  // calls run in order: all the others have been answered then
  EXPECT_THROW(last.get(), node_failure);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(answered[static_cast<std::size_t>(i)].get(), i);
}

TEST(target_death, inside_a_handler_in_every_way) {
  const auto dies = [](auto call, const char* function) {
    runtime rt(nodes("shm:2"));
    const pid_t pid = offload::sync(1, fn<&my_pid>);
    auto future = call();
    expect_node_failure(future, 1, pid, function);
    EXPECT_EQ(offload::sync(2, fn<&echo>, 5), 5) << "the other target goes on";
    EXPECT_THROW(offload::sync(1, fn<&echo>, 5), node_failure);
  };
  dies([] { return offload::async(1, fn<&leave>, 3); }, "leave");
  dies([] { return offload::async(1, fn<&leave_in_order>, 3); }, "leave_in_order");
  dies([] { return offload::async(1, fn<&give_up>); }, "give_up");
  dies([] { return offload::async(1, fn<&touch_nothing>); }, "touch_nothing");
}

/// What the failure of a call on a new target says.
template <class Call>
std::string words_of_failure(Call call) {
  runtime rt(nodes("shm:1"));
  try {
    call().get();
  } catch (const node_failure& failure) {
    return failure.what();
  }
  return "no failure";
}

TEST(target_death, is_told_with_its_cause) {
  const auto expect = [](const std::string& what, const std::string& cause) {
    EXPECT_NE(what.find(cause), std::string::npos) << what;
  };
  expect(words_of_failure([] { return offload::async(1, fn<&leave>, 3); }), "its process exited with status 3");
  expect(words_of_failure([] { return offload::async(1, fn<&leave_in_order>, 4); }), "exited with status 4");
  expect(words_of_failure([] { return offload::async(1, fn<&leave>, 0); }), "exited with status 0");
  expect(words_of_failure([] { return offload::async(1, fn<&give_up>); }), "was killed by signal 6 (Aborted)");
  expect(words_of_failure([] { return offload::async(1, fn<&touch_nothing>); }),
         "was killed by signal 11 (Segmentation fault)");
}

/// What another target says of the death of node 2.
std::string failure_seen_here() {
  try {
    offload::sync(2, fn<&leave>, 3);
  } catch (const node_failure& failure) {
    return failure.what();
  }
  return "no failure";
}

TEST(target_death, is_told_to_other_targets_with_its_cause) {
  runtime rt(nodes("shm:2"));
  EXPECT_EQ(offload::sync(1, [] { return offload::sync(2, fn<&echo>, 1); }), 1);
  const std::string what = offload::sync(1, fn<&failure_seen_here>);
  EXPECT_NE(what.find("exited with status 3"), std::string::npos) << what;
}

TEST(target_death, of_an_idle_one_is_noticed_by_whoever_asks) {
  runtime rt(nodes("shm:4"));
  const auto kill_and_wait = [](node_t node) {
    const auto pid = static_cast<pid_t>(offload::get_node_descriptor(node).pid());
    ::kill(pid, SIGKILL);
    EXPECT_TRUE(eventually([pid] { return ::kill(pid, 0) != 0; }));  // reaped by the library, which tells before
  };
  for (node_t node = 1; node <= 4; ++node) EXPECT_TRUE(offload::alive(node));
  EXPECT_TRUE(offload::alive(0));
  kill_and_wait(1);
  EXPECT_THROW(offload::ping(1, fn<&echo>, 1), node_failure);
  kill_and_wait(2);
  EXPECT_THROW((void)offload::get_node_descriptor(2), node_failure);
  kill_and_wait(3);
  EXPECT_FALSE(offload::alive(3));
  EXPECT_TRUE(offload::alive(4));
  EXPECT_FALSE(offload::sync(4, [] { return offload::alive(3); })) << "one that it never met";
  EXPECT_TRUE(offload::sync(4, [] { return offload::alive(0) && offload::alive(4); }));
  EXPECT_THROW((void)offload::alive(5), call_error);
}

TEST(target_death, everything_that_can_be_pending_settles) {
  runtime rt(nodes("shm:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  offload::context queue(1);
  offload::buffer<int> memory(1, 1000);
  auto in_context = offload::async(queue, fn<&sleep_ms>, 600000);
  auto computing = offload::async(1, fn<&work_forever>);
  offload::batch calls(1);
  std::vector<offload::future<int>> in_batch;
  for (int i = 0; i < 10; ++i) in_batch.push_back(calls.add(fn<&echo>, i));
  calls.submit();
  auto with_deadline = offload::async(offload::within(1, 1h), fn<&echo>, 1);
  auto chained = offload::async(1, fn<&echo>, 1).then([](int value) { return value + 1; });
  std::vector<offload::future<int>> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(offload::async(1, fn<&echo>, i));
  auto all = offload::when_all(std::move(parts));
  offload::async(1, fn<&echo>, 2).detach();
  EXPECT_FALSE(computing.wait_for(5ms));

  ::kill(pid, SIGKILL);
  expect_node_failure(in_context, 1, pid, "sleep_ms");
  expect_node_failure(computing, 1, pid, "work_forever");
  for (auto& one : in_batch) expect_node_failure(one, 1, pid, "echo");
  expect_node_failure(with_deadline, 1, pid, "echo");
  EXPECT_THROW((void)chained.get(), node_failure);
  auto settled = all.get();
  for (auto& one : settled) EXPECT_THROW((void)one.get(), node_failure);

  offload::batch late(1);
  EXPECT_THROW((void)late.add(fn<&echo>, 1), node_failure);
  EXPECT_THROW(offload::ping(1, fn<&echo>, 1), node_failure);
  EXPECT_THROW((void)offload::allocate<int>(1, 10), node_failure);
  EXPECT_THROW(offload::context(1), node_failure);
  int here[10] = {};
  EXPECT_THROW(offload::put_sync(here, memory.ptr(), 10), error);
}

TEST(target_death, while_the_queue_to_it_is_full) {
  runtime rt(nodes("shm:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  auto computing = offload::async(1, fn<&work_forever>);
  std::atomic<std::size_t> sent = 0;
  std::thread killer([pid, &sent] {
    while (sent <= 10) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms);
    ::kill(pid, SIGKILL);
  });
  std::vector<offload::future<std::size_t>> pending;
  const std::string text(5000, 'x');
  const auto length = [](const std::string& what) { return what.size(); };
  // Blocks while the queue is full, and is thrown out when the node dies.
  EXPECT_THROW(
      {
        for (;; ++sent) pending.push_back(offload::async(1, length, text));
      },
      node_failure);
  killer.join();
  EXPECT_GT(sent, 10U);
  for (auto& one : pending) EXPECT_THROW((void)one.get(), node_failure);
  EXPECT_THROW(computing.get(), node_failure);
}

TEST(target_death, while_big_messages_travel) {
  for (int i = 0; i < std::min(rounds(5), 50) && !HasFailure(); ++i) {
    runtime rt(nodes("shm:1"));
    const pid_t pid = offload::sync(1, fn<&my_pid>);
    std::thread killer([pid, i] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10 + 3 * i));
      ::kill(pid, SIGKILL);
    });
    const std::vector<double> big(1 << 20, 1.0);
    const auto back = [](const std::vector<double>& what) { return what; };
    EXPECT_THROW(
        {
          for (;;) (void)offload::sync(1, back, big);
        },
        node_failure);
    killer.join();
  }
}

TEST(target_death, several_threads_wait_for_the_same_node) {
  runtime rt(nodes("shm:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      try {
        for (;;) offload::sync(1, fn<&sleep_ms>, 1);
      } catch (const node_failure&) {
        ++failed;
      }
    });
  }
  std::this_thread::sleep_for(50ms);
  ::kill(pid, SIGKILL);
  for (auto& one : threads) one.join();
  EXPECT_EQ(failed.load(), 6);
}

TEST(target_death, a_new_job_can_follow) {
  for (int i = 0; i < 3; ++i) {
    runtime rt(nodes("shm:2"));
    ::kill(offload::sync(1, fn<&my_pid>), SIGKILL);
    ::kill(offload::sync(2, fn<&my_pid>), SIGKILL);
    EXPECT_TRUE(eventually([] {
      try {
        offload::sync(1, fn<&echo>, 1);
        return false;
      } catch (const node_failure&) {
        return true;
      }
    }));
  }
  runtime rt(nodes("shm:1"));
  EXPECT_EQ(offload::sync(1, fn<&echo>, 7), 7);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
