// What nodes have recorded: of targets that live, and of those that were killed in mid-work.
// link: ham::ham
// timeout: 300
#include "support.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <regex>

#include "ham/offload/recording.hpp"

using namespace ham;
using namespace ham::test;

namespace {

using action = node_recording::action;

pid_t my_pid() { return ::getpid(); }
int assemble(int value) { return value + 1; }
void solve(buffer_ptr<int> begun) {
  __atomic_store_n(begun.get(), 1, __ATOMIC_RELEASE);
  for (;;) ::pause();
}

std::string text_of_failure(const std::function<void()>& act) {
  try {
    act();
  } catch (const node_failure& failure) {
    return failure.what();
  }
  return "no failure";
}

/// Runs on another target.
std::string call_solve(node_t node, buffer_ptr<int> begun) {
  return text_of_failure([&] { offload::sync(node, fn<&solve>, begun); });
}

void await_one(buffer_ptr<int> there) {
  const bool begun = eventually([&] {
    int value = 0;
    offload::get_sync(there, &value, 1);
    return value == 1;
  });
  if (!begun) throw error("the function has not begun");
}

/// A target with one int in its memory, which solve() sets.
struct working_target {
  explicit working_target(node_t node) : begun(node, 1), pid(offload::sync(node, fn<&my_pid>)) {
    const int zero = 0;
    offload::put_sync(&zero, begun.ptr(), 1);
  }
  offload::buffer<int> begun;
  pid_t pid;
};

/// Node 1 is killed in solve(); what the caller reads.
std::string kill_in_solve() {
  working_target one(1);
  static_cast<void>(offload::sync(1, fn<&assemble>, 1));
  auto computing = offload::async(1, fn<&solve>, one.begun.ptr());
  await_one(one.begun.ptr());
  std::this_thread::sleep_for(30ms);
  ::kill(one.pid, SIGKILL);
  return text_of_failure([&] { computing.get(); });
}

const std::regex last_events(
    R"(it was executing .*solve\(.*\) for [0-9.]+ m?s; before that it executed .*assemble\(int\) [0-9.]+ m?s ago)");

int tells_of_a_killed_target() {
  runtime rt(nodes("shm:1"));
  std::printf("failure: %s\n", kill_in_solve().c_str());
  return 0;
}
const scenario scenarios[] = {{"tells_of_a_killed_target", tells_of_a_killed_target}};

std::string output_with(const std::vector<std::string>& environment) {
  host_process host("tells_of_a_killed_target", environment);
  std::string text = host.rest();
  EXPECT_EQ(host.wait(), 0) << text;
  return text;
}

TEST(recorder, the_failure_of_a_killed_target_says_what_it_was_executing) {
  runtime rt(nodes("shm:1"));
  const std::string text = kill_in_solve();
  EXPECT_TRUE(std::regex_search(text, last_events)) << text;
}

TEST(recorder, the_host_prints_it) {
  const std::string text = output_with({});
  const std::string line = text.substr(0, text.find("failure: "));
  EXPECT_NE(line.find("node 1 is lost"), std::string::npos) << text;
  EXPECT_TRUE(std::regex_search(line, last_events)) << text;
}

TEST(recorder, that_is_off_tells_nothing) {
  const std::string text = output_with({"HAM_RECORDER=off"});
  EXPECT_NE(text.find("failure: node 1 failed"), std::string::npos) << text;
  EXPECT_EQ(text.find("executing"), std::string::npos) << text;
}

TEST(recorder, other_targets_are_told_as_well) {
  runtime rt(nodes("shm:2"));
  working_target one(1);
  auto calling = offload::async(2, fn<&call_solve>, 1, one.begun.ptr());
  await_one(one.begun.ptr());
  ::kill(one.pid, SIGKILL);
  const std::string text = calling.get();
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(it was executing .*solve\()"))) << text;
}

const node_recording* find(const std::vector<node_recording>& job, pid_t pid) {
  for (const node_recording& one : job) {
    if (one.pid == pid) return &one;
  }
  return nullptr;
}

/// How often a node has recorded that.
int count(const node_recording* of, action what, const std::string& function) {
  int found = 0;
  if (of == nullptr) return found;
  for (const node_recording::thread& thread : of->threads) {
    for (const auto* const list : {&thread.executing, &thread.past}) {
      for (const node_recording::event& one : *list)
        found += one.what == what && one.function.find(function) != std::string::npos ? 1 : 0;
    }
  }
  return found;
}

TEST(recorder, of_all_nodes_can_be_read_by_any_of_its_processes) {
  runtime rt(nodes("shm:2"));
  working_target one(1);
  const pid_t two = offload::sync(2, fn<&my_pid>);
  auto computing = offload::async(1, fn<&solve>, one.begun.ptr());
  await_one(one.begun.ptr());
  for (const pid_t by : {::getpid(), one.pid, two}) {
    const std::vector<node_recording> job = read_recordings(by);
    EXPECT_EQ(count(find(job, one.pid), action::executing, "solve("), 1) << by;
    EXPECT_TRUE(eventually([&] {  // it is recorded behind the reply
      return count(find(read_recordings(by), two), action::executed, "my_pid(") == 1;
    })) << by;
    EXPECT_GE(count(find(job, ::getpid()), action::called, "solve("), 1) << by;
    EXPECT_TRUE(find(job, one.pid) != nullptr && find(job, one.pid)->alive);
  }
  ::kill(one.pid, SIGKILL);
  computing.wait();
  const std::vector<node_recording> job = read_recordings(one.pid);
  EXPECT_EQ(count(find(job, one.pid), action::executing, "solve("), 1) << "by the number of the dead";
  EXPECT_TRUE(find(job, one.pid) != nullptr && !find(job, one.pid)->alive);
}

TEST(recorder, calls_of_a_pool_are_queued_and_executed) {
  runtime rt(nodes("shm:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  EXPECT_EQ(offload::sync(1, pooled(fn<&assemble>), 1), 2);
  ASSERT_TRUE(eventually([&] { return count(find(read_recordings(pid), pid), action::executed, "assemble") == 1; }));
  EXPECT_EQ(count(find(read_recordings(pid), pid), action::queued, "assemble"), 1);
}

TEST(recorder, of_a_target_that_shares_no_job_segment_can_be_read_while_it_lives) {
  runtime rt(nodes("emulated:1"));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  EXPECT_EQ(offload::sync(1, fn<&assemble>, 1), 2);
  EXPECT_TRUE(
      eventually([&] { return count(find(read_recordings(pid), pid), action::executed, "assemble(int)") == 1; }));
}

TEST(recorder, the_tool_prints_it) {
  const char* const tool = std::getenv("HAM_TEST_TRACE");
  if (tool == nullptr) GTEST_SKIP() << "HAM_TEST_TRACE does not say where ham-trace is";
  runtime rt(nodes("shm:1"));
  working_target one(1);
  auto computing = offload::async(1, fn<&solve>, one.begun.ptr());
  await_one(one.begun.ptr());
  const auto printed = [&] {
    FILE* const out = ::popen((std::string(tool) + " last " + std::to_string(one.pid)).c_str(), "r");
    std::string text(1 << 16, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), out));
    EXPECT_EQ(::pclose(out), 0) << text;
    return text;
  };
  const std::string living = printed();
  EXPECT_NE(living.find("node 1, pid " + std::to_string(one.pid) + "\n"), std::string::npos) << living;
  EXPECT_TRUE(std::regex_search(living, std::regex(R"(executing +.*solve\(.*\(call [0-9]+ of node 0\))"))) << living;
  ::kill(one.pid, SIGKILL);
  computing.wait();
  const std::string dead = printed();
  EXPECT_NE(dead.find("node 1, pid " + std::to_string(one.pid) + ", dead\n"), std::string::npos) << dead;
}

/// Bytes of memory behind the job segments that this process holds: all of it, and that of the nodes' bells.
struct job_memory {
  std::size_t all = 0;
  std::size_t bells = 0;
};
job_memory job_memory_now() {
  constexpr off_t end_of_bells = off_t{4} << 20;  // of most
  job_memory bytes;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    struct stat about {};
    if (std::filesystem::read_symlink(file, gone).string().find("memfd:ham-job") == std::string::npos) continue;
    const int own = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);  // a place to read at of its own
    if (::fstat(own, &about) == 0) bytes.all += static_cast<std::size_t>(about.st_blocks) * 512;
    for (off_t at = 0; (at = ::lseek(own, at, SEEK_DATA)) >= 0 && at < end_of_bells;) {
      const off_t hole = std::min(::lseek(own, at, SEEK_HOLE), end_of_bells);
      bytes.bells += static_cast<std::size_t>(hole - at);
      at = hole;
    }
    ::close(own);
  }
  return bytes;
}

