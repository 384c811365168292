// What a simulated node does when others come and go.
#include "transport/sim/transport.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "conformance/subject.hpp"
#include "transport/sim/plain_director.hpp"

namespace ham::inline v1::transport::sim {
namespace {

using conformance::recorder;
using namespace std::chrono_literals;

TEST(sim_transport, cannot_connect_to_who_is_not_there) {
  plain_director director;
  network among(director);
  recorder news;
  node_transport one(among, 0, nullptr, news);
  one.connect(5);
  EXPECT_FALSE(news.lost(5).empty());
}

TEST(sim_transport, hears_of_who_leaves) {
  plain_director director;
  network among(director);
  recorder news;
  recorder other_news;
  node_transport one(among, 0, nullptr, news);
  auto other = std::make_unique<node_transport>(among, 1, nullptr, other_news);
  one.connect(1);
  EXPECT_TRUE(eventually([&] { return news.connected(1) != nullptr; }));
  EXPECT_EQ(news.connected(1)->memory(), nullptr) << "it has none to offer";
  other.reset();
  EXPECT_TRUE(eventually([&] { return !news.lost(1).empty(); }));
}

TEST(sim_transport, forgets_an_endpoint_with_the_next_poll) {
  plain_director director;
  network among(director);
  recorder news;
  recorder other_news;
  node_transport one(among, 0, nullptr, news);
  node_transport other(among, 1, nullptr, other_news);
  one.connect(1);
  EXPECT_TRUE(eventually([&] { return news.connected(1) != nullptr && other_news.connected(0) != nullptr; }));
  endpoint& from = *other_news.connected(0);
  frame none;
  EXPECT_EQ(other.poll(none, 1), nullptr);
  other.forget(from);
  EXPECT_NE(news.connected(1)->reserve(4), nullptr);
  news.connected(1)->commit({1, 0, 1});
  EXPECT_EQ(other.poll(none, 1), nullptr);
}

}  // namespace
}  // namespace ham::transport::sim
