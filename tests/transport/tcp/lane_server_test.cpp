// Serving lanes: each on a thread of its own, as many per peer as it may, until they are cut.
#include "transport/tcp/lane_server.hpp"

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class lane_servers : public testing::Test {
 protected:
  /// A lane to `server`, as the given peer.
  std::unique_ptr<lane> connect(lane_server& server, node_t peer) {
    auto [here, there] = connected_to(listening_.get());
    server.serve(peer, connection{make_stream(std::move(there), nullptr), 0});
    return std::make_unique<lane>(connection{make_stream(std::move(here), nullptr), 0});
  }
  /// What a check of `address` is answered; nothing: the lane has ended.
  static std::optional<bulk_answer> ask(lane& on, std::uint64_t address, std::uint64_t tag) {
    std::array<std::byte, bulk_request::bytes> request;
    std::array<std::byte, answer_bytes> bytes;
    bulk_answer answer{};
    store_request(request.data(), {bulk_verb::check, address, tag, 8});
    if (!on.send(request) || !on.receive(bytes) || !read_answer(bytes, answer)) return std::nullopt;
    return answer;
  }

  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  base::heap memory_{base::heap::make_file()};
};

TEST_F(lane_servers, serve_several_lanes_at_once) {
  lane_server server(&memory_);
  const auto there = memory_.allocate(64);
  const auto address = reinterpret_cast<std::uint64_t>(there.address);
  const auto first = connect(server, 1);
  const auto second = connect(server, 1);
  const auto other = connect(server, 2);
  EXPECT_EQ(server.count(1), 2U);
  EXPECT_EQ(server.count(2), 1U);
  for (lane* const one : {first.get(), second.get(), other.get()}) {
    EXPECT_EQ(ask(*one, address, there.tag), bulk_answer::go);
    EXPECT_EQ(ask(*one, address, there.tag + 1), bulk_answer::stale);
  }
}

TEST_F(lane_servers, refuse_everything_without_memory) {
  lane_server server(nullptr);
  const auto one = connect(server, 1);
  EXPECT_EQ(ask(*one, 4096, 1), bulk_answer::unsupported);
}

TEST_F(lane_servers, hang_up_on_one_too_many) {
  lane_server server(nullptr);
  std::vector<std::unique_ptr<lane>> lanes;
  for (std::size_t i = 0; i < lane_server::max_lanes_per_peer; ++i) lanes.push_back(connect(server, 1));
  const auto too_many = connect(server, 1);
  EXPECT_EQ(ask(*too_many, 4096, 1), std::nullopt);
  const auto of_another = connect(server, 2);
  EXPECT_EQ(ask(*of_another, 4096, 1), bulk_answer::unsupported);
  lanes.pop_back();
  ASSERT_TRUE(eventually([&] { return server.count(1) < lane_server::max_lanes_per_peer; }));
  const auto again = connect(server, 1);
  EXPECT_EQ(ask(*again, 4096, 1), bulk_answer::unsupported);
}

TEST_F(lane_servers, cut_the_lanes_of_one_peer) {
  lane_server server(nullptr);
  const auto first = connect(server, 1);
  const auto second = connect(server, 2);
  server.cut(1);
  EXPECT_EQ(ask(*first, 4096, 1), std::nullopt);
  EXPECT_EQ(ask(*second, 4096, 1), bulk_answer::unsupported);
  ASSERT_TRUE(eventually([&] { return server.count(1) == 0; }));
  server.reap();
  EXPECT_EQ(server.count(2), 1U);
}

TEST_F(lane_servers, end_them_all) {
  lane_server server(nullptr);
  const auto one = connect(server, 1);
  server.stop();
  EXPECT_EQ(ask(*one, 4096, 1), std::nullopt);
  const auto late = connect(server, 1);
  EXPECT_EQ(ask(*late, 4096, 1), std::nullopt);
  EXPECT_EQ(server.count(1), 0U);
}

}  // namespace
}  // namespace ham::transport::tcp::test
