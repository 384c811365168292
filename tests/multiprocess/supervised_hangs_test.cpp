// Supervised nodes whose calls hang: the process of such a call is killed.
// link: ham::ham
// timeout: 300
// serial: no
#include "support.hpp"

#include <thread>

#include "ham/offload/supervise.hpp"

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_pid() { return ::getpid(); }
void hang() {
  for (;;) std::this_thread::sleep_for(1s);
}

TEST(supervised_hangs, a_call_whose_process_is_killed_leaves_the_number_to_the_next_one) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1);
  for (int round = 0; round < 2; ++round) {
    const pid_t before = offload::sync(1, fn<&my_pid>);
    auto call = offload::async(1, fn<&hang>);
    EXPECT_TRUE(offload::kill_call(call));
    EXPECT_THROW(call.get(), node_failure);
    EXPECT_NE(offload::sync(1, fn<&my_pid>), before);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
