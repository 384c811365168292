// What can be added to a job, and what happens when a start fails.
#include "job/membership.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "job/members.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

class members_of_a_job : public played_members {
 protected:
  void SetUp() override { host_->owner = &job_; }
  void TearDown() override { ::unsetenv("HAM_TCP_SECURITY"); }
};

TEST_F(members_of_a_job, are_of_kinds_that_can_be_added) {
  const auto add = [&](const char* group) { return problem_with([&] { members_.add(group); }); };
  EXPECT_EQ(add("loopback:2"), "loopback targets cannot be added to a job of other targets");
  EXPECT_EQ(add("parent"), "parent is for processes that spawn has started");
  EXPECT_EQ(add("none"), "there is no node to add in \"none\"");
  EXPECT_EQ(add("mpi"), "say how many processes MPI shall start, as in mpi:4");
  EXPECT_EQ(problem_with([&] { members_.add(offload::target_program{}); }),
            "a target needs a command to be started by");
  EXPECT_EQ(problem_with([&] { members_.spawn("exec:./other", "./app"); }),
            "cannot start ./app as \"exec:./other\" (only shm:COUNT and mpi:COUNT start programs)");
  EXPECT_EQ(problem_with([&] { members_.remove(0, std::chrono::milliseconds(1)); }),
            "the host cannot be removed; leave main to end the job");
  EXPECT_EQ(host_->peers.size(), 1U) << "nothing has come of all that";
}

TEST_F(members_of_a_job, start_all_or_not_at_all) {
  starts_log good;
  starts_log bad;
  bad.why_lost = "it stumbled";
  const starting_played lives(good);
  const starting_played dies(bad);
  const std::string problem = problem_with([&] { members_.start({target_group(dies, 2), target_group(lives)}); });
  EXPECT_NE(problem.find("no start of target 1 ("), std::string::npos) << problem;
  EXPECT_NE(problem.find("it stumbled"), std::string::npos) << problem;
  EXPECT_EQ(good.started.size(), 1U);
  EXPECT_EQ(good.ended, (std::vector<node_t>{1, 2, 3})) << "also who could have lived";
  EXPECT_EQ(bad.ended, good.ended);
  EXPECT_TRUE(host_->peers.ready_nodes(host_->self()).empty());
}

TEST_F(members_of_a_job, have_numbers_whose_places_are_free) {
  starts_log log;
  log.why_lost = "it stumbled";
  const starting_played by(log);
  const auto number_of_next = [&] {
    problem_with([&] { members_.start({target_group(by)}); });
    return log.started.back().at(0).node;
  };
  EXPECT_EQ(number_of_next(), 1);
  EXPECT_EQ(number_of_next(), 2) << "no number is used twice";
  log.placed = 3;
  EXPECT_EQ(number_of_next(), 4) << "a process still has the place of 3";
}

/// Whoever it invites does not come.
class refusing_network final : public silent<wire::network> {
 public:
  explicit refusing_network(wire::observer& to) : to_(to) {}
  void invite(node_t peer, const std::string&, const std::optional<wire::secret_key>&) override {
    to_.on_lost(peer, "nobody is there");
  }
  void reach(node_t, const std::string&) override {}
  [[nodiscard]] std::string address() const override { return {}; }
  void leave(node_t) noexcept override {}

 private:
  wire::observer& to_;
};

TEST_F(members_of_a_job, that_are_invited_are_named_by_their_address_when_they_do_not_come) {
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  refusing_network network(host_->events);
  directory_.use_network(network);
  const network_played waiting;
  const std::string problem = problem_with([&] { members_.start({waiting.at("host", 7000)}); });
  EXPECT_NE(problem.find("waiting://host:7000 cannot be reached as target 1 ("), std::string::npos) << problem;
  EXPECT_NE(problem.find("nobody is there"), std::string::npos) << problem;
  EXPECT_FALSE(directory_.address_of(1));
}

/// Ranks of a launcher, which do not greet.
class played_ranks final : public wire::process_group {
 public:
  [[nodiscard]] std::size_t size() const noexcept override { return 3; }
  [[nodiscard]] node_t first() const noexcept override { return 1; }
  [[nodiscard]] node_t self() const noexcept override { return 0; }
  [[nodiscard]] bool for_any_thread() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<wire::transport> open(base::heap*, wire::observer& to) override {
    return std::make_unique<losing>(to);
  }

 private:
  class losing final : public silent<wire::transport> {
   public:
    explicit losing(wire::observer& to) : to_(to) {}
    void connect(node_t peer) override { to_.on_lost(peer, "it has not begun MPI"); }

   private:
    wire::observer& to_;
  };
};

TEST_F(members_of_a_job, can_be_the_ranks_of_a_launcher) {
  played_ranks ranks;
  const std::string problem = problem_with([&] { members_.take(ranks); });
  EXPECT_NE(problem.find("no start of target 1 ("), std::string::npos) << problem;
  EXPECT_NE(problem.find("it has not begun MPI"), std::string::npos) << problem;
  EXPECT_TRUE(directory_.has_ranks());
  EXPECT_EQ(host_->peers.size(), 3U);
}

}  // namespace
}  // namespace ham::detail
