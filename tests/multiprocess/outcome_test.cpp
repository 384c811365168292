// What callers are told of calls to targets that live on, or die, across real processes.
// link: ham::ham
// serial: no
#include <stdexcept>

#include "multiprocess/support.hpp"

using namespace ham;
using namespace ham::test;

namespace outcome_test {

struct moody {
  int value = 0;
};

}  // namespace outcome_test

/// A result of 7 cannot be read.
template <>
struct ham::codec<outcome_test::moody> {
  static std::size_t size(const outcome_test::moody&) { return 4; }
  static void write(msg::writer& to, const outcome_test::moody& what) { to.number(what.value); }
  static outcome_test::moody read(msg::reader& from) {
    outcome_test::moody result{from.number<int>()};
    if (result.value == 7) throw std::runtime_error("I do not like 7");
    return result;
  }
};

namespace outcome_test {

pid_t my_pid() { return ::getpid(); }
void work_forever() {
  for (;;) ::usleep(1000);
}
int echo(int value) { return value; }
moody seven() { return {7}; }

/// Says in a file that it has run.
void note(int which, const std::string& path) {
  ::usleep(2000);
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const char letter = static_cast<char>('a' + which);
  EXPECT_EQ(::write(fd, &letter, 1), 1);
  ::close(fd);
}

struct log_file {
  log_file() {
    char name[] = "/tmp/ham-outcome-XXXXXX";
    ::close(::mkstemp(name));
    path = name;
  }
  ~log_file() { ::unlink(path.c_str()); }
  log_file(const log_file&) = delete;
  log_file& operator=(const log_file&) = delete;
  [[nodiscard]] std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path;
};

TEST(outcome, a_call_that_runs_is_not_said_to_have_not_run) {
  const log_file log;
  constexpr int count = 10;
  std::string said_not_to_run;
  {
    runtime rt(nodes("shm:1"));
    auto bad = offload::async(1, fn<&seven>);
    std::vector<offload::future<void>> behind;
    for (int i = 0; i < count; ++i) behind.push_back(offload::async(1, fn<&note>, i, log.path));
    try {
      (void)bad.get();
      ADD_FAILURE() << "7 was read";
    } catch (const node_failure& failure) {
      EXPECT_EQ(failure.outcome(), call_outcome::ran);
    }
    for (int i = 0; i < count; ++i) {
      try {
        behind[static_cast<std::size_t>(i)].get();
      } catch (const node_failure& failure) {
        if (failure.outcome() == call_outcome::not_run) said_not_to_run += static_cast<char>('a' + i);
      }
    }
    EXPECT_TRUE(eventually([&] { return log.text().size() == count; })) << "the target executes what it has got";
  }
  for (const char ran : log.text()) EXPECT_EQ(said_not_to_run.find(ran), std::string::npos) << ran;
}

TEST(outcome, a_failure_of_a_nested_call_arrives_as_it_is) {
  runtime rt(nodes("shm:2"));
  const pid_t victim = offload::sync(2, fn<&my_pid>);
  auto outer = offload::async(1, [] { offload::sync(2, fn<&work_forever>); });
  EXPECT_FALSE(outer.wait_for(50ms));
  ::kill(victim, SIGKILL);
  try {
    outer.get();
    ADD_FAILURE();
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 2);
    EXPECT_EQ(failure.pid(), victim);
    EXPECT_NE(failure.function().find("work_forever"), std::string::npos);
    EXPECT_NE(failure.outcome(), call_outcome::ran);
  }
  try {
    offload::sync(1, [] { offload::sync(offload::within(0, 1ms), [] { ::usleep(1'000'000); }); });
    ADD_FAILURE();
  } catch (const deadline_exceeded& missed) {
    EXPECT_EQ(missed.outcome(), call_outcome::may_have_run);
  }
  EXPECT_EQ(offload::sync(1, fn<&echo>, 1), 1);
}

}  // namespace outcome_test

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
