// Ends of buffers and contexts of targets that are stopped, or busy.
// link: ham::ham
// args: --an-argument
// serial: no
#include <memory>
#include <optional>

#include "multiprocess/support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_pid() { return ::getpid(); }
void sleep_ms(int ms) { ::usleep(static_cast<useconds_t>(ms) * 1000); }
std::atomic<int> ran{0};
void count() { ++ran; }
int counted() { return ran.load(); }

/// An environment variable for a while.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

/// A target that is stopped in between.
class stopped {
 public:
  explicit stopped(pid_t pid) : pid_(pid) {
    ::kill(pid_, SIGSTOP);
    EXPECT_TRUE(eventually([this] { return state() == 'T'; }));
  }
  ~stopped() { go_on(); }
  stopped(const stopped&) = delete;
  stopped& operator=(const stopped&) = delete;
  void go_on() const { ::kill(pid_, SIGCONT); }

 private:
  [[nodiscard]] char state() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string number;
    std::string name;
    char state = '?';
    file >> number >> name >> state;
    return state;
  }
  pid_t pid_;
};

TEST(handles, of_a_stopped_target_are_let_go) {
  const variable limit("HAM_CLOSE_TIMEOUT", "0.3");
  runtime rt(nodes("shm:1"));
  std::optional<offload::context> queue(1);
  auto memory = std::make_unique<offload::buffer<int>>(1, 1000);
  const stopped target(offload::sync(1, fn<&my_pid>));
  auto waiting = offload::async(*queue, fn<&count>);
  queue.reset();
  memory.reset();
  EXPECT_FALSE(waiting.wait_for(1ms));
  target.go_on();
  waiting.get();
  EXPECT_EQ(offload::sync(1, fn<&counted>), 1);
  EXPECT_NO_THROW(offload::context(1).close()) << "all of it is as before";
}

TEST(handles, only_the_first_one_waits_for_a_stopped_target) {
  runtime rt(nodes("shm:1"));
  std::vector<offload::buffer<int>> many;
  for (int i = 0; i < 50; ++i) many.emplace_back(1, 1000);
  const stopped target(offload::sync(1, fn<&my_pid>));
  const auto before = std::chrono::steady_clock::now();
  many.pop_back();
  const auto first = std::chrono::steady_clock::now() - before;
  EXPECT_GE(first, 9s) << "there is time for a debugger to let it go on";
  many.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 49 * first);
  target.go_on();
  EXPECT_EQ(offload::sync(1, fn<&counted>), 0);
}

TEST(handles, of_a_full_queue_are_let_go) {
  const variable limit("HAM_CLOSE_TIMEOUT", "0.3");
  runtime rt(nodes("shm:1"));
  auto memory = std::make_unique<offload::buffer<int>>(1, 1000);
  std::optional<offload::context> queue(1);
  const stopped target(offload::sync(1, fn<&my_pid>));
  while (auto one = offload::try_async(1, fn<&count>)) one->detach();
  memory.reset();
  queue.reset();
}

TEST(handles, of_a_busy_target_wait) {
  runtime rt(nodes("shm:1"));
  {
    offload::context queue(1);
    offload::buffer<int> memory(1, 1000);
    offload::async(queue, fn<&sleep_ms>, 300).detach();
    offload::async(queue, fn<&count>).detach();
    offload::async(1, fn<&sleep_ms>, 300).detach();
  }
  EXPECT_EQ(offload::sync(1, fn<&counted>), 1);
}

TEST(handles, closing_may_be_limited) {
  runtime rt(nodes("shm:1"));
  offload::context queue(1);
  queue.drain(10s);
  auto hanging = offload::async(queue, fn<&sleep_ms>, 2000);
  EXPECT_THROW(queue.drain(1ms), deadline_exceeded);
  try {
    queue.close(1ms);
    ADD_FAILURE();
  } catch (const deadline_exceeded& late) {
    EXPECT_EQ(late.outcome(), call_outcome::may_have_run);
  }
  EXPECT_FALSE(queue.valid());
  hanging.get();
}

class tally {
 public:
  ~tally() { ++ran; }
  int add(int more) { return sum_ += more; }
  pid_t where() const { return my_pid(); }
  [[noreturn]] void crash() { std::abort(); }

 private:
  int sum_ = 0;
};

TEST(handles, of_objects_in_another_process) {
  runtime rt(nodes("shm:2"));
  {
    const auto there = offload::make<tally>(1);
    EXPECT_NE(there.call<&tally::where>(), ::getpid());
    EXPECT_EQ(there.call<&tally::add>(2), 2);
    EXPECT_EQ(there.call<&tally::add>(2), 4);
    EXPECT_EQ(offload::sync(1, fn<&counted>), 0);
  }
  EXPECT_EQ(offload::sync(1, fn<&counted>), 1) << "destroyed with its handle";
}

TEST(handles, of_objects_whose_process_dies) {
  runtime rt(nodes("shm:2"));
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto there = offload::make<tally>(1);
    const auto other = offload::make<tally>(2);
    EXPECT_THROW(there.call<&tally::crash>(), node_failure);
    EXPECT_THROW(there.call<&tally::add>(1), node_failure);
    EXPECT_EQ(other.call<&tally::add>(1), 1);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "nobody waits for what is gone";
}

std::string own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  return text.substr(text.find('\0'));
}

TEST(start, by_options_gives_targets_the_program_s_arguments) {
  runtime rt(nodes("shm:1"));
  EXPECT_EQ(offload::sync(1, fn<&own_command_line>), own_command_line());
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
