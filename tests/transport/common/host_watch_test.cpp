// A target that loses its host ends; one that ends by itself is told nothing.
#include "transport/common/host_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "base/control_socket.hpp"
#include "conformance/subject.hpp"
#include "transport/common/target_supervisor.hpp"

namespace ham::inline v1::transport {
namespace {

using namespace std::chrono_literals;

TEST(host_watch, says_that_the_host_is_gone) {
  auto [host, target] = base::make_control_pair();
  std::promise<void> lost;
  host_watch watch(target.get(), [&] { lost.set_value(); });
  host.reset();
  EXPECT_EQ(lost.get_future().wait_for(20s), std::future_status::ready);
  watch.stop();  // this process ends by itself
}

TEST(host_watch, says_nothing_after_the_end_has_begun) {
  auto [host, target] = base::make_control_pair();
  bool lost = false;
  host_watch watch(target.get(), [&] { lost = true; });
  watch.stop();
  host.reset();
  watch.stop();
  EXPECT_FALSE(lost);
}

TEST(host_watch, messages_of_the_host_are_no_end) {
  auto [host, target] = base::make_control_pair();
  std::promise<void> lost;
  auto told = lost.get_future();
  host_watch watch(target.get(), [&] { lost.set_value(); });
  const std::byte word[3] = {};
  EXPECT_TRUE(base::send_control(host.get(), word, {}));
  EXPECT_EQ(told.wait_for(20ms), std::future_status::timeout);
  host.reset();
  EXPECT_EQ(told.wait_for(20s), std::future_status::ready);
  watch.stop();
}

TEST(host_watch, a_target_says_that_it_has_joined_and_loses_its_host_by_its_number) {
  auto [host, target] = base::make_control_pair();
  conformance::recorder news;
  const auto watch = join_and_watch(target.get(), 3, news);
  bool closed = false;
  const auto said = base::receive_control(host.get(), true, closed);
  ASSERT_TRUE(said.has_value());
  const std::string text(reinterpret_cast<const char*>(said->bytes.data()), said->bytes.size());
  EXPECT_EQ(text, target_supervisor::joined);
  EXPECT_TRUE(news.lost(3).empty());
  host.reset();
  while (news.lost(3).empty()) std::this_thread::yield();
  watch->stop();
  EXPECT_EQ(news.lost(3), std::vector<std::string>{"the host closed the connection"});
}

TEST(host_watch_death_test, a_process_that_goes_on_is_ended) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto go_on = [] {
    auto [host, target] = base::make_control_pair();
    const host_watch watch(target.get(), [] {});
    host.reset();
    std::this_thread::sleep_for(60s);
    ::_exit(1);
  };
  EXPECT_EXIT(go_on(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ham::transport
