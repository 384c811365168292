// put and get of large blocks, in flight while the host does something else, or loses the target, or ends.
// link: ham::ham
// timeout: 300
#include "tcp_server.hpp"

#include <optional>

#include "bulk.hpp"

using namespace ham;
using namespace ham::test;

namespace {

constexpr std::size_t large = std::size_t{4} << 20;  // numbers

pid_t my_pid() { return ::getpid(); }
long sum(offload::buffer_ptr<const int> at, std::size_t n) { return sum_of<long>(at.get(), n); }

std::vector<int> numbers() { return numbered(large, 7); }

class transfer : public testing::TestWithParam<std::string> {
 protected:
  /// A job with one target over the medium in question.
  [[nodiscard]] runtime_options job() {
    if (GetParam() != "tcp") return nodes(GetParam() + (GetParam().ends_with("host") ? "" : ":1"));
    runtime_options options = nodes(server_.emplace("").nodes());
    options.tcp_security = "off";
    return options;
  }

 private:
  std::optional<server> server_;
};

TEST_P(transfer, the_host_calls_meanwhile) {
  const runtime rt(job());
  const auto sent = numbers();
  offload::buffer<int> there(1, large);
  std::vector<int> got(large);
  for (int round = 0; round < (sanitized() ? 2 : 5); ++round) {
    auto put = offload::put(sent.data(), there.ptr(), large);
    EXPECT_EQ(offload::sync(1, fn<&my_pid>), offload::sync(1, fn<&my_pid>));
    put.get();
    EXPECT_EQ(offload::sync(1, fn<&sum>, there.ptr(), large), sum_of<long>(sent.data(), large));
    auto get = offload::get(there.ptr(), got.data(), large);
    auto behind = get.then([&] { return got == sent; });
    EXPECT_GT(offload::sync(1, fn<&my_pid>), 0);
    EXPECT_TRUE(behind.get());
    std::fill(got.begin(), got.end(), 0);
  }
}

TEST_P(transfer, from_many_threads) {
  const runtime rt(job());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const auto sent = numbers();
      std::vector<int> got(large);
      offload::buffer<int> there(1, large);
      for (int round = 0; round < (sanitized() ? 2 : 3); ++round) {
        auto put = offload::put(sent.data(), there.ptr(), large);
        put.get();
        offload::get(there.ptr(), got.data(), large).get();
        EXPECT_EQ(got, sent);
      }
    });
  }
  for (std::thread& one : threads) one.join();
}

TEST_P(transfer, a_target_that_dies_meanwhile) {
  const runtime rt(job());
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  const auto sent = numbers();
  std::vector<int> got(large);
  const offload::buffer_ptr<int> there = offload::allocate<int>(1, large);
  std::vector<offload::future<void>> pending;
  for (int i = 0; i < 4; ++i) {
    pending.push_back(offload::put(sent.data(), there, large));
    pending.push_back(offload::get(there, got.data(), large));
  }
  ::kill(pid, SIGKILL);
  for (auto& one : pending) {
    try {
      one.get();
    } catch (const node_failure& failure) {
      EXPECT_EQ(failure.node(), 1);
    }
  }
  EXPECT_THROW(offload::sync(1, fn<&my_pid>), node_failure);
  EXPECT_THROW(offload::put(sent.data(), there, large).get(), node_failure);
}

TEST_P(transfer, the_end_of_the_job_completes_it) {
  const auto sent = numbers();
  std::vector<int> got(large);
  std::optional<offload::future<void>> left;
  {
    const runtime rt(job());
    const offload::buffer_ptr<int> there = offload::allocate<int>(1, large);
    offload::put_sync(sent.data(), there, large);
    offload::put(sent.data(), offload::allocate<int>(1, large), large).detach();
    left = offload::get(there, got.data(), large);
  }
  try {
    left->get();
    EXPECT_EQ(got, sent);
  } catch (const node_failure&) {
    EXPECT_EQ(GetParam(), "emulated") << "only messages, which the target initiates, end with the job";
  }
}

INSTANTIATE_TEST_SUITE_P(over, transfer, testing::Values("shm", "tcp", "emulated", "emulated:1/initiator=host"),
                         [](const auto& info) { return info.param.substr(0, 8) + std::to_string(info.index); });

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
