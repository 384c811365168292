// Pools of nodes whose targets are killed under load: every task settles once, and the pool goes on.
// link: ham::ham
// timeout: 600
#include "support.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "ham/offload/pool.hpp"

using namespace ham;
using namespace ham::test;

namespace {

/// How often each task has run, in all processes: they inherit the mapping's file by its descriptor's number.
constexpr int max_tasks = 20'000;
struct ledger {
  std::atomic<std::uint32_t> begun[max_tasks];
  std::atomic<std::uint32_t> ended[max_tasks];
  std::atomic<bool> gate;
  std::atomic<pid_t> victim;  ///< stays in a task after some, until it is killed
  std::atomic<int> left_to_victim;
  std::atomic<bool> victim_stays;
};

ledger& shared_ledger() {
  static ledger* const mapped = [] {
    const char* const inherited = std::getenv("HAM_TEST_LEDGER");
    int fd = -1;
    if (inherited == nullptr) {
      fd = ::memfd_create("ham-test-ledger", MFD_CLOEXEC);
      if (fd < 0 || ::ftruncate(fd, sizeof(ledger)) != 0) std::abort();
      ::setenv("HAM_TEST_LEDGER", ("/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd)).c_str(), 1);
    } else {
      fd = ::open(inherited, O_RDWR | O_CLOEXEC);
    }
    void* const at = ::mmap(nullptr, sizeof(ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) std::abort();
    return static_cast<ledger*>(at);
  }();
  return *mapped;
}

void clear_ledger() {
  for (auto& one : shared_ledger().begun) one = 0;
  for (auto& one : shared_ledger().ended) one = 0;
  shared_ledger().gate = false;
  shared_ledger().victim = 0;
  shared_ledger().victim_stays = false;
}

int twice(int value) { return 2 * value; }
node_t where() { return offload::this_node(); }
pid_t my_pid() { return ::getpid(); }

/// Some 20 us of work.
int counted(int task) {
  ledger& all = shared_ledger();
  const auto at = static_cast<std::size_t>(task);
  all.begun[at].fetch_add(1);
  if (all.victim == ::getpid() && all.left_to_victim.fetch_sub(1) <= 0) {
    all.victim_stays = true;
    for (;;) ::pause();
  }
  const auto until = std::chrono::steady_clock::now() + 20us;
  while (std::chrono::steady_clock::now() < until) {
  }
  all.ended[at].fetch_add(1);
  return 3 * task;
}
int counted_behind_gate(int task) {
  while (!shared_ledger().gate) std::this_thread::sleep_for(100us);
  return counted(task);
}
void die_of(int signal) { ::raise(signal); }

/// Which each of three nodes certainly gets of a thousand.
constexpr int tasks_before = 40;

enum class fate : std::uint8_t { open, value, not_run, may_have_run, other };

/// Kills a target in the middle of a task, after `tasks` others; when this is destroyed, it has been killed.
class killer {
 public:
  killer(pid_t victim, int tasks) {
    shared_ledger().left_to_victim = tasks;
    shared_ledger().victim = victim;
    thread_ = std::thread([this, victim] {
      while (!shared_ledger().victim_stays && !stops_) std::this_thread::sleep_for(50us);
      ::kill(victim, SIGKILL);
    });
  }
  ~killer() {
    stops_ = true;
    thread_.join();
  }
  killer(const killer&) = delete;
  killer& operator=(const killer&) = delete;

 private:
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

/// Starts all tasks, more than there is room for, while a target dies; how each has settled. A second settlement would
/// overwrite a fate that is not open.
template <class Callable>
std::vector<fate> run_while_one_dies(offload::pool& workers, int tasks, const Callable& callable) {
  std::vector<std::atomic<fate>> fates(static_cast<std::size_t>(tasks));
  std::atomic<int> left{tasks};
  std::vector<std::thread> hosts;
  for (int thread = 0; thread < 3; ++thread) {
    hosts.emplace_back([&, thread] {
      for (int task = thread; task < tasks; task += 3) {
        workers.async(callable, task).on_result([&, task](offload::future<int> result) {
          fate found = fate::other;
          const auto why = describe_error(result.error());
          if (!why) {
            found = result.get() == 3 * task ? fate::value : fate::other;
          } else if (why.kind == error_kind::node) {
            found = why.outcome == call_outcome::not_run ? fate::not_run : fate::may_have_run;
          }
          EXPECT_EQ(fates[static_cast<std::size_t>(task)].exchange(found), fate::open);
          --left;
        });
      }
    });
  }
  for (std::thread& one : hosts) one.join();
  EXPECT_TRUE(eventually(
      [&] {
        static_cast<void>(offload::progress());
        return left == 0;
      },
      60s));
  return {fates.begin(), fates.end()};
}

TEST(pool, idempotent_tasks_of_a_killed_target_run_on_another_one) {
  clear_ledger();
  for (int round = 0; round < rounds(5) && !HasFailure(); ++round) {
    clear_ledger();
    const int tasks = sanitized() ? 1'000 : 5'000;
    runtime rt(nodes("shm:3"));
    const pid_t victim = offload::sync(2, fn<&my_pid>);
    offload::pool workers({1, 2, 3}, {.per_node = 16});
    std::vector<fate> fates;
    {
      const killer kills(victim, tasks_before);
      fates = run_while_one_dies(workers, tasks, idempotent(fn<&counted>));
    }
    int repeated = 0;
    for (int task = 0; task < tasks; ++task) {
      const auto at = static_cast<std::size_t>(task);
      ASSERT_EQ(fates[at], fate::value) << task;
      const std::uint32_t begun = shared_ledger().begun[at];
      ASSERT_GE(begun, 1U);
      ASSERT_LE(begun, 2U) << "one node has died";
      repeated += begun == 2 ? 1 : 0;
    }
    EXPECT_LE(repeated, 16) << "at most what that node had";
    EXPECT_EQ(workers.living(), 2U);
    EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
    EXPECT_EQ(workers.async(fn<&counted>, 5).get(), 15) << "the pool goes on";
  }
}

TEST(pool, other_tasks_of_a_killed_target_fail_with_their_outcome) {
  for (int round = 0; round < rounds(5) && !HasFailure(); ++round) {
    clear_ledger();
    const int tasks = sanitized() ? 1'000 : 5'000;
    runtime rt(nodes("shm:3"));
    const pid_t victim = offload::sync(2, fn<&my_pid>);
    offload::pool workers({1, 2, 3}, {.per_node = 16});
    std::vector<fate> fates;
    {
      const killer kills(victim, tasks_before);
      fates = run_while_one_dies(workers, tasks, fn<&counted>);
    }
    int failed = 0;
    for (int task = 0; task < tasks; ++task) {
      const auto at = static_cast<std::size_t>(task);
      const std::uint32_t begun = shared_ledger().begun[at];
      ASSERT_LE(begun, 1U) << "nothing is repeated that may have run";
      ASSERT_NE(fates[at], fate::other);
      if (fates[at] == fate::value) {
        ASSERT_EQ(shared_ledger().ended[at], 1U);
      }
      if (fates[at] == fate::not_run) {
        ASSERT_EQ(begun, 0U);
      }
      failed += fates[at] == fate::value ? 0 : 1;
    }
    EXPECT_GE(failed, 1) << "what it was killed in";
    EXPECT_LE(failed, 16) << "at most what that node had; what had not been sent went elsewhere";
    EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
    EXPECT_TRUE(eventually([&] {
      EXPECT_EQ(workers.async(fn<&counted>, 5).get(), 15);
      return workers.living() == 2;  // the next task that would go to it finds out
    }));
  }
}

int run_until_stopped(buffer_ptr<int> begun) {
  const auto stop = this_call::stop_token();
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(100us);
  return stop.stop_requested() ? 1 : 0;
}

TEST(pool, tasks_that_run_can_be_stopped_if_it_is_made_for_that) {
  runtime rt(nodes("shm:1"));
  offload::pool workers({1}, {.stoppable = true});
  const auto expect_stopped = [&workers](const auto& function) {
    const offload::buffer<int> begun(1, 1);
    int word = 0;
    offload::put_sync(&word, begun.ptr(), 1);
    auto task = workers.async(function, begun.ptr());
    EXPECT_TRUE(eventually([&] {
      offload::get_sync(begun.ptr(), &word, 1);
      return word == 1;
    }));
    EXPECT_TRUE(task.request_stop());
    EXPECT_EQ(task.get(), 1);
  };
  expect_stopped(fn<&run_until_stopped>);
  expect_stopped(idempotent(fn<&run_until_stopped>));
}

TEST(pool, tasks_wait_for_room_on_the_nodes_that_are_left) {
  clear_ledger();
  runtime rt(nodes("shm:2"));
  offload::pool workers({1, 2}, {.per_node = 4});
  std::vector<offload::future<int>> all;
  for (int task = 0; task < 8; ++task) all.push_back(workers.async(idempotent(fn<&counted_behind_gate>), task));
  ::kill(static_cast<pid_t>(offload::get_node_descriptor(2).pid()), SIGKILL);
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(offload::progress());
    return workers.living() == 1;
  }));
  EXPECT_EQ(workers.pending(), 8U) << "four of them wait for room on node 1";
  EXPECT_FALSE(workers.try_async(fn<&counted>, 9).has_value());
  shared_ledger().gate = true;
  for (int task = 0; task < 8; ++task) EXPECT_EQ(all[static_cast<std::size_t>(task)].get(), 3 * task);
}

/// What it has learned of short tasks, where host and targets share the cores, is not true of tasks to come.
TEST(pool, has_room_for_few_tasks_again_when_it_was_idle) {
  clear_ledger();
  runtime rt(nodes("shm:" + std::to_string(std::clamp(std::thread::hardware_concurrency(), 2U, 8U))));
  offload::pool workers;
  std::vector<offload::future<int>> all;
  for (int task = 0; task < max_tasks; ++task) all.push_back(workers.async(fn<&twice>, task));
  for (auto& one : all) one.get();
  EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
  all.clear();
  for (int task = 0; auto one = workers.try_async(fn<&counted_behind_gate>, task); ++task)
    all.push_back(*std::move(one));
  EXPECT_EQ(all.size(), 32 * workers.living());
  shared_ledger().gate = true;
  for (auto& one : all) one.get();
}

TEST(pool, when_all_targets_die_everything_settles) {
  for (int round = 0; round < rounds(5) && !HasFailure(); ++round) {
    clear_ledger();
    runtime rt(nodes("shm:2"));
    offload::pool workers({1, 2}, {.per_node = 8});
    std::vector<offload::future<int>> repeated, once;
    for (int task = 0; task < 8; ++task) {
      once.push_back(workers.async(fn<&counted_behind_gate>, task));
      repeated.push_back(workers.async(idempotent(fn<&counted_behind_gate>), task));
    }
    std::thread waits_for_room([&] {  // and is told that there never will be any
      try {
        static_cast<void>(workers.async(fn<&counted>, 1).has_value());
        static_cast<void>(workers.async(fn<&counted>, 1).has_value());
        ADD_FAILURE() << "nothing was thrown";
      } catch (const node_failure& failure) {
        EXPECT_EQ(failure.outcome(), call_outcome::not_run) << failure.what();
      }
    });
    EXPECT_TRUE(eventually([&] { return workers.pending() == 17; }));
    for (const pid_t pid : target_pids()) ::kill(pid, SIGKILL);
    for (auto* const kind : {&once, &repeated})
      for (auto& one : *kind) EXPECT_THROW(one.get(), node_failure);
    waits_for_room.join();
    EXPECT_EQ(workers.living(), 0U);
    EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
    EXPECT_THROW(static_cast<void>(workers.async(fn<&counted>, 1)), node_failure);
  }
}

TEST(pool, a_task_that_kills_every_node_says_that_it_may_have_run) {
  runtime rt(nodes("shm:3"));
  offload::pool workers;
  auto deadly = workers.async(idempotent(fn<&die_of>), SIGKILL);
  try {
    deadly.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run) << failure.what();
  }
  EXPECT_EQ(workers.living(), 0U) << "it was repeated on each of them";
}

TEST(pool, a_map_repeats_the_chunks_of_a_killed_target_if_it_may) {
  for (int round = 0; round < rounds(5) && !HasFailure(); ++round) {
    clear_ledger();
    const int tasks = sanitized() ? 1'000 : 5'000;
    runtime rt(nodes("shm:3"));
    std::vector<int> elements(static_cast<std::size_t>(tasks));
    for (int task = 0; task < tasks; ++task) elements[static_cast<std::size_t>(task)] = task;
    offload::pool workers;
    std::vector<int> results(elements.size(), -1);
    std::size_t last = 0;
    {
      const killer kills(static_cast<pid_t>(offload::get_node_descriptor(2).pid()), tasks_before);
      const auto sink = [&](std::size_t at, int value) {
        EXPECT_EQ(results[at], -1) << "each comes once";
        results[at] = value;
      };
      workers.map(elements, idempotent(fn<&counted>), sink,
                  {.chunk = 20, .on_progress = [&](std::size_t done, std::size_t) { last = done; }});
    }
    for (int task = 0; task < tasks; ++task) ASSERT_EQ(results[static_cast<std::size_t>(task)], 3 * task);
    EXPECT_EQ(last, elements.size());
    EXPECT_EQ(workers.living(), 2U);
  }
}

TEST(pool, a_map_of_what_may_not_be_repeated_fails_with_its_node) {
  clear_ledger();
  runtime rt(nodes("shm:2"));
  const std::vector<int> elements(1'000, 1);
  offload::pool workers;
  const killer kills(static_cast<pid_t>(offload::get_node_descriptor(2).pid()), 100);
  try {
    static_cast<void>(workers.map(elements, fn<&counted>, {.chunk = 500}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 2) << failure.what();
  }
  EXPECT_TRUE(eventually([&] { return workers.pending() == 0; }));
  EXPECT_EQ(workers.map(elements, fn<&counted>).size(), 1'000U) << "the other node does it";
}

TEST(pool, nodes_that_were_removed_get_no_tasks) {
  runtime rt(nodes("shm:2"));
  offload::pool workers;
  offload::remove_node(1);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(workers.async(fn<&where>).get(), 2);
    EXPECT_EQ(workers.async(idempotent(fn<&where>)).get(), 2);
  }
  EXPECT_EQ(workers.living(), 1U);
  EXPECT_EQ(workers.map(std::vector<int>(100, 1), fn<&twice>).size(), 100U);
}

TEST(pool, of_nodes_that_have_all_gone_says_so) {
  runtime rt(nodes("shm:2"));
  offload::remove_node(1);
  offload::remove_node(2);
  offload::pool workers{{1, 2}};
  const auto expect_failure = [](auto call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const node_failure& failure) {
      EXPECT_EQ(failure.outcome(), call_outcome::not_run);
      EXPECT_NE(std::string(failure.what()).find("all nodes of this pool are lost"), std::string::npos)
          << failure.what();
    }
  };
  expect_failure([&] { static_cast<void>(workers.async(fn<&where>)); });
  expect_failure([&] { static_cast<void>(workers.async(idempotent(fn<&where>))); });
  expect_failure([&] { static_cast<void>(workers.try_async(fn<&where>)); });
  expect_failure([&] { static_cast<void>(workers.map(std::vector<int>(10, 1), fn<&twice>)); });
  EXPECT_TRUE(workers.map(std::vector<int>(), fn<&twice>).empty()) << "of nothing nothing fails";
  EXPECT_EQ(workers.living(), 0U);
  EXPECT_EQ(workers.pending(), 0U);
}

TEST(pool, of_a_target_works_over_its_own_connections) {
  clear_ledger();
  runtime rt(nodes("shm:3"));
  const auto total = [] {
    offload::pool others({0, 2, 3});
    std::vector<int> elements(300, 1);
    const auto results = others.map(elements, fn<&counted>);
    int sum = 0;
    for (const int one : results) sum += one;
    return sum;
  };
  EXPECT_EQ(offload::sync(1, total), 900);
}

TEST(pool, its_end_in_a_forked_child_waits_for_nothing) {
  clear_ledger();
  runtime rt(nodes("shm:1"));
  auto workers = std::make_unique<offload::pool>();
  auto one = workers->async(fn<&counted_behind_gate>, 1);
  auto other = workers->async(idempotent(fn<&counted_behind_gate>), 2);
  const pid_t child = ::fork();
  if (child == 0) {
    workers.reset();
    ::_exit(7);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  shared_ledger().gate = true;
  EXPECT_EQ(one.get(), 3);
  EXPECT_EQ(other.get(), 6);
}

}  // namespace

int main(int argc, char** argv) {
  static_cast<void>(shared_ledger());
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
