// Jobs whose nodes are threads of this process, or the host alone.
#include "job/start.hpp"

#include <gtest/gtest.h>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

runtime_options with(const char* nodes) {
  runtime_options options;
  options.nodes = nodes;
  return options;
}

TEST(start_job, makes_the_nodes_that_are_asked_for) {
  {
    const auto parts = start_job(with("loopback:2,loopback:1"), {"./app"});
    EXPECT_EQ(parts->self, 0);
    EXPECT_EQ(parts->host->peers.size(), 4U);
    EXPECT_EQ(parts->local_targets.size(), 3U);
    EXPECT_EQ(parts->host->peers.ready_nodes(0).size(), 3U);
    EXPECT_EQ(process_engine(), parts->host.get());
  }
  EXPECT_EQ(process_engine(), nullptr);
}

TEST(start_job, may_begin_with_the_host_alone) {
  const auto parts = start_job(with("none"), {"./app"});
  EXPECT_EQ(parts->host->peers.size(), 1U);
  ASSERT_NE(parts->members, nullptr) << "nodes can be added";
  EXPECT_EQ(parts->host->owner, parts->job.get());
}

TEST(start_job, the_last_one_that_lives_is_the_process_s) {
  auto first = start_job(with("none"), {"./app"});
  auto second = start_job(with("loopback:1"), {"./app"});
  engine* const of_first = first->host.get();
  EXPECT_EQ(process_engine(), second->host.get());
  second.reset();
  EXPECT_EQ(process_engine(), of_first);
  second = start_job(with("none"), {"./app"});
  first.reset();
  EXPECT_EQ(process_engine(), second->host.get());
}

TEST(start_job, leaves_nothing_behind_when_it_fails) {
  EXPECT_THROW(static_cast<void>(start_job(with("smoke_signals:1"), {"./app"})), config_error);
  runtime_options options = with("none");
  options.cpu_affinity = "some";
  EXPECT_THROW(static_cast<void>(start_job(options, {"./app"})), config_error);
  options.cpu_affinity = "4095";
  EXPECT_NE(
      problem_with([&] { static_cast<void>(start_job(options, {"./app"})); }).find("cannot run the host on core 4095"),
      std::string::npos);
  EXPECT_EQ(process_engine(), nullptr);
}

}  // namespace
}  // namespace ham::detail
