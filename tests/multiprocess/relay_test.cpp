// Nodes that have no medium in common reach each other through the host: everything that nodes do with each other.
// link: ham::ham
// timeout: 300
#include "support.hpp"
#include "tcp_server.hpp"

#include "offload/block_crossing.hpp"
#include "offload/calls_between.hpp"
#include "offload/job_verbs.hpp"

#include <numeric>

using namespace ham;
using namespace ham::test;

namespace {

std::atomic<int> pings{0};
void be_pinged(const std::string&) { ++pings; }
int count_pings() { return pings; }
void ping_often(node_t node, int count, std::size_t bytes) {
  const std::string text(bytes, 'p');
  for (int i = 0; i < count; ++i) offload::ping(node, fn<&be_pinged>, text);
}
node_t failed_node(node_t node) {
  try {
    static_cast<void>(pid_of(node));
  } catch (const node_failure& failure) {
    return failure.node();
  }
  return -1;
}
node_t failed_node_of_a_long_call(node_t node) {
  try {
    offload::sync(node, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  } catch (const node_failure& failure) {
    return failure.outcome() == call_outcome::may_have_run ? failure.node() : -2;
  }
  return -1;
}
std::size_t resident_kb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return static_cast<std::size_t>(parse_pids(line).at(0));
  }
  return 0;
}

/// Nodes 1 and 2 have nothing in common.
class relay : public testing::TestWithParam<std::string> {
 protected:
  runtime rt_{nodes(GetParam())};
};

TEST_P(relay, calls_in_both_directions) {
  const pid_t first = pid_of(1);
  const pid_t second = pid_of(2);
  EXPECT_EQ(offload::sync(1, fn<&pid_of>, node_t{2}), second);
  EXPECT_EQ(offload::sync(2, fn<&pid_of>, node_t{1}), first);
  EXPECT_EQ(offload::sync(1, fn<&medium_to>, node_t{2}), "through node 0");
  EXPECT_NE(offload::sync(1, fn<&medium_to>, node_t{0}), "through node 0");
  EXPECT_EQ(offload::sync(1, fn<&complaint_of>, node_t{2}, 7), "code 7");
  EXPECT_EQ(offload::sync(1, fn<&ping_pong>, node_t{2}, 60), 60);
}

TEST_P(relay, messages_of_any_length) {
  for (const std::size_t size : {0U, 40U, 5'000U, 300'000U, 5'000'000U}) {
    const std::string text(size, 'm');
    EXPECT_EQ(offload::sync(1, fn<&twice_at>, node_t{2}, text), text + text) << size;
    EXPECT_EQ(offload::sync(2, fn<&twice_at>, node_t{1}, text), text + text) << size;
  }
}

TEST_P(relay, many_at_once_batches_and_contexts) {
  auto there = offload::async(1, fn<&many_calls>, node_t{2}, 3000);
  auto back = offload::async(2, fn<&many_calls>, node_t{1}, 3000);
  EXPECT_EQ(there.get(), 3000);
  EXPECT_EQ(back.get(), 3000);
  EXPECT_EQ(offload::sync(1, fn<&batch_of_calls>, node_t{2}, 1000), 1000 * 1001 / 2);
  EXPECT_EQ(offload::sync(1, fn<&calls_of_a_context>, node_t{2}, 50), 50 * 51 / 2);
}

TEST_P(relay, memory) {
  expect_blocks_cross(1, 2);
  expect_blocks_cross(2, 1);
  constexpr std::size_t n = 700'001;
  std::vector<double> sent(n);
  std::iota(sent.begin(), sent.end(), 0.5);
  const offload::buffer<double> first(1, n);
  const offload::buffer<double> second(2, n);
  offload::put_sync(sent.data(), first.ptr(), n);
  offload::copy_sync(first.ptr(), second.ptr(), n);
  std::vector<double> got(n);
  offload::get_sync(second.ptr(), got.data(), n);
  EXPECT_EQ(got, sent);
  const double middle = offload::sync(
      1,
      [](offload::buffer_ptr<double> there, std::size_t at) {
        double one = 0;
        offload::get_sync(there + static_cast<std::ptrdiff_t>(at), &one, 1);
        return one;
      },
      second.ptr(), n / 2);
  EXPECT_EQ(middle, sent[n / 2]);
}

