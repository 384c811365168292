// What a process has recorded, read as a tool reads it.
#include "ham/offload/recording.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/recorder.hpp"
#include "base/settings.hpp"
#include "ham/offload.hpp"
#include "runtime/recording.hpp"

namespace recording_test {

using namespace ham;
using action = node_recording::action;

int recorded_function_of_the_test(int value) { return value + 1; }

const node_recording* of_this_process(const std::vector<node_recording>& all) {
  const auto found =
      std::find_if(all.begin(), all.end(), [](const node_recording& one) { return one.pid == ::getpid(); });
  return found == all.end() ? nullptr : &*found;
}

std::string problem_with(std::int64_t pid) {
  try {
    static_cast<void>(read_recordings(pid));
  } catch (const config_error& error) {
    return error.what();
  }
  return {};
}

class recordings : public testing::Test {
 protected:
  recordings() { base::detach_recorder_after_fork(); }  // forgets what tests before have done
  ~recordings() override {
    base::detach_recorder_after_fork();
    base::use_program_settings({});
  }
};

TEST_F(recordings, of_this_process_have_its_calls_with_their_names) {
  runtime_options options;
  options.nodes = "loopback:1";
  runtime rt(options);
  EXPECT_EQ(offload::sync(1, fn<&recorded_function_of_the_test>, 1), 2);
  const std::vector<node_recording> all = read_recordings(::getpid());
  const node_recording* const mine = of_this_process(all);
  ASSERT_NE(mine, nullptr);
  EXPECT_TRUE(mine->alive);
  int called = 0;
  int executed = 0;
  for (const node_recording::thread& thread : mine->threads) {
    EXPECT_TRUE(thread.executing.empty());
    for (const node_recording::event& one : thread.past) {
      if (one.function.find("recorded_function_of_the_test(int)") == std::string::npos) continue;
      called += one.what == action::called && one.peer == 1 ? 1 : 0;
      executed += one.what == action::executed && one.peer == 0 ? 1 : 0;
      EXPECT_GE(one.age_s, 0);
      EXPECT_LT(one.age_s, 60);
    }
  }
  EXPECT_EQ(called, 1);
  EXPECT_EQ(executed, 1);
}

TEST_F(recordings, of_a_process_that_shall_record_nothing_are_none) {
  runtime_options options;
  options.nodes = "loopback:1";
  options.recorder = "off";
  runtime rt(options);
  EXPECT_EQ(offload::sync(1, fn<&recorded_function_of_the_test>, 1), 2);
  EXPECT_NE(problem_with(::getpid()).find("HAM_RECORDER=off"), std::string::npos) << problem_with(::getpid());
}

TEST_F(recordings, of_a_process_that_has_ended_and_left_none) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_NE(problem_with(child).find("it has ended"), std::string::npos) << problem_with(child);
  EXPECT_NE(problem_with(-1).find("there is no recording of process -1"), std::string::npos);
}

TEST_F(recordings, actions_have_names) {
  EXPECT_STREQ(to_string(action::called), "called");
  EXPECT_STREQ(to_string(action::queued), "queued");
}

}  // namespace recording_test
