// Nodes in one process: who is there is connected once, memory is checked, and who leaves is told to the others.
#include "transport/loopback/transport.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "conformance/subject.hpp"

namespace ham::inline v1::transport::loopback {
namespace {

using conformance::recorder;

struct member {
  base::heap memory{base::heap::make_file()};
  recorder news;
  std::optional<node_transport> at;

  void join(const std::shared_ptr<cluster>& job, node_t self, bool one_sided = true) {
    at.emplace(job, self, one_sided ? &memory : nullptr, news);
  }
  endpoint* to(node_t peer) {
    frame none;
    EXPECT_EQ(at->poll(none, 1), nullptr);
    return news.connected(peer);
  }
};

TEST(loopback_transport, connects_two_nodes_once) {
  const auto job = std::make_shared<cluster>(3);
  member zero, one;
  zero.join(job, 0);
  one.join(job, 1);
  EXPECT_STREQ(zero.at->name(), "loopback");
  zero.at->connect(1);
  one.at->connect(0);
  endpoint* const there = zero.to(1);
  ASSERT_NE(there, nullptr);
  ASSERT_NE(one.to(0), nullptr);
  EXPECT_EQ(there->peer(), 1);
  zero.at->connect(1);
  EXPECT_EQ(zero.to(1), there) << "another one would have taken its place";
  std::byte* const room = there->reserve(1);
  ASSERT_NE(room, nullptr);
  *room = std::byte{7};
  there->commit({1, 2, 3});
  frame got;
  endpoint* const from = one.at->poll(got, 100);
  ASSERT_NE(from, nullptr);
  EXPECT_EQ(from->peer(), 0);
  EXPECT_EQ(got.payload[0], std::byte{7});
  from->release();
}

TEST(loopback_transport, who_is_not_there_is_lost) {
  const auto job = std::make_shared<cluster>(3);
  member zero;
  zero.join(job, 0);
  zero.at->connect(2);
  EXPECT_EQ(zero.news.lost(2), std::vector<std::string>{"it has left"});
}

TEST(loopback_transport, tells_those_who_are_connected_that_a_node_leaves) {
  const auto job = std::make_shared<cluster>(3);
  member zero, one, two;
  zero.join(job, 0);
  one.join(job, 1);
  two.join(job, 2);
  zero.at->connect(1);
  one.at->shutdown();
  one.at->shutdown();
  EXPECT_EQ(zero.news.lost(1), std::vector<std::string>{"it has left"}) << "once";
  EXPECT_TRUE(two.news.lost(1).empty()) << "it did not know it";
  two.at->connect(1);
  EXPECT_EQ(two.news.lost(1).size(), 1U);
}

TEST(loopback_transport, checks_every_access_to_a_peers_memory) {
  const auto job = std::make_shared<cluster>(2);
  member zero, one;
  zero.join(job, 0);
  one.join(job, 1);
  zero.at->connect(1);
  ASSERT_NE(zero.to(1), nullptr);
  const std::shared_ptr<remote_memory> there = zero.to(1)->memory();
  ASSERT_NE(there, nullptr);
  const auto place = one.memory.allocate(8);
  const auto address = reinterpret_cast<std::uint64_t>(place.address);
  std::uint64_t word = 42;
  EXPECT_EQ(there->put(address, place.tag, reinterpret_cast<std::byte*>(&word), 8), access_result::done);
  EXPECT_EQ(*static_cast<std::uint64_t*>(place.address), 42U);
  EXPECT_EQ(there->put(address, place.tag, reinterpret_cast<std::byte*>(&word), 9), access_result::out_of_range);
  EXPECT_EQ(there->get(address + 8, place.tag, reinterpret_cast<std::byte*>(&word), 1), access_result::out_of_range);
  EXPECT_EQ(there->get(address, place.tag + 1, reinterpret_cast<std::byte*>(&word), 8), access_result::stale);
  EXPECT_EQ(word, 42U);
}

TEST(loopback_transport, has_no_access_to_memory_that_was_not_given) {
  const auto job = std::make_shared<cluster>(2);
  member zero, one;
  zero.join(job, 0);
  one.join(job, 1, false);
  zero.at->connect(1);
  ASSERT_NE(zero.to(1), nullptr);
  EXPECT_EQ(zero.to(1)->memory(), nullptr);
  EXPECT_NE(one.to(0)->memory(), nullptr) << "the other way there is";
}

}  // namespace
}  // namespace ham::transport::loopback
