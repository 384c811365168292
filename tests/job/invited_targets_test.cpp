// Keys and rounds of invitations.
#include "job/invited_targets.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

class invitations : public testing::Test {
 protected:
  void SetUp() override { directory_.use_network(network_); }
  void TearDown() override { ::unsetenv("HAM_TCP_SECURITY"); }

  lone_node host_;
  node_directory directory_{*host_, {}};
  silent_network network_;
};

void prepare(invited_targets& targets, const std::vector<target_group>& groups) {
  targets.prepare(plan_targets(groups, 1, 1));
}

TEST_F(invitations, are_for_those_who_wait_at_an_address) {
  starts_log log;
  const starting_played started(log);
  const network_played waiting;
  EXPECT_FALSE(is_invited(target_group(started)));
  EXPECT_TRUE(is_invited(waiting.at("host", 7000)));
  EXPECT_EQ(name_of_server(waiting.at("fe80::7", 7000)), "waiting://[fe80::7]:7000");
}

TEST_F(invitations, want_a_key_that_can_be_shown) {
  const network_played waiting;
  invited_targets keyless(*host_, directory_, "");
  EXPECT_NE(problem_with([&] {
              prepare(keyless, {waiting.at("host", 7000)});
            }).find("cannot reach waiting://host:7000 (no key was given to show there)"),
            std::string::npos);
  prepare(keyless, {});
  const network_played insecure("no cipher");
  EXPECT_NE(problem_with([&] {
              prepare(keyless, {insecure.at("host", 7000)});
            }).find("cannot reach waiting://host:7000 with a key (no cipher)"),
            std::string::npos);
  invited_targets wrong(*host_, directory_, "/nowhere/key");
  EXPECT_NE(problem_with([&] { prepare(wrong, {waiting.at("host", 7000)}); }).find("/nowhere/key"), std::string::npos);
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  prepare(keyless, {waiting.at("host", 7000), insecure.at("host", 7000)});
}

TEST_F(invitations, of_one_process_are_made_in_turn) {
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  starts_log log;
  const starting_played started(log);
  const network_played waiting;
  const std::vector<target_group> groups{waiting.at("a", 1, 2), target_group(started, 3), waiting.at("b", 2)};
  ASSERT_TRUE(host_->peers.grow_to(7));
  invited_targets targets(*host_, directory_, "");
  std::vector<node_t> awaited;
  targets.invite(plan_targets(groups, 1, 1), [&](node_t number, const target_group&) { awaited.push_back(number); });
  using invitation = std::pair<node_t, std::string>;
  EXPECT_EQ(network_.invited, (std::vector<invitation>{{1, "a:1"}, {6, "b:2"}, {2, "a:1"}}));
  EXPECT_EQ(network_.keys, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(awaited, (std::vector<node_t>{1, 6, 2}));
}

TEST_F(invitations, tell_no_address_of_who_does_not_listen) {
  const network_played waiting;
  ASSERT_TRUE(host_->peers.grow_to(2));
  invited_targets targets(*host_, directory_, "");
  targets.learn_address(1, waiting.at("host", 7000));
  EXPECT_FALSE(directory_.address_of(1));
}

}  // namespace
}  // namespace ham::detail
