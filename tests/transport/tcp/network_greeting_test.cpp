// How nodes meet: who is asked without reason is not, and who does not belong to the job is turned away.
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <optional>

#include "transport/tcp/handshake.hpp"
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

/// The node says that it is this one, node 2, of the job with this key.
void join_as_two(seat& who, int key, node_t self = 2) {
  network_options options = host_options({});
  options.self = self;
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

TEST(tcp_greeting, nobody_connects_to_a_host_that_has_not_invited_it) {
  job mine(1);
  seat stranger;
  join_as_two(stranger, 42, 4097);  // at the place of node 1
  stranger.at->reach(0, mine.host().at->address());
  EXPECT_NE(stranger.await_loss(0), "");
  EXPECT_EQ(mine.host().to(4097), nullptr);
  mine.host().send(1, 5);
  EXPECT_EQ(mine.node(1).receive(), 5U);
}

TEST(tcp_greeting, a_number_with_the_place_of_a_node_that_lives_is_turned_away) {
  job mine(2);
  mine.node(1).at->reach(2, mine.node(2).at->address());
  ASSERT_NE(mine.node(1).await(2), nullptr);
  ASSERT_NE(mine.node(2).await(1), nullptr);
  for (const node_t number : {4096, 4098}) {  // the host's place, and that of node 2
    seat stranger;
    join_as_two(stranger, 42, number);
    stranger.at->reach(1, mine.node(1).at->address());
    EXPECT_NE(stranger.await_loss(1), "");
    EXPECT_EQ(mine.node(1).to(number), nullptr);
  }
  mine.node(2).at->shutdown();
  EXPECT_NE(mine.node(1).await_loss(2), "");
  seat next;
  join_as_two(next, 42, 4098);
  next.at->reach(1, mine.node(1).at->address());
  EXPECT_NE(next.await(1), nullptr) << "its place is free";
}

/// Has no memory to take note of the first connection.
class choking_recorder final : public observer {
 public:
  void on_connected(endpoint& with) override {
    if (!choked_.exchange(true)) throw std::bad_alloc();
    news.on_connected(with);
  }
  void on_broken(node_t peer, const std::string& reason) override { news.on_broken(peer, reason); }
  void on_lost(node_t peer, const std::string& reason) override { news.on_lost(peer, reason); }

  recorder news;

 private:
  std::atomic<bool> choked_{false};
};

TEST(tcp_greeting, a_connection_for_which_there_is_no_memory_is_a_loss) {
  base::heap memory{base::heap::make_file()};
  choking_recorder observed;
  const recorder& news = observed.news;
  tcp_network host(host_options({}), job_of(42), &memory, observed);
  std::vector<std::unique_ptr<seat>> targets;
  for (const node_t node : {1, 2}) {
    tcp_listener waiting(listening({}));
    host.invite(node, waiting.address(), listening({}).key);
    seat& target = *targets.emplace_back(std::make_unique<seat>());
    target.at = waiting.wait()->join(&target.memory, target.news);
    ASSERT_TRUE(eventually([&] { return !news.lost(node).empty() || news.connected(node) != nullptr; }));
  }
  ASSERT_EQ(news.lost(1).size(), 1U);
  EXPECT_EQ(news.connected(1), nullptr);
  EXPECT_NE(news.connected(2), nullptr) << "others are taken";
  host.shutdown();
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

/// What tests/models/protocols/greeting.pml answers to who asks.
verdict model_answer(bool has_record, bool connecting, node_t self, node_t other) {
  if (has_record) return verdict::not_now;
  return connecting && self < other ? verdict::crossed : verdict::accepted;
}

/// Asks the node at `address` for a connection, in plaintext. Nothing: it was not answered.
std::optional<verdict> ask(const std::string& address, node_t from, node_t to, std::optional<connection>& accepted) {
  hello mine;
  mine.what = purpose::reach;
  mine.from = from;
  mine.to = to;
  mine.nonce = 99;
  mine.job = id_of(key_of(42), false);
  std::string why;
  const auto where = resolve(parse_address(address), false, why);
  handshake shaking(begin_connect(where.at(0), 4s, why), nullptr, mine);
  auto now = handshake::status::pending;
  EXPECT_TRUE(eventually([&] { return (now = shaking.step()) != handshake::status::pending; })) << why;
  if (now == handshake::status::greeted) accepted = shaking.take();
  const verdict answer = shaking.answer().answer;
  if (now != handshake::status::greeted && answer == verdict::accepted) return std::nullopt;
  return answer;
}

TEST(tcp_greeting, who_asks_is_answered_as_in_the_model) {
  for (const node_t self : {1, 2}) {
    const node_t other = 3 - self;
    for (const bool connecting : {false, true}) {
      SCOPED_TRACE("node " + std::to_string(self) + (connecting ? ", which connects itself" : ""));
      const base::unique_fd silent = listen_at(parse_address("127.0.0.1:0"), true);  // where the other never answers
      network_options options = host_options({.secure = false});
      options.self = self;
      options.timeout = 60s;
      seat node;
      node.at = std::make_unique<tcp_network>(options, id_of(key_of(42), false), &node.memory, node.news);
      if (connecting) node.at->reach(other, local_address(silent.get()).text());
      std::optional<connection> accepted;
      const auto first = ask(node.at->address(), other, self, accepted);
      EXPECT_EQ(first, model_answer(false, connecting, self, other));
      if (first == verdict::accepted) {
        EXPECT_NE(node.await(other), nullptr);
        EXPECT_EQ(ask(node.at->address(), other, self, accepted), model_answer(true, false, self, other));
      }
      node.at->shutdown();
    }
  }
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
