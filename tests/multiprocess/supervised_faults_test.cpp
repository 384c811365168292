// HAM_FAULT and supervised numbers: rules strike whichever process a number has, also of calls by handles, and name the
// number.
// link: ham::ham
// env: HAM_LOG=error
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/fault_rules.hpp"
#include "support.hpp"

// Rules name it as it is listed: not in a namespace without a name.
int faulty_double(int x) { return 2 * x; }

namespace {

using namespace ham;
using namespace ham::test;
using offload::async;
using offload::sync;

std::int64_t own_pid() { return ::getpid(); }

/// One supervised target, and what the host does to its calls.
class supervised_faults : public testing::Test {
 protected:
  void start(const std::string& rules) {
    runtime_options options = nodes("shm:1");
    options.fault = rules;
    job_ = std::make_unique<runtime>(options);
    offload::supervision how{.max_restarts = 100, .within = 1min, .on_respawn = {}};
    how.on_respawn = [this](const offload::respawned& fresh) {
      const std::lock_guard guard(mutex_);
      respawns_.push_back(fresh);
    };
    offload::supervise(1, how);
  }
  /// The process that has the number, when it answers.
  static std::int64_t process() {
    std::int64_t pid = 0;
    EXPECT_TRUE(eventually([&] {
      try {
        pid = sync(1, fn<&own_pid>);
        return true;
      } catch (const node_failure&) {  // it was sent to the one that has died
        return false;
      }
    }));
    return pid;
  }
  static bool another_than(std::int64_t before) {
    return eventually([&] { return process() != before; });
  }
  /// From now on the number has the second process.
  static void replace() {
    const std::int64_t before = process();
    ::kill(static_cast<pid_t>(before), SIGKILL);
    EXPECT_TRUE(another_than(before));
    EXPECT_NE(offload::process_of(1), 1);
  }
  std::vector<offload::respawned> respawns() {
    const std::lock_guard guard(mutex_);
    return respawns_;
  }

 private:
  std::mutex mutex_;
  std::vector<offload::respawned> respawns_;
  std::unique_ptr<runtime> job_;
};

TEST_F(supervised_faults, kill_each_process_of_the_number) {
  start("faulty_double:request=kill:1");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = process();
    try {
      EXPECT_EQ(sync(1, fn<&faulty_double>, round), 2 * round);  // where the next process was there already
    } catch (const node_failure&) {
    }
    EXPECT_TRUE(another_than(before)) << "round " << round;
  }
  EXPECT_GE(respawns().size(), 3U);
}

TEST_F(supervised_faults, drop_each_process_and_the_call_goes_to_the_next_one) {
  start("faulty_double:request=drop:1");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = process();
    EXPECT_EQ(sync(1, fn<&faulty_double>, round), 2 * round);
    EXPECT_NE(process(), before) << "round " << round;
  }
  ASSERT_EQ(respawns().size(), 3U);
  for (const offload::respawned& one : respawns())
    EXPECT_NE(one.reason.find("HAM_FAULT asks for it (rule faulty_double:request=drop:1)"), std::string::npos)
        << one.reason;
}

TEST_F(supervised_faults, drop_behind_the_reply_of_each_process) {
  start("faulty_double:reply=drop:1");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = process();
    try {
      sync(1, fn<&faulty_double>, round);
      ADD_FAILURE() << "round " << round;
    } catch (const node_failure& why) {
      EXPECT_EQ(why.outcome(), call_outcome::may_have_run);
    }
    EXPECT_TRUE(another_than(before)) << "round " << round;
  }
}

template <class Call>
void expect_no_run(Call call, const char* what) {
  try {
    call();
    ADD_FAILURE() << what;
  } catch (const node_failure& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run) << what;
    EXPECT_EQ(why.node(), offload::process_of(1)) << what;
    EXPECT_NE(std::string(why.what()).find("HAM_FAULT"), std::string::npos) << why.what();
  }
}

TEST_F(supervised_faults, strike_calls_by_number_by_handle_and_of_batches) {
  start("faulty_double:request:1");
  for (int round = 0; round < 2; ++round) {
    expect_no_run([] { sync(1, fn<&faulty_double>, 1); }, "by number");
    const offload::context queue(1);
    expect_no_run([&] { sync(queue, fn<&faulty_double>, 1); }, "by handle");
    expect_no_run([] { offload::ping(1, fn<&faulty_double>, 1); }, "ping");
    offload::batch several(1);
    expect_no_run([&] { static_cast<void>(several.add(fn<&faulty_double>, 1)); }, "in a batch");
    if (round == 0) replace();
  }
}

/// A seed by which the second decision for a connection strikes, and the two around it do not.
std::uint64_t seed_for_the_second() {
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    const auto rule = base::parse_faults("1:connect:0.5:" + std::to_string(seed), "here").front();
    const auto strikes = [&](std::uint64_t n) { return base::strikes(rule, 0, 0, n); };
    if (!strikes(0) && strikes(1) && !strikes(2)) return seed;
  }
  ADD_FAILURE() << "there is no such seed";
  return 0;
}

TEST_F(supervised_faults, a_rule_for_connections_names_the_number) {
  start("1:connect:0.5:" + std::to_string(seed_for_the_second()));
  replace();  // the first attempt fails
  ASSERT_EQ(respawns().size(), 1U);
  EXPECT_NE(respawns().front().reason.find("HAM_FAULT asks for it (rule 1:connect:"), std::string::npos)
      << respawns().front().reason;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
