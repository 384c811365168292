// An event loop whose results come from other processes, over each transport that starts its own targets.
// link: ham::ham
#include "support.hpp"
#include "tcp_server.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>

#include <stdexcept>

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }
int after(int ms, int value) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return value;
}
void stop() { std::abort(); }

/// Waits as a program would, without a time limit of its own that could hide a lost wake-up.
class event_loop {
 public:
  event_loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event interest{EPOLLIN, {}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, offload::event_fd(), &interest);
  }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop() { ::close(epoll_); }

  template <class Done>
  bool run(Done done) {
    while (!done()) {
      epoll_event event{};
      const int got = ::epoll_wait(epoll_, &event, 1, 10'000);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1) return false;
      offload::serve_event_fd();
      ++turns;
    }
    return true;
  }
  int turns = 0;

 private:
  int epoll_;
};

/// Two targets, which over tcp are programs that wait.
class event_fd : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] runtime_options two_targets() {
    if (GetParam() != std::string("tcp")) return nodes(GetParam() + std::string(":2"));
    first_.emplace(key_.path());
    second_.emplace(key_.path());
    return with_key(first_->nodes() + "," + second_->nodes(), key_.path());
  }

 private:
  scratch_key key_{'7'};
  std::optional<server> first_, second_;
};

TEST_P(event_fd, results_arrive_while_the_host_sleeps_in_epoll) {
  runtime rt(two_targets());
  event_loop loop;
  for (int i = 0; i < 300; ++i) {
    int left = 2;
    const auto arrived = [&](offload::future<int> result) {
      EXPECT_EQ(result.get(), i);
      --left;
    };
    offload::async(1, fn<&echo>, i).on_result(arrived);
    offload::async(2, fn<&after>, i % 16 == 0 ? 5 : 0, i).on_result(arrived);
    ASSERT_TRUE(loop.run([&] { return left == 0; })) << "round " << i;
  }
}

TEST_P(event_fd, calls_of_targets_are_executed_in_the_loop) {
  runtime rt(two_targets());
  event_loop loop;
  bool settled = false;
  offload::async(1, [] {
    int sum = 0;
    for (int i = 0; i < 50; ++i) sum += offload::sync(0, fn<&echo>, i);
    return sum;
  }).on_result([&](offload::future<int> result) {
    EXPECT_EQ(result.get(), 49 * 50 / 2);
    settled = true;
  });
  EXPECT_TRUE(loop.run([&] { return settled; }));
}

TEST_P(event_fd, the_death_of_a_target_wakes_the_loop) {
  runtime rt(two_targets());
  event_loop loop;
  auto lost = offload::async(1, fn<&stop>);
  bool settled = false;
  lost.on_ready([&] { settled = true; });
  EXPECT_TRUE(loop.run([&] { return settled; }));
  EXPECT_THROW(lost.get(), node_failure);
  EXPECT_EQ(offload::sync(2, fn<&echo>, 3), 3);
}

INSTANTIATE_TEST_SUITE_P(over, event_fd, testing::Values("shm", "tcp", "emulated"),
                         [](const auto& info) { return std::string(info.param); });

TEST(event_fd_idle, a_loop_without_news_takes_no_processor_time) {
  runtime rt(nodes("shm:1"));
  event_loop loop;
  offload::sync(1, fn<&echo>, 1);
  const auto until = std::chrono::steady_clock::now() + 1s;
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  loop.run([&] { return std::chrono::steady_clock::now() > until; });
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(loop.turns, 40) << "5 each second, and what the start leaves";
  const auto us = [](const rusage& of) {
    return of.ru_utime.tv_usec + of.ru_stime.tv_usec + 1'000'000 * (of.ru_utime.tv_sec + of.ru_stime.tv_sec);
  };
  EXPECT_TRUE(sanitized() || us(after) - us(before) < 50'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
