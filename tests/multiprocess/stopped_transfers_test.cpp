// Transfers with stop tokens and deadlines to targets that die, and to those that take their place.
// link: ham::ham
#include <algorithm>
#include <csignal>

#include "multiprocess/support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_pid() { return ::getpid(); }

TEST(stopped_transfers, whose_target_dies_say_whether_parts_may_have_moved) {
  constexpr std::size_t count = 64U << 20;
  const runtime job(nodes("shm:4"));
  std::stop_source never;
  std::vector<char> here(count, 1);
  for (const node_t node : {1, 2, 3, 4}) {
    offload::buffer<char> there(node, count);
    offload::put(here, there).get();
    const pid_t pid = offload::sync(node, fn<&my_pid>);
    std::fill(here.begin(), here.end(), '\0');
    std::thread killer([pid] {
      std::this_thread::sleep_for(2ms);
      ::kill(pid, SIGKILL);
    });
    try {
      offload::get(offload::stoppable(node, never.get_token()), there, here).get();
    } catch (const node_failure& why) {
      const bool moved = std::any_of(here.begin(), here.end(), [](char one) { return one != '\0'; });
      EXPECT_TRUE(why.outcome() == call_outcome::may_have_run || !moved) << why.what();
    }
    killer.join();
    EXPECT_TRUE(eventually([&] { return !offload::alive(node); }));
    std::fill(here.begin(), here.end(), 1);
  }
}

TEST(stopped_transfers, go_by_the_number_of_a_target_that_was_started_again) {
  const runtime job(nodes("shm:1"));
  offload::supervise(1);
  offload::buffer<int> old(1, 3);
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] {
    try {
      return offload::sync(1, fn<&my_pid>) != pid;
    } catch (const node_failure&) {
      return false;
    }
  }));
  const std::vector<int> here{1, 2, 3};
  std::vector<int> back(3);
  std::stop_source source;
  const offload::buffer<int> there(1, 3);
  offload::put(offload::within(1, 1min), here.data(), there.ptr(), 3).get();
  offload::get(offload::stoppable(1, source.get_token()), there.ptr(), back.data(), 3).get();
  EXPECT_EQ(back, here);
  offload::copy(offload::within(1, 1min), there.ptr(), there.ptr() + 1, 2).get();
  offload::get(1, there.ptr(), back.data(), 3).get();
  EXPECT_EQ(back, (std::vector<int>{1, 1, 2}));
  EXPECT_THROW(offload::put(offload::within(1, 1min), here.data(), old.ptr(), 3).get(), node_failure)
      << "the process of that memory has gone";
  EXPECT_THROW(offload::put(offload::within(0, 1min), here.data(), there.ptr(), 3).get(), buffer_error);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
