// What a target does from its start to its end, and what it is told by its environment.
#include "job/run_target.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "job/played.hpp"
#include "transport/common/veo_welcome.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

TEST(run_target, serves_until_it_is_over) {
  std::vector<std::string> steps;
  engine* target = nullptr;
  target_boot boot;
  boot.self = 2;
  boot.nodes = 5;
  boot.open = [&](engine& made, node_directory&) {
    target = &made;
    EXPECT_EQ(made.self(), 2);
    EXPECT_EQ(made.peers.size(), 5U);
    EXPECT_NE(made.owner, nullptr) << "it belongs to a job";
    steps.emplace_back("open");
    return std::make_unique<silent_transport>();
  };
  boot.join = [&] {
    EXPECT_EQ(process_engine(), target);
    steps.emplace_back("join");
    target->end();
  };
  boot.ended = [&] { steps.emplace_back("ended"); };
  lone_node before;
  set_process_engine(&*before);
  EXPECT_EQ(run_target(std::move(boot)), nullptr) << "the job has ended";
  EXPECT_EQ(steps, (std::vector<std::string>{"open", "join", "ended"}));
  EXPECT_EQ(process_engine(), &*before) << "as it was";
  set_process_engine(nullptr);
}

TEST(run_target, comes_back_for_main_and_goes_on_as_a_node) {
  bool ended = false;
  engine* target = nullptr;
  target_boot boot;
  boot.open = [&](engine& made, node_directory&) {
    target = &made;
    return std::make_unique<silent_transport>();
  };
  boot.join = [&] {
    const auto request = pack(main_request{kind_of(notice::run_main), {"app", "-v"}, false});
    target->locked([&] { target->owner->on_notice(0, request); });
  };
  boot.ended = [&] { ended = true; };
  {
    const target_of_main waiting = run_target(std::move(boot));
    ASSERT_NE(waiting, nullptr);
    EXPECT_FALSE(ended);
    EXPECT_EQ(&waiting->node(), target);
    EXPECT_EQ(process_engine(), target);
    EXPECT_EQ(waiting->arguments(), (std::vector<std::string>{"app", "-v"}));
    target->end();  // as the host's goodbye
    waiting->end_main(0, true);
    EXPECT_TRUE(ended);
  }
  EXPECT_EQ(process_engine(), nullptr);
}

TEST(run_target, is_for_processes_that_a_host_has_started) {
  ::unsetenv("HAM_TARGET");
  EXPECT_FALSE(is_target_process());
  for (const char* set : {"", "shm", "smoke_signals:3", "tcp:3", "loopback:1", "veo:1"}) {
    ::setenv("HAM_TARGET", set, 1);
    EXPECT_TRUE(is_target_process());
    EXPECT_EQ(problem_with([] { static_cast<void>(run_target_process()); }),
              "HAM_TARGET=\"" + std::string(set) + "\" is not what a host of this release sets; unset it");
    EXPECT_FALSE(is_target_process()) << "what this process starts is no target";
  }
}

TEST(run_target, is_called_with_what_a_host_of_this_release_has_left) {
  transport::veo::welcome said;
  said.version = 1;
  EXPECT_NE(problem_with([&] {
              run_called_target(reinterpret_cast<std::uintptr_t>(&said));
            }).find("build host and target from the same one"),
            std::string::npos);
  said = {};
  said.node = 1;
  said.nodes = 2;
  said.place = static_cast<transport::veo::ring_place>(99);
  EXPECT_NE(problem_with([&] {
              run_called_target(reinterpret_cast<std::uintptr_t>(&said));
            }).find("a ring in a place unknown here"),
            std::string::npos);
}

}  // namespace
}  // namespace ham::detail
