// How nodes meet: who is asked without reason is not, and who does not belong to the job is turned away.
#include <gtest/gtest.h>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

std::string refusal_of(network& by, node_t peer, const std::string& address, const std::optional<secret_key>& key) {
  try {
    by.invite(peer, address, key);
  } catch (const config_error& problem) {
    return problem.what();
  }
  return {};
}

TEST(tcp_greeting, security_is_for_all_nodes_of_a_job_or_for_none) {
  job_options open;
  open.secure = false;
  job insecure(0, open);
  if (tls_built()) {
    EXPECT_EQ(refusal_of(*insecure.host().at, 1, "127.0.0.1:1", key_of(7)),
              "node 1 at 127.0.0.1:1 cannot be invited by key (this job runs without security); use security for all "
              "nodes of a job or for none");
    job secure(0);
    EXPECT_EQ(
        refusal_of(*secure.host().at, 1, "127.0.0.1:1", std::nullopt),
        "node 1 at 127.0.0.1:1 cannot be invited without its key (this job is secure); use security for all nodes "
        "of a job or for none");
  }
}

TEST(tcp_greeting, an_address_that_is_none_is_refused_at_once) {
  job_options open;
  open.secure = false;
  job all(0, open);
  EXPECT_NE(refusal_of(*all.host().at, 1, "127.0.0.1", std::nullopt), "");
  EXPECT_THROW(all.host().at->reach(1, "nowhere"), config_error);
  EXPECT_TRUE(all.host().news.lost(1).empty()) << "nothing was begun";
}

/// The node says that it is node 2 of the job with this key.
void join_as_two(seat& who, int key) {
  network_options options = host_options({});
  options.self = 2;
  who.at = std::make_unique<tcp_network>(options, job_of(key), &who.memory, who.news);
}

TEST(tcp_greeting, a_node_of_another_job_is_turned_away) {
  job mine(1);
  seat stranger;
  join_as_two(stranger, 43);
  stranger.at->reach(1, mine.node(1).at->address());
  EXPECT_NE(stranger.await_loss(1), "");
  EXPECT_EQ(mine.node(1).to(2), nullptr);
}

TEST(tcp_greeting, a_node_with_another_number_is_turned_away) {
  job mine(1);
  seat other;
  join_as_two(other, 42);
  other.at->reach(5, mine.node(1).at->address());  // where node 1 listens
  EXPECT_NE(other.await_loss(5), "");
  EXPECT_EQ(mine.node(1).to(2), nullptr);
}

TEST(tcp_greeting, a_second_connection_to_the_same_node_is_none) {
  job mine(2);
  seat& one = mine.node(1);
  seat& two = mine.node(2);
  one.at->reach(2, two.at->address());
  endpoint* const first = one.await(2);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(two.await(1), nullptr);
  one.at->reach(2, two.at->address());
  two.at->reach(1, one.at->address());
  one.send(2, 5);
  EXPECT_EQ(two.receive(), 5U);
  EXPECT_EQ(one.to(2), first);
  EXPECT_TRUE(one.news.lost(2).empty());
}

TEST(tcp_greeting, nobody_at_the_address_is_a_loss_with_the_address) {
  job mine(0);
  std::string address;
  {
    const tcp_listener gone(listening({}));
    address = gone.address();
  }
  mine.host().at->invite(1, address, listening({}).key);
  const std::string why = mine.host().await_loss(1);
  EXPECT_EQ(why.find("cannot connect to " + address + ": "), 0U) << why;
  mine.host().at->invite(1, address, listening({}).key);
  EXPECT_TRUE(eventually([&] { return mine.host().news.lost(1).size() == 2; })) << "it may be tried again";
}

}  // namespace
}  // namespace ham::transport::tcp::test
