// The whole runtime over one-sided rings: the emulated PCIe link with both protocols, and VEO.
// link: ham::ham
// timeout: 300
#include "support.hpp"

#include "offload/block_crossing.hpp"

#include <numeric>
#include <stdexcept>

using namespace ham;
using namespace ham::test;

namespace {

int add(int a, int b) { return a + b; }
pid_t my_pid() { return ::getpid(); }
std::string own_device() { return offload::get_node_descriptor(offload::this_node()).device_type(); }
std::string twice(const std::string& text) { return text + text; }
int complain(int code) { throw std::out_of_range("code " + std::to_string(code)); }
int on_the_host(int value) { return value * 2 + static_cast<int>(offload::this_node()); }
int through_the_host(int value) { return offload::sync(0, fn<&on_the_host>, value) + 1; }
double sum(offload::buffer_ptr<double> from, std::size_t count) {
  double result = 0;
  for (std::size_t i = 0; i < count; ++i) result += from[i];
  return result;
}
void work_forever() {
  volatile bool forever = true;
  while (forever) {
  }
}

class one_sided : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().starts_with("ve") && std::getenv("HAM_VEO_LIBRARY") == nullptr) {
      GTEST_SKIP() << "HAM_VEO_LIBRARY names no VEO library";
    }
  }
  /// The last node is behind the medium in question.
  static std::string medium() {
    for (const char* name : {"vedma", "veo"}) {
      if (GetParam().starts_with(name)) return name;
    }
    return "emulated";
  }
  static node_t last() { return static_cast<node_t>(offload::num_nodes() - 1); }
};

TEST_P(one_sided, calls_results_and_exceptions) {
  const runtime rt(nodes(GetParam()));
  EXPECT_EQ(offload::get_node_descriptor(last()).transport(), medium());
  EXPECT_EQ(offload::get_node_descriptor(last()).device_type(), "emulated");
  EXPECT_EQ(offload::sync(last(), fn<&own_device>), "emulated");
  EXPECT_EQ(offload::get_node_descriptor(0).device_type(), "cpu");
  EXPECT_EQ(offload::sync(last(), fn<&add>, 40, 2), 42);
  EXPECT_NE(offload::sync(last(), fn<&my_pid>), ::getpid());
  for (const std::size_t size : {10U, 10'000U, 300'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(offload::sync(last(), fn<&twice>, text), text + text);
  }
  EXPECT_THROW(offload::sync(last(), fn<&complain>, 3), std::out_of_range);
  EXPECT_EQ(offload::sync(last(), fn<&through_the_host>, 20), 41) << "a call back to the host from within a call";
}

TEST_P(one_sided, many_calls_at_once_from_two_threads) {
  const runtime rt(nodes(GetParam()));
  const auto storm = [] {
    std::vector<offload::future<int>> pending;
    for (int i = 0; i < 1000; ++i) pending.push_back(offload::async(last(), fn<&add>, i, 1));
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(pending[static_cast<std::size_t>(i)].get(), i + 1);
  };
  std::thread other(storm);
  storm();
  other.join();
}

TEST_P(one_sided, memory_of_the_target) {
  const runtime rt(nodes(GetParam()));
  std::vector<double> numbers(200'000);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  auto there = offload::allocate<double>(last(), numbers.size());
  offload::put(numbers.data(), there, numbers.size());
  EXPECT_EQ(offload::sync(last(), fn<&sum>, there, numbers.size()),
            std::accumulate(numbers.begin(), numbers.end(), 0.0));
  std::vector<double> back(numbers.size());
  offload::get(there, back.data(), back.size());
  EXPECT_EQ(back, numbers);
  offload::free(there);
}

TEST_P(one_sided, blocks_of_rows) {
  const runtime rt(nodes(GetParam()));
  expect_blocks_cross(last(), 0);
  expect_blocks_cross(0, last());
}

TEST_P(one_sided, sleeping_ends_with_the_next_call) {
  const runtime rt(nodes(GetParam()));
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(offload::sync(last(), fn<&add>, i, i), 2 * i);
  }
}

TEST_P(one_sided, a_target_that_dies_fails_its_calls_and_no_others) {
  const runtime rt(nodes(GetParam()));
  const pid_t pid = offload::sync(last(), fn<&my_pid>);
  auto computing = offload::async(last(), fn<&work_forever>);
  auto behind_it = offload::async(last(), fn<&add>, 1, 2);
  std::this_thread::sleep_for(10ms);
  ::kill(pid, SIGKILL);
  EXPECT_THROW(computing.get(), node_failure);
  EXPECT_THROW(behind_it.get(), node_failure);
  EXPECT_THROW(offload::sync(last(), fn<&add>, 1, 2), node_failure);
  if (offload::num_nodes() > 2) {
    EXPECT_EQ(offload::sync(1, fn<&add>, 1, 2), 3);
  }
}

TEST_P(one_sided, nothing_is_left_of_a_busy_target) {
  pid_t pid = 0;
  {
    const runtime rt(nodes(GetParam()));
    pid = offload::sync(last(), fn<&my_pid>);
    offload::async(last(), fn<&work_forever>).detach();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(eventually([pid] { return !alive(pid); }));
}

TEST_P(one_sided, targets_come_and_go) {
  const runtime rt(nodes("shm:1"));
  const node_t fresh = offload::add_node(GetParam().substr(GetParam().find_first_of("ev")));
  const pid_t pid = offload::sync(fresh, fn<&my_pid>);
  EXPECT_EQ(offload::sync(fresh, fn<&add>, 1, 2), 3);
  offload::remove_node(fresh);
  EXPECT_THROW(offload::sync(fresh, fn<&add>, 1, 2), node_failure);
  EXPECT_TRUE(eventually([pid] { return !alive(pid); }));
  EXPECT_EQ(offload::sync(1, fn<&add>, 1, 2), 3);
}

TEST_P(one_sided, targets_end_with_a_killed_host) {
  host_process host("wait_busy", {"HAM_NODES=" + GetParam()});
  const std::vector<pid_t> targets = parse_pids(host.line());
  ASSERT_FALSE(targets.empty());
  ::kill(host.pid(), SIGKILL);
  host.wait();
  EXPECT_TRUE(eventually([&] { return std::ranges::none_of(targets, alive); }));
}

int wait_busy() {
  const runtime rt{runtime_options{}};
  print_target_pids();
  offload::sync(static_cast<node_t>(offload::num_nodes() - 1), fn<&work_forever>);
  return 0;
}
const scenario waits_busy("wait_busy", &wait_busy);

std::string name_of(const testing::TestParamInfo<std::string>& one) {
  constexpr const char* names[] = {"target_initiated", "host_initiated", "blocking", "veo", "vedma"};
  return names[one.index];
}

INSTANTIATE_TEST_SUITE_P(over, one_sided,
                         testing::Values("emulated:1", "emulated:2/initiator=host",
                                         "shm:1,emulated:1/initiator=host/posted=no/read=5000/write=5000", "veo:2",
                                         "vedma:1"),
                         &name_of);

TEST(one_sided_settings, that_make_no_sense) {
  for (const char* wrong : {"emulated:1/read=fast", "emulated:x", "veo:1@2", "loopback/read=1"}) {
    EXPECT_THROW(runtime rt(nodes(wrong)), config_error) << wrong;
  }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
