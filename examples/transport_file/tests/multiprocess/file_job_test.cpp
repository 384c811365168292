// A program whose targets are reached through files: start, calls both ways, errors, memory, and the death of each
// side.
// link: ham::ham
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "multiprocess/support.hpp"

using namespace ham;
using namespace ham::test;

namespace file_job_test {

int add(int a, int b) { return a + b; }
pid_t my_pid() { return ::getpid(); }
std::string twice(const std::string& text) { return text + text; }
int complain(int code) { throw std::out_of_range("code " + std::to_string(code)); }
int on_the_host(int value) { return value * 2 + static_cast<int>(offload::this_node()); }
int through_the_host(int value) { return offload::sync(0, fn<&on_the_host>, value) + 1; }
double sum(offload::buffer_ptr<double> from, std::size_t count) {
  double result = 0;
  for (std::size_t i = 0; i < count; ++i) result += from[i];
  return result;
}
void work_forever() {
  for (;;) ::usleep(1000);
}
std::atomic<bool> begun = false;
void has_begun() { begun = true; }
void announce_and_work_forever() {
  offload::ping(0, fn<&has_begun>);
  work_forever();
}

/// A folder that must be empty while jobs run in it, and afterwards. Targets come here too, on their way to the runtime
/// in which they stay: they would leave theirs behind.
struct empty_folder {
  empty_folder() {
    if (std::getenv("HAM_TARGET") != nullptr) return;
    char name[] = "/tmp/ham-files-XXXXXX";
    if (::mkdtemp(name) != nullptr) path = name;
  }
  ~empty_folder() {
    if (!path.empty()) ::rmdir(path.c_str());
  }
  empty_folder(const empty_folder&) = delete;
  empty_folder& operator=(const empty_folder&) = delete;
  [[nodiscard]] std::string group(int targets) const { return "file:" + std::to_string(targets) + path; }
  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(path); }
  std::string path;
};

class file_job : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(folder_.is_empty()); }
  empty_folder folder_;
};

TEST_F(file_job, calls_both_ways_and_exceptions) {
  const runtime rt(nodes(folder_.group(2)));
  ASSERT_EQ(offload::num_nodes(), 3U);
  for (node_t node = 1; node <= 2; ++node) {
    EXPECT_EQ(offload::get_node_descriptor(node).transport(), "file");
    EXPECT_EQ(offload::sync(node, fn<&add>, 40, 2), 42);
    EXPECT_NE(offload::sync(node, fn<&my_pid>), ::getpid());
    EXPECT_EQ(offload::sync(node, fn<&through_the_host>, 20), 41) << "a call back from within a call";
    EXPECT_THROW(offload::sync(node, fn<&complain>, 3), std::out_of_range);
  }
  for (const std::size_t size : {10U, 70'000U, 3'000'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(offload::sync(2, fn<&twice>, text), text + text);
  }
  EXPECT_TRUE(folder_.is_empty()) << "files have no names while the job runs, either";
}

TEST_F(file_job, many_calls_from_two_threads) {
  const runtime rt(nodes(folder_.group(1)));
  const auto storm = [] {
    std::vector<offload::future<int>> pending;
    for (int i = 0; i < 20'000; ++i) pending.push_back(offload::async(1, fn<&add>, i, 1));
    for (int i = 0; i < 20'000; ++i) ASSERT_EQ(pending[static_cast<std::size_t>(i)].get(), i + 1);
  };
  std::thread other(storm);
  storm();
  other.join();
}

TEST_F(file_job, put_and_get_as_messages) {
  const runtime rt(nodes(folder_.group(1)));
  std::vector<double> numbers(200'000);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  auto there = offload::allocate<double>(1, numbers.size());
  offload::put(numbers.data(), there, numbers.size());
  EXPECT_EQ(offload::sync(1, fn<&sum>, there, numbers.size()), std::accumulate(numbers.begin(), numbers.end(), 0.0));
  std::vector<double> back(numbers.size());
  offload::get(there, back.data(), back.size());
  EXPECT_EQ(back, numbers);
  offload::free(there);
}

TEST_F(file_job, a_killed_target_fails_its_calls_and_says_which_did_not_run) {
  const runtime rt(nodes(folder_.group(2)));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  begun = false;
  auto working = offload::async(1, fn<&announce_and_work_forever>);
  while (!begun) ASSERT_FALSE(working.wait_for(1ms));
  auto behind_it = offload::async(1, fn<&add>, 1, 2);
  ::kill(pid, SIGKILL);
  try {
    working.get();
    ADD_FAILURE() << "a dead target gave a result";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::may_have_run);
    EXPECT_NE(std::string(failure.what()).find("killed by signal 9"), std::string::npos) << failure.what();
  }
  try {
    behind_it.get();
    ADD_FAILURE() << "a dead target gave a result";
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.outcome(), call_outcome::not_run) << failure.what();
  }
  EXPECT_THROW(offload::sync(1, fn<&add>, 1, 2), node_failure);
  EXPECT_EQ(offload::sync(2, fn<&add>, 1, 2), 3) << "the other one lives";
}

TEST_F(file_job, targets_come_and_go) {
  const runtime rt(nodes("shm:1"));
  const node_t fresh = offload::add_node(folder_.group(1));
  const pid_t pid = offload::sync(fresh, fn<&my_pid>);
  EXPECT_EQ(offload::sync(fresh, fn<&add>, 1, 2), 3);
  offload::remove_node(fresh);
  EXPECT_THROW(offload::sync(fresh, fn<&add>, 1, 2), node_failure);
  EXPECT_TRUE(eventually([pid] { return !alive(pid); }));
}

TEST_F(file_job, nothing_is_left_of_a_killed_host) {
  host_process host("work_forever", {"HAM_NODES=" + folder_.group(2)});
  const std::vector<pid_t> targets = parse_pids(host.line());
  ASSERT_EQ(targets.size(), 2U);
  ::kill(host.pid(), SIGKILL);
  host.wait();
  EXPECT_TRUE(eventually([&] { return std::ranges::none_of(targets, alive); }));
}

TEST(file_folder, that_is_not_there_is_named) {
  try {
    const runtime rt(nodes("file/nowhere"));
    ADD_FAILURE() << "a job in a folder that does not exist";
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("\"/nowhere\" (No such file"), std::string::npos) << problem.what();
  }
}

int work_forever_on_the_last() {
  const runtime rt{runtime_options{}};
  print_target_pids();
  offload::sync(static_cast<node_t>(offload::num_nodes() - 1), fn<&work_forever>);
  return 0;
}
const scenario works_forever("work_forever", &work_forever_on_the_last);

}  // namespace file_job_test

int main(int argc, char** argv) { return run(argc, argv); }
