// Calls that are sent again when the process that had them has died.
// link: ham::ham
// timeout: 300
// serial: no
#include "support.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "ham/offload/pool.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }
void crash() { ::raise(SIGKILL); }

/// Dies until so many processes have run it.
int survive(const std::string& counter, int deaths) {
  std::ofstream(counter, std::ios::app) << 'x';
  if (std::filesystem::file_size(counter) <= static_cast<std::uintmax_t>(deaths)) ::raise(SIGKILL);
  return 42;
}
class scratch_file {
 public:
  scratch_file() {
    char name[] = "/tmp/ham-retry-XXXXXX";
    ::close(::mkstemp(name));
    path_ = name;
  }
  ~scratch_file() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uintmax_t runs() const { return std::filesystem::file_size(path_); }

 private:
  std::string path_;
};

template <class Call>
void expect_may_have_run(Call call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run);
  }
}

TEST(retry, repeats_idempotent_calls_that_may_have_run) {
  const scratch_file file;
  runtime rt(nodes("shm:1+restart"));
  EXPECT_EQ(offload::sync(offload::retry(1, 3), idempotent(fn<&survive>), file.path(), 2), 42);
  EXPECT_EQ(file.runs(), 3U);
}

TEST(retry, has_an_end) {
  const scratch_file file;
  runtime rt(nodes("shm:1+restart"));
  auto doomed = offload::async(offload::retry(1, 2), idempotent(fn<&survive>), file.path(), 100);
  expect_may_have_run([&] { doomed.get(); });
  EXPECT_EQ(file.runs(), 3U);
}

int die_with(buffer_ptr<int> memory) {
  if (memory[0] == 0) ::raise(SIGKILL);
  return memory[0];
}

TEST(retry, a_repetition_with_memory_that_has_gone_fails_with_the_loss) {
  runtime rt(nodes("shm:1+restart"));
  const auto filled = [] {
    const auto memory = offload::allocate<int>(1, 1);
    const int zero = 0;
    offload::put(&zero, memory, 1).get();
    return memory;
  };
  expect_may_have_run([&] { offload::sync(offload::retry(1, 3), idempotent(fn<&die_with>), filled()); });
  offload::pool workers{{1}};
  expect_may_have_run([&] { workers.async(idempotent(fn<&die_with>), filled()).get(); });
}

/// The first process that runs it hangs.
int hang_once(const std::string& counter) {
  std::ofstream(counter, std::ios::app) << 'x';
  while (std::filesystem::file_size(counter) == 1) std::this_thread::sleep_for(1ms);
  return 42;
}
[[nodiscard]] bool has_begun(const scratch_file& file) {
  for (int i = 0; i < 60'000 && file.runs() == 0; ++i) std::this_thread::sleep_for(1ms);
  return file.runs() == 1;
}

TEST(retry, the_process_of_the_present_attempt_is_killed_and_the_next_one_answers) {
  const scratch_file file;
  runtime rt(nodes("shm:1+restart"));
  auto call = offload::async(offload::retry(1, 2), idempotent(fn<&hang_once>), file.path());
  ASSERT_TRUE(has_begun(file));
  EXPECT_TRUE(offload::kill_call(call));
  EXPECT_EQ(call.get(), 42);
  EXPECT_EQ(file.runs(), 2U);
}

TEST(retry, a_call_that_is_stopped_and_killed_is_not_repeated) {
  const scratch_file file;
  runtime rt(nodes("shm:1+restart"));
  auto call = offload::async(offload::retry(1, 2), idempotent(fn<&hang_once>), file.path());
  ASSERT_TRUE(has_begun(file));
  EXPECT_TRUE(call.request_stop());
  EXPECT_TRUE(offload::kill_call(call));
  expect_may_have_run([&] { call.get(); });
  EXPECT_EQ(file.runs(), 1U);
}

TEST(retry, the_process_of_a_task_is_killed_and_another_node_answers) {
  const scratch_file file;
  runtime rt(nodes("shm:2"));
  offload::pool workers{{1, 2}};
  auto task = workers.async(idempotent(fn<&hang_once>), file.path());
  ASSERT_TRUE(has_begun(file));
  EXPECT_TRUE(offload::kill_call(task));
  EXPECT_EQ(task.get(), 42);
  EXPECT_EQ(file.runs(), 2U);
}

TEST(retry, many_at_once_from_host_and_target) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1);
  std::vector<offload::future<int>> many;
  for (int i = 0; i < 500; ++i) many.push_back(offload::async(offload::retry(1, 5), idempotent(fn<&echo>), i));
  auto doomed = offload::async(1, fn<&crash>);
  for (int i = 500; i < 1000; ++i) many.push_back(offload::async(offload::retry(1, 5), idempotent(fn<&echo>), i));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)].get(), i);
  EXPECT_FALSE(doomed.has_value());
}

