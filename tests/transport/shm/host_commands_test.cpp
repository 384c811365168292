// What is asked of a host's control thread arrives there, once; starts are waited for.
#include "transport/shm/host_commands.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <thread>

namespace ham::inline v1::transport::shm {
namespace {

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}
void await_readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 60'000), 1);
}

TEST(host_commands, are_taken_once) {
  host_commands commands;
  EXPECT_FALSE(readable(commands.fd()));
  commands.end(3, 1000);
  commands.forget(4);
  commands.forget(5);
  EXPECT_TRUE(readable(commands.fd()));
  const host_commands::batch asked = commands.take();
  ASSERT_EQ(asked.ending.size(), 1U);
  EXPECT_EQ(asked.ending[0], (std::pair<node_t, std::int64_t>(3, 1000)));
  EXPECT_EQ(asked.forgotten, (std::vector<node_t>{4, 5}));
  EXPECT_FALSE(asked.starts);
  EXPECT_FALSE(asked.stop);
  EXPECT_FALSE(readable(commands.fd()));
  const host_commands::batch none = commands.take();
  EXPECT_TRUE(none.ending.empty() && none.forgotten.empty());
}

TEST(host_commands, a_start_is_waited_for) {
  host_commands commands;
  std::string problem = "still waits";
  for (const std::string told : {"", "no memory"}) {
    std::thread asker([&] {
      try {
        commands.start({{2, {"app"}, {}, {}}}, 3);
        problem.clear();
      } catch (const config_error& failure) {
        problem = failure.what();
      }
    });
    await_readable(commands.fd());
    const host_commands::batch asked = commands.take();
    EXPECT_TRUE(asked.starts);
    EXPECT_EQ(asked.nodes, 3U);
    ASSERT_EQ(asked.plans.size(), 1U);
    EXPECT_EQ(asked.plans[0].node, 2);
    EXPECT_FALSE(commands.take().starts) << "once";
    commands.started(told);
    asker.join();
    EXPECT_EQ(problem, told);
  }
}

TEST(host_commands, the_end_is_asked_for_once) {
  host_commands commands;
  EXPECT_TRUE(commands.stop());
  EXPECT_FALSE(commands.stop());
  EXPECT_TRUE(readable(commands.fd()));
  EXPECT_TRUE(commands.take().stop);
}

TEST(host_commands, nobody_waits_for_a_start_behind_the_end) {
  host_commands commands;
  std::string problem;
  std::thread asker([&] {
    try {
      commands.start({{2, {"app"}, {}, {}}}, 3);
    } catch (const config_error& failure) {
      problem = failure.what();
    }
  });
  await_readable(commands.fd());  // the start is asked for, and not taken yet
  EXPECT_TRUE(commands.stop());
  EXPECT_TRUE(commands.take().stop);
  asker.join();
  EXPECT_NE(problem.find("about to end"), std::string::npos) << problem;
  EXPECT_THROW(commands.start({{2, {"app"}, {}, {}}}, 3), config_error) << "later";
}

}  // namespace
}  // namespace ham::transport::shm
