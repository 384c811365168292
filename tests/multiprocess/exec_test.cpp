// Targets that are other programs: how they are started, and what is said when they do not join.
// link: ham::ham
// serial: no
#include "some_attempt.hpp"
#include "support.hpp"
#include "thrown_message.hpp"

#include <sys/stat.h>

#include "transport/common/joining.hpp"
#include "transport/common/target_supervisor.hpp"
#include "transport/shm/messages.hpp"

using namespace ham;
using namespace ham::test;

namespace {

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }
std::string variable(const std::string& name) {
  const char* const text = std::getenv(name.c_str());
  return text == nullptr ? "(unset)" : text;
}
/// The words that this process was started with.
std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string problem_of(const std::string& list) {
  try {
    const runtime rt(nodes(list));
  } catch (const config_error& problem) {
    EXPECT_TRUE(children().empty()) << list;
    return problem.what();
  }
  ADD_FAILURE() << list << " was started";
  return {};
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not say: " << part;
}

class scratch_folder {
 public:
  scratch_folder() {
    char name[] = "/tmp/ham-exec-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~scratch_folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& content, mode_t mode = 0755) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

 private:
  std::string path_;
};

TEST(exec_targets, beside_targets_of_this_program) {
  runtime rt(nodes("shm:1,exec:" + own_path() + "*2,shm"));
  ASSERT_EQ(rt.num_nodes(), 5U);
  for (node_t node = 1; node < 5; ++node) {
    EXPECT_EQ(offload::sync(
                  node, [](int k) { return k + static_cast<int>(offload::this_node()); }, 40),
              40 + node);
  }
  EXPECT_EQ(offload::sync(1, fn<&own_words>).front(), "ham_multiprocess_exec_test:ham1");
  EXPECT_EQ(offload::sync(3, fn<&own_words>).front(), own_path());
  EXPECT_EQ(offload::sync(2, [] { return offload::sync(4, [] { return offload::this_node(); }); }), 4);
}

TEST(exec_targets, a_wrapper_with_arguments) {
  runtime rt(nodes("exec:env 'HAM_TEST_WORD=a, b' " + own_path()));
  EXPECT_EQ(offload::sync(1, fn<&variable>, std::string("HAM_TEST_WORD")), "a, b");
}

TEST(exec_targets, a_wrapper_that_stays_in_front) {
  const scratch_folder folder;
  const std::string wrapper = folder.file("wrapper", "#!/bin/sh\n\"$@\"\nexit $?\n");
  runtime rt(nodes("exec:" + wrapper + " " + own_path()));
  EXPECT_EQ(offload::sync(1, [] { return offload::this_node(); }), 1);
}

TEST(exec_targets, a_busy_one_behind_a_wrapper_ends_with_the_host) {
  const scratch_folder folder;
  const std::string wrapper = folder.file("wrapper", "#!/bin/sh\n\"$@\"\nexit $?\n");
  host_process host("busy", {"HAM_NODES=exec:" + wrapper + " " + own_path()});
  const std::vector<pid_t> targets = parse_pids(host.line());
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(host.wait(), 0);
  EXPECT_TRUE(eventually([&] { return !alive(targets[0]); }));
}

TEST(exec_targets, on_cores) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ::sched_getaffinity(0, sizeof mine, &mine);
  int last = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mine)) last = i;
  }
  runtime rt(nodes("exec:" + own_path() + "*1@" + std::to_string(last)));
  const auto pinned_to = [](int core) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    return CPU_COUNT(&cpus) == 1 && CPU_ISSET(core, &cpus);
  };
  EXPECT_TRUE(offload::sync(1, pinned_to, last));
}

TEST(exec_targets, what_cannot_be_started_is_told) {
  const scratch_folder folder;
  expect_in(problem_of("exec:./ham-absent-program"), "no such file");
  expect_in(problem_of("shm:1,exec:ham-absent-program"), "no folder of PATH");
  expect_in(problem_of("exec:" + folder.file("data", "x", 0644)), "chmod +x");
  expect_in(problem_of("exec:" + folder.file("text", "x")), "begins with #!");
  std::string head(64, '\0');
  head.replace(0, 6, "\177ELF\2\2");
  head[19] = 22;
  const std::string foreign = problem_of("exec:" + folder.file("foreign", head));
  expect_in(foreign, "s390x");
  expect_in(foreign, "emulator");
  expect_in(problem_of("tcp://127.0.0.1:9"), "tcp://127.0.0.1:9");
}