TEST(recorder, a_host_that_goes_on_keeps_little_of_the_dead) {
  runtime rt(nodes("none"));
  const auto replace = [](int times) {
    for (int i = 0; i < times; ++i) {
      const node_t node = offload::add_node("shm:1");
      ::kill(offload::sync(node, fn<&my_pid>), SIGKILL);
      EXPECT_TRUE(eventually([node] { return !offload::alive(node); }));
    }
  };
  replace(20);
  const job_memory before = job_memory_now();
  EXPECT_GT(before.bells, 0U);
  replace(40);
  const job_memory after = job_memory_now();
  EXPECT_LT(after.all, before.all + (std::size_t{512} << 10));
  EXPECT_LE(after.bells, before.bells + (std::size_t{16} << 10));
}

TEST(recorder, of_nodes_that_were_removed_together_in_any_order_little_is_kept) {
  runtime rt(nodes("none"));
  std::size_t first = 0;
  for (int round = 0; round < 6; ++round) {
    const node_t begin = offload::add_node("shm:12");
    for (node_t node = begin + 11; node >= begin; --node) offload::remove_node(node);
    if (round == 1) first = job_memory_now().bells;
  }
  EXPECT_LE(job_memory_now().bells, first + (std::size_t{16} << 10));
}

}  // namespace

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
