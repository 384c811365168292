// The watch over runs that spawn, with scripts in the place of mpirun.
#include "../../tools/kernels/spawn_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/unique_fd.hpp"
#include "some_attempt.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ham::kernels;
using namespace std::chrono_literals;

enum class place { in_futex, elsewhere };

/// Maps the file and waits for ever; an empty name maps nothing.
[[noreturn]] void wait_for_ever(const std::string& library, place where) {
  if (!library.empty()) {
    const ham::base::unique_fd file(::open(library.c_str(), O_RDONLY | O_CLOEXEC));
    if (::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0) == MAP_FAILED) ::_exit(1);
  }
  int word = 0;
  for (;;) {
    if (where == place::in_futex) ::syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, nullptr, nullptr, 0);
    ::pause();
  }
}

/// This program plays the process that is lost, if it is started so.
[[maybe_unused]] const bool plays = [] {
  const char* const library = std::getenv("HAM_TEST_LOST_WITH");
  if (library != nullptr) wait_for_ever(library, place::in_futex);
  return false;
}();

class spawn_watch_of : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ham-spawn-watch-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A shell script; $0 is the folder.
  [[nodiscard]] spawn_watch script(const std::string& text) const {
    spawn_watch result;
    result.command = {"sh", "-c", text, folder_.string()};
    result.capture = true;
    result.lost_after = 300ms;
    result.hung_after = 300ms;
    return result;
  }
  [[nodiscard]] std::string runs() const {
    std::ifstream file(folder_ / "runs");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  fs::path folder_;
};

class waiting_child {
 public:
  waiting_child(const fs::path& library, place where) {
    if (!library.empty()) std::ofstream(library) << "library";
    pid_ = ::fork();
    if (pid_ == 0) wait_for_ever(library, where);
  }
  waiting_child(const waiting_child&) = delete;
  waiting_child& operator=(const waiting_child&) = delete;
  ~waiting_child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  /// Whether it is seen in the state within that time.
  [[nodiscard]] bool seen_within(std::chrono::milliseconds time) const {
    for (const auto limit = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < limit;) {
      if (waits_in_pmix_init(pid_)) return true;
      ::usleep(10'000);
    }
    return false;
  }

 private:
  pid_t pid_ = -1;
};

TEST_F(spawn_watch_of, processes_knows_the_state_by_what_is_loaded) {
  const fs::path library = folder_ / "mca_pmix_ext3x.so";
  EXPECT_TRUE(waiting_child(library, place::in_futex).seen_within(20s));
  EXPECT_FALSE(waiting_child({}, place::in_futex).seen_within(300ms)) << "no Open MPI";
  EXPECT_FALSE(waiting_child(library, place::elsewhere).seen_within(300ms));
  fs::create_directory(folder_ / "mca_pmix_ext3x.so has been passed");
  EXPECT_FALSE(waiting_child(folder_ / "mca_pmix_ext3x.so has been passed" / "mca_state_app.so", place::in_futex)
                   .seen_within(300ms))
      << "Open MPI has come further";
}

TEST_F(spawn_watch_of, runs_that_end_leaves_them_alone) {
  const spawn_result good = run_spawning(script("echo run >>\"$0/runs\"; echo said; exit 0"));
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.repeated, 0);
  EXPECT_EQ(good.output, "said\n");
  EXPECT_EQ(run_spawning(script("exit 7")).status, 7);
  EXPECT_EQ(run_spawning(script("kill -9 $$")).status, 137);
  EXPECT_EQ(runs(), "run\n");
}

TEST_F(spawn_watch_of, a_run_with_a_lost_process_repeats_it) {
  const fs::path library = folder_ / "mca_pmix_ext3x.so";
  std::ofstream(library) << "library";
  spawn_watch what = script(
      "echo run >>\"$0/runs\"\n"
      "test \"$(wc -l <\"$0/runs\")\" = 1 || { echo done; exit 3; }\n"
      "echo lost\n"
      "HAM_TEST_LOST_WITH=\"$0/mca_pmix_ext3x.so\" \"$1\" & wait\n");
  what.command.push_back(fs::read_symlink("/proc/self/exe"));
  what.hung_after = 20s;  // launchers that hang are not looked for
  const spawn_result result = run_spawning(what);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.repeated, 1);
  EXPECT_EQ(result.output, "done\n");
}

/// A launcher that has had a child, and waits in a futex for ever.
TEST_F(spawn_watch_of, a_launcher_that_hangs_when_all_has_ended_ends_it) {
  spawn_watch what = script("echo run >>\"$0/runs\"; echo said; sleep 0.2 & exec env HAM_TEST_LOST_WITH= \"$1\"");
  what.command.push_back(fs::read_symlink("/proc/self/exe"));
  const auto begin = std::chrono::steady_clock::now();
  const spawn_result result = run_spawning(what);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 300s);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.repeated, 0);
  EXPECT_EQ(result.output, "said\n");
  EXPECT_EQ(runs(), "run\n");
}

/// A shell that gets no core for a while seems to hang.
TEST_F(spawn_watch_of, launchers_that_wait_for_something_living_leaves_them_alone) {
  const auto ends_with = [this](const char* text, int status) {
    return ham::test::in_some_attempt([&] { return run_spawning(script(text)).status == status; });
  };
  EXPECT_TRUE(ends_with("sleep 1; exit 4", 4));
  EXPECT_TRUE(ends_with("exec sleep 1", 0)) << "it has not started anything";
  EXPECT_TRUE(ends_with("true & exec sleep 1", 0)) << "it waits for something else";
  EXPECT_TRUE(ends_with("true & i=0; while test $i -lt 2000000; do i=$((i+1)); done; exit 5", 5)) << "it computes";
}

}  // namespace
