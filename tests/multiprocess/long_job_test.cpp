// A job that adds and removes targets for long: it takes no more of anything, and numbers do not run out.
// HAM_TEST_CYCLES=100000 for as long as that.
// link: ham::ham
// timeout: 300
#include "holdings.hpp"

#include <sys/resource.h>

#include <optional>

#include "runtime/engine.hpp"
#include "tcp_server.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int next(int value) { return value + 1; }
int next_there(node_t node, int value) { return offload::sync(node, fn<&next>, value); }

int cycles(int normal) {
  const char* const text = std::getenv("HAM_TEST_CYCLES");
  return text == nullptr ? normal : std::max(1, std::atoi(text));
}

/// A target comes, works, and goes: as it should, or in one of the other ways.
void cycle(int i) {
  if (i % 16 == 3) {
    EXPECT_THROW(offload::add_node("exec:false"), config_error);
    return;
  }
  const node_t node = offload::add_node("shm:1");
  ASSERT_EQ(offload::sync(node, fn<&next>, i), i + 1);
  if (i % 4 == 1) {
    ASSERT_EQ(offload::sync(1, fn<&next_there>, node, i), i + 1);
  }
  if (i % 4 == 2) {
    const std::vector<int> numbers(1000, i);
    const auto there = offload::allocate<int>(node, numbers.size());
    offload::put_sync(numbers.data(), there, numbers.size());
  }
  if (i % 8 == 5) {
    const auto pid = static_cast<pid_t>(offload::get_node_descriptor(node).pid());
    ::kill(pid, SIGKILL);
    ASSERT_TRUE(eventually([node] { return !offload::alive(node); }));
  } else {
    offload::remove_node(node);
  }
  ASSERT_FALSE(offload::alive(node));
}

}  // namespace

TEST(long_job, takes_no_more_of_anything) {
  const rlimit few{128, 4096};
  rlimit usual{};
  ::getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit soft{few.rlim_cur, usual.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &soft);
  {
    runtime rt(nodes("shm:1"));
    for (int i = 0; i < (sanitized() ? 24 : 64); ++i) cycle(i);
    const holdings host = settled(0);
    const holdings target = settled(1);
    const int count = cycles(sanitized() ? 40 : 300);
    for (int i = 0; i < count && !HasFatalFailure(); ++i) cycle(i);
    expect_flat(0, host);
    expect_flat(1, target);
  }
  ::setrlimit(RLIMIT_NOFILE, &usual);
}

/// Of targets that are not reached through shared memory.
class long_job_over : public testing::TestWithParam<const char*> {};

TEST_P(long_job_over, takes_no_more_of_anything) {
  const std::string medium = GetParam();
  if (medium.starts_with("ve") && std::getenv("HAM_VEO_LIBRARY") == nullptr) GTEST_SKIP() << "no VEO library is named";
  std::optional<server> waiting;
  if (medium == "tcp") {
    ::setenv("HAM_TCP_SECURITY", "off", 1);
    waiting.emplace("");
  }
  runtime rt(nodes("none"));
  const auto cycle = [&](int i) {
    const node_t node = offload::add_node(waiting ? waiting->nodes() : medium);
    ASSERT_EQ(offload::sync(node, fn<&next>, i), i + 1);
    const std::vector<int> numbers(1000, i);
    const auto there = offload::allocate<int>(node, numbers.size());
    offload::put_sync(numbers.data(), there, numbers.size());
    if (i % 4 == 1) {
      ::kill(static_cast<pid_t>(offload::get_node_descriptor(node).pid()), SIGKILL);
      ASSERT_TRUE(eventually([node] { return !offload::alive(node); }));
    } else {
      offload::remove_node(node);
    }
    ASSERT_FALSE(offload::alive(node));
  };
  for (int i = 0; i < (sanitized() ? 8 : 16) && !HasFatalFailure(); ++i) cycle(i);
  const holdings before = settled(0);
  const int count = cycles(sanitized() ? 12 : 64);
  for (int i = 0; i < count && !HasFatalFailure(); ++i) cycle(i);
  expect_flat(0, before);
}

INSTANTIATE_TEST_SUITE_P(media, long_job_over,
                         testing::Values("emulated:1", "emulated:1/initiator=host", "veo:1", "vedma:1", "tcp"));

TEST(long_job, uses_places_again_but_no_numbers) {
  runtime rt(nodes("shm:2"));
  const auto number_from = [](std::size_t count) {  // as after as many additions
    ASSERT_TRUE(detail::current().peers.grow_to(count));
  };
  EXPECT_EQ(offload::sync(1, fn<&next_there>, 2, 5), 6);
  number_from(4094);
  EXPECT_EQ(offload::add_node("shm:2"), 4094);
  EXPECT_EQ(offload::add_node("shm:1"), 4099) << "4096 to 4098 would have the places of nodes 0 to 2, which live";
  for (const node_t node : {1, 2, 4094, 4095, 4099}) EXPECT_EQ(offload::sync(node, fn<&next>, 1), 2);
  EXPECT_EQ(offload::sync(4099, fn<&next_there>, 1, 5), 6);
  EXPECT_EQ(offload::sync(2, fn<&next_there>, 4099, 5), 6);
  EXPECT_EQ(offload::sync(4095, [] { return offload::sync(0, fn<&next>, 7); }), 8);

  EXPECT_FALSE(offload::alive(4097)) << "there never was such a node";
  EXPECT_THROW(offload::sync(4098, fn<&next>, 1), node_failure);
  EXPECT_THROW(offload::sync(200, fn<&next>, 1), node_failure) << "nor this";
  EXPECT_THROW(offload::sync(5000, fn<&next>, 1), call_error);

  offload::remove_node(4099);
  EXPECT_THROW(offload::sync(4099, fn<&next>, 1), node_failure);
  // Its place rests for a second, then it is given to the next number that has it.
  std::this_thread::sleep_for(1100ms);
  node_t again = 0;
  ASSERT_TRUE(eventually([&] {
    number_from((offload::num_nodes() / 4096 + 1) * 4096 + 3);
    again = offload::add_node("shm:1");
    if (again % 4096 == 3) return true;
    offload::remove_node(again);  // the process before has not ended yet
    std::this_thread::sleep_for(100ms);
    return false;
  }));
  EXPECT_EQ(offload::sync(again, fn<&next>, 1), 2);
  EXPECT_EQ(offload::sync(2, fn<&next_there>, again, 5), 6) << "node 2 knew another one at this place";
  EXPECT_EQ(offload::sync(again, fn<&next_there>, 2, 5), 6);
  EXPECT_THROW(offload::sync(4099, fn<&next>, 1), node_failure);
  EXPECT_THROW(offload::sync(2, fn<&next_there>, 4099, 5), std::exception);
}

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