/// What waits for a node that takes nothing stays with its sender.
TEST_P(relay, a_node_that_takes_nothing_does_not_fill_the_host) {
  static_cast<void>(offload::sync(1, fn<&pid_of>, node_t{2}));
  const std::size_t before = resident_kb();
  const job_verbs::gate_file gate;
  auto busy = offload::async(2, fn<&job_verbs::while_there_is>, gate.path());
  const int count = sanitized() ? 15'000 : 40'000;  // more than what nodes and host keep on the way
  auto sender = offload::async(1, fn<&ping_often>, node_t{2}, count, std::size_t{1000});
  EXPECT_FALSE(sender.wait_for(1s));
  if (!sanitized()) {
    EXPECT_LT(resident_kb(), before + 16'384) << "of 40 MB";
  }
  gate.open();
  busy.get();
  sender.get();
  EXPECT_TRUE(eventually([&] { return offload::sync(2, fn<&count_pings>) == count; }));
}

TEST_P(relay, the_death_of_either_end_is_told_to_the_other) {
  static_cast<void>(offload::sync(1, fn<&pid_of>, node_t{2}));
  auto waiting = offload::async(1, fn<&failed_node_of_a_long_call>, node_t{2});
  EXPECT_FALSE(waiting.wait_for(100ms));
  ::kill(static_cast<pid_t>(offload::get_node_descriptor(2).pid()), SIGKILL);
  EXPECT_EQ(waiting.get(), 2);
  EXPECT_EQ(offload::sync(1, fn<&failed_node>, node_t{2}), 2);
  EXPECT_EQ(offload::sync(1, fn<&next>, 1), 2) << "the rest of the job goes on";
}

TEST_P(relay, a_node_that_died_before_is_told_to_be_lost) {
  ::kill(static_cast<pid_t>(offload::get_node_descriptor(2).pid()), SIGKILL);
  EXPECT_TRUE(eventually([] { return !offload::alive(2); }));
  EXPECT_EQ(offload::sync(1, fn<&failed_node>, node_t{2}), 2);
}

TEST_P(relay, nodes_come_and_go) {
  const node_t fresh = offload::add_node("emulated:1");
  EXPECT_EQ(offload::sync(1, fn<&pid_of>, fresh), pid_of(fresh));
  EXPECT_EQ(offload::sync(fresh, fn<&pid_of>, node_t{1}), pid_of(1));
  offload::remove_node(fresh);
  EXPECT_EQ(offload::sync(1, fn<&failed_node>, fresh), fresh);
  const node_t beside = offload::add_node("shm:1");
  EXPECT_EQ(offload::sync(2, fn<&pid_of>, beside), pid_of(beside));
}

/// Calls until the node is gone; how many were answered, and how many failed.
std::pair<int, int> call_until_gone(node_t node) {
  std::pair<int, int> result{0, 0};
  for (int round = 0; result.second == 0 && round < 100'000; ++round) {
    std::vector<offload::future<int>> some;
    for (int i = 0; i < 50; ++i) {
      try {
        some.push_back(offload::async(node, fn<&next>, i));
      } catch (const node_failure&) {
        ++result.second;
      }
    }
    for (auto& one : some) {
      try {
        one.get();
        ++result.first;
      } catch (const node_failure&) {
        ++result.second;
      }
    }
  }
  return result;
}

TEST_P(relay, a_node_that_is_removed_amid_traffic_leaves_nobody_waiting) {
  auto calling = offload::async(1, fn<&call_until_gone>, node_t{2});
  EXPECT_FALSE(calling.wait_for(200ms));
  offload::remove_node(2);
  ASSERT_TRUE(calling.wait_for(60s));
  const auto [answered, failed] = calling.get();
  EXPECT_GT(answered, 0);
  EXPECT_GT(failed, 0);
  EXPECT_EQ(offload::sync(1, fn<&next>, 1), 2) << "the rest of the job goes on";
}

/// A node that waits for hosts, and one that has no address: they agree that the latter connects.
TEST(relay_beside_tcp, nodes_that_call_each_other_at_once_agree_on_the_way) {
  const server waits("", 3);
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  for (int i = 0; i < 3; ++i) {
    runtime_options options;
    options.nodes = "emulated:1," + waits.nodes();
    const runtime rt(options);
    auto there = offload::async(1, fn<&medium_to>, node_t{2});
    auto back = offload::async(2, fn<&medium_to>, node_t{1});
    EXPECT_EQ(there.get(), "tcp");
    EXPECT_EQ(back.get(), "tcp");
    EXPECT_EQ(offload::sync(2, fn<&ping_pong>, node_t{1}, 20), 20);
  }
  ::unsetenv("HAM_TCP_SECURITY");
}

std::string name_of(const testing::TestParamInfo<std::string>& one) {
  constexpr const char* names[] = {"two_of_a_kind", "of_two_kinds", "of_two_protocols"};
  return names[one.index];
}

INSTANTIATE_TEST_SUITE_P(between, relay,
                         testing::Values("emulated:2", "shm:1,emulated:1", "emulated:1/initiator=host,emulated:1"),
                         &name_of);

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