TEST(retry, does_not_wait_for_another_process_beyond_its_deadline) {
  const scratch_file file;
  runtime rt(nodes("shm:1"));
  std::atomic<bool> prepared{false};
  offload::supervise(1, {.on_respawn = [&](const offload::respawned&) {
                       while (!prepared.load()) std::this_thread::sleep_for(1ms);
                     }});
  auto doomed = offload::async(offload::retry(offload::within(1, 5s), 3), idempotent(fn<&survive>), file.path(), 1);
  EXPECT_TRUE(doomed.wait_for(60s)) << "it waits for the process that is being prepared";
  prepared = true;
  expect_may_have_run([&] { doomed.get(); });
  EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5);
  EXPECT_EQ(file.runs(), 1U);
}

constexpr int can_be_stopped = 1;
constexpr int has_a_deadline = 2;

/// Dies on the first process; the next one tells what it was given by who has made the call.
int given_by_caller(const std::string& counter) {
  static_cast<void>(survive(counter, 1));
  return (this_call::stop_token().stop_possible() ? can_be_stopped : 0) |
         (this_call::deadline() != std::chrono::steady_clock::time_point::max() ? has_a_deadline : 0);
}
int retried_there(const std::string& counter) {
  return offload::sync(offload::retry(1, 3), idempotent(fn<&given_by_caller>), counter);
}
int pooled_there(const std::string& counter) {
  offload::pool workers{{1}};
  return workers.async(idempotent(fn<&given_by_caller>), counter).get();
}

TEST(retry, every_repetition_has_the_time_and_the_stop_of_the_function_that_makes_it) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1, {.max_restarts = 100});
  for (const auto there : {&retried_there, &pooled_there}) {
    const scratch_file plain, with_stop, with_deadline;
    const bool pooled = there == &pooled_there;
    const auto call = [&](const offload::destination& to, const scratch_file& file) {
      return pooled ? offload::sync(to, fn<&pooled_there>, file.path())
                    : offload::sync(to, fn<&retried_there>, file.path());
    };
    EXPECT_EQ(call(2, plain), 0) << pooled;
    EXPECT_EQ(call(offload::stoppable(2), with_stop), can_be_stopped) << pooled;
    EXPECT_EQ(call(offload::within(2, 60s), with_deadline), can_be_stopped | has_a_deadline) << pooled;
    for (const scratch_file* file : {&plain, &with_stop, &with_deadline}) EXPECT_EQ(file->runs(), 2U) << pooled;
  }
}

/// Dies on the first process; the next one runs until it is stopped, and says so in the file.
void survive_until_stopped(const std::string& counter) {
  static_cast<void>(survive(counter, 1));
  const auto stop = this_call::stop_token();
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  if (stop.stop_requested()) std::ofstream(counter, std::ios::app) << 's';
}
void repeated_until_stopped(const std::string& counter) {
  offload::sync(offload::retry(1, 3), idempotent(fn<&survive_until_stopped>), counter);
}

TEST(retry, a_repetition_is_stopped_with_the_function_that_makes_it) {
  runtime rt(nodes("shm:2"));
  offload::supervise(1);
  const scratch_file file;
  auto outer = offload::async(offload::stoppable(2), fn<&repeated_until_stopped>, file.path());
  ASSERT_TRUE(eventually([&] { return file.runs() == 2; }));
  EXPECT_TRUE(outer.request_stop());
  EXPECT_TRUE(eventually([&] { return file.runs() == 3; }));
  EXPECT_THROW(outer.get(), operation_cancelled);
}

TEST(retry, without_supervision_there_is_no_process_to_repeat_it) {
  const scratch_file file;
  runtime rt(nodes("shm:1"));
  EXPECT_THROW(offload::sync(offload::retry(1, 3), idempotent(fn<&survive>), file.path(), 2), node_failure);
  EXPECT_EQ(file.runs(), 1U);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