TEST(exec_targets, what_ends_before_it_joins_is_told) {
  const scratch_folder folder;
  const std::string status = problem_of("exec:" + folder.file("seven", "#!/bin/sh\nexit 7\n") + " word");
  expect_in(status, "seven word' exited with status 7 before it joined");
  expect_in(status, "target 1");
  expect_in(problem_of("shm:2,exec:true"), "target 3");
  expect_in(problem_of("exec:true"), "status 0 before it joined");
  expect_in(problem_of("exec:" + folder.file("killed", "#!/bin/sh\nkill -9 $$\n")), "killed by signal 9");
}

TEST(exec_targets, what_never_joins_is_told) {
  ::setenv("HAM_START_TIMEOUT", "1", 1);
  const std::string what = problem_of("exec:sleep 1000");
  ::setenv("HAM_START_TIMEOUT", "1s", 1);
  expect_in(problem_of("exec:sleep 1000"), "HAM_START_TIMEOUT=1s is no number");
  ::unsetenv("HAM_START_TIMEOUT");
  expect_in(what, "within 1 s");
  expect_in(what, "sleep 1000");
}

/// A target process that joins, says nothing from then on, and does not end with its connection.
[[noreturn]] void join_and_stand_still() {
  const std::string told = std::getenv("HAM_TARGET");
  const std::size_t colon = told.find(':');
  const int control = transport::control_fd_of(std::string_view(told).substr(colon + 1));
  static_cast<void>(transport::receive_welcome(control));
  transport::shm::control_text text;
  text.kind = transport::shm::control_kind::joined;
  const auto joined = told.starts_with("shm:") ? std::as_bytes(std::span(&text, 1))
                                               : std::as_bytes(std::span(transport::target_supervisor::joined));
  base::send_control(control, joined, {});
  for (;;) ::pause();
}

/// The limit leaves a busy machine time to start a process.
class stands_still : public testing::Test {
 protected:
  void SetUp() override { stand_still(true); }
  void TearDown() override { stand_still(false); }
  /// Whether processes that are started from now on do.
  static void stand_still(bool yes) {
    for (const auto& [name, value] : {std::pair("HAM_START_TIMEOUT", "4"), std::pair("HAM_TEST_STANDS_STILL", "1")}) {
      if (yes)
        ::setenv(name, value, 1);
      else
        ::unsetenv(name);
    }
  }
  /// The problem that `start` gives. On a busy machine a process may even take too long to join: not looked for.
  template <class Start>
  static void expect_no_greeting(Start start, const std::string& target) {
    std::string what;
    EXPECT_TRUE(in_some_attempt([&] {
      what = start();
      return what.find("it joined, but did not greet its host within 4 s (HAM_START_TIMEOUT)") != std::string::npos;
    })) << what;
    expect_in(what, "no start of target " + target);
  }
};

TEST_F(stands_still, after_joining_at_the_start_of_the_job) {
  expect_no_greeting([] { return problem_of("shm:1"); }, "1");
}

TEST_F(stands_still, after_joining_a_job_that_runs) {
  const auto start = [] {
    stand_still(false);
    runtime rt(nodes("shm:1"));
    const std::set<pid_t> before = children();
    stand_still(true);
    const std::string what = message_of<config_error>([] { static_cast<void>(offload::add_node("emulated:1")); });
    EXPECT_TRUE(eventually([&] { return children() == before; })) << "it was not ended";
    stand_still(false);
    const node_t next = offload::add_node("emulated:1");
    EXPECT_EQ(offload::sync(next, [] { return offload::this_node(); }), next) << "the job goes on";
    return what;
  };
  expect_no_greeting(start, "2");
}

TEST(exec_targets, arguments_of_the_application_follow) {
  host_process host("arguments", {"HAM_NODES=exec:" + own_path() + " --first"}, {"second", "third"});
  EXPECT_EQ(host.line(), own_path() + " --first second third");
  EXPECT_EQ(host.wait(), 0);
}

int arguments() {
  std::vector<std::string> words = own_words();
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  char** values = pointers.data();
  runtime rt(count, values);
  std::string line;
  for (const std::string& word : offload::sync(1, fn<&own_words>)) line += (line.empty() ? "" : " ") + word;
  std::printf("%s\n", line.c_str());
  return 0;
}

int busy() {
  runtime rt(runtime_options{});
  print_target_pids();
  offload::ping(1, [] { std::this_thread::sleep_for(1h); });
  return 0;
}

const scenario scenarios[] = {{"arguments", arguments}, {"busy", busy}};

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) {
    if (std::getenv("HAM_TEST_STANDS_STILL") != nullptr) join_and_stand_still();
    runtime rt(argc, argv);
  }
  return run(argc, argv);
}
