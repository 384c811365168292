// Calls that are sent again when the process that had them has died.
// link: ham::ham
// timeout: 300
// serial: no
#include "support.hpp"

#include <unistd.h>

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
