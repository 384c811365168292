// Jobs over tcp: who meets whom, how losses are told, what leaves when nobody calls, memory in both directions.
#include "transport/tcp/network.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/clock.hpp"
#include "transport/tcp/connector.hpp"
#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

TEST(tcp_network, names_and_ipv6) {
  job_options how;
  how.listen = "localhost:0";
  how.host_bind = "localhost";
  job by_name(1, how);
  by_name.host().send(1, 5);
  EXPECT_EQ(by_name.node(1).receive(), 5U);
  std::string why;
  how.listen = "[::1]:0";
  how.host_bind = "::1";
  try {
    static_cast<void>(listen_at(parse_address(how.listen), true));
  } catch (const config_error&) {
    GTEST_SKIP() << "no IPv6 here";
  }
  job six(2, how);
  EXPECT_EQ(six.node(1).at->address().substr(0, 6), "[::1]:");
  six.node(1).at->reach(2, six.node(2).at->address());
  ASSERT_NE(six.node(1).await(2), nullptr);
  ASSERT_NE(six.node(2).await(1), nullptr);
  six.node(2).send(1, 6);
  EXPECT_EQ(six.node(1).receive(), 6U);
}

TEST(tcp_network, a_host_name_is_resolved_beside) {
  job_options how;
  seat host;
  host.at = std::make_unique<tcp_network>(host_options(how), job_of(42), &host.memory, host.news);
  tcp_listener waiting(listening(how));
  const std::string port = waiting.address().substr(waiting.address().rfind(':'));
  host.at->invite(1, "localhost" + port, listening(how).key);
  seat target;
  target.at = waiting.wait()->join(&target.memory, target.news);
  ASSERT_NE(host.await(1), nullptr);
  host.at->invite(2, "name.invalid:7000", listening(how).key);
  EXPECT_NE(host.await_loss(2).find("name.invalid:7000"), std::string::npos);
}

TEST(tcp_network, targets_meet_whoever_begins_also_both_at_once) {
  job four(4);
  four.node(1).at->reach(2, four.node(2).at->address());
  four.node(4).at->reach(3, four.node(3).at->address());
  for (const auto& [one, other] : {std::pair<std::size_t, std::size_t>{1, 2}, {3, 4}}) {
    ASSERT_NE(four.node(one).await(static_cast<node_t>(other)), nullptr);
    ASSERT_NE(four.node(other).await(static_cast<node_t>(one)), nullptr);
  }
  for (int i = 0; i < 10; ++i) {
    job two(2);
    std::thread first([&] { two.node(1).at->reach(2, two.node(2).at->address()); });
    two.node(2).at->reach(1, two.node(1).at->address());
    first.join();
    ASSERT_NE(two.node(1).await(2), nullptr);
    ASSERT_NE(two.node(2).await(1), nullptr);
    two.node(1).send(2, 12);
    two.node(2).send(1, 21);
    EXPECT_EQ(two.node(2).receive(), 12U);
    EXPECT_EQ(two.node(1).receive(), 21U);
    EXPECT_TRUE(two.node(1).news.lost(2).empty());
    EXPECT_TRUE(two.node(2).news.lost(1).empty());
  }
}

TEST(tcp_network, connect_knows_only_who_is_connected) {
  job one(1);
  one.host().at->connect(1);
  one.host().at->connect(7);
  EXPECT_NE(one.host().await_loss(7).find("no address"), std::string::npos);
  EXPECT_TRUE(one.host().news.lost(1).empty());
}

TEST(tcp_network, nobody_there) {
  std::string address;
  {
    const base::unique_fd taken = listen_at(parse_address("127.0.0.1:0"), true);
    address = local_address(taken.get()).text();
  }
  seat host;
  host.at = std::make_unique<tcp_network>(host_options({}), job_of(42), &host.memory, host.news);
  host.at->invite(1, address, listening({}).key);
  const std::string why = host.await_loss(1);
  EXPECT_NE(why.find(address), std::string::npos) << why;
  EXPECT_NE(why.find("refused"), std::string::npos) << why;
}

TEST(tcp_network, somebody_who_says_nothing) {
  job_options how;
  how.timeout = 300ms;
  const base::unique_fd silent = listen_at(parse_address("127.0.0.1:0"), true);
  seat node;
  network_options options = host_options(how);
  options.self = 3;
  node.at = std::make_unique<tcp_network>(options, job_of(42), &node.memory, node.news);
  node.at->reach(1, local_address(silent.get()).text());
  EXPECT_NE(node.await_loss(1).find("did not answer in time"), std::string::npos);
}

TEST(tcp_network, an_orderly_end_is_told_as_such) {
  job two(2);
  two.node(1).send(0, 1);
  two.node(1).at->shutdown();
  EXPECT_EQ(two.host().receive(), 1U);
  EXPECT_NE(two.host().await_loss(1).find("it has left"), std::string::npos) << two.host().await_loss(1);
  two.host().at->leave(2);
  EXPECT_NE(two.node(2).await_loss(0).find("it has left"), std::string::npos);
  EXPECT_EQ(two.host().to(2)->state(), endpoint_state::closed);
  EXPECT_TRUE(two.host().news.lost(2).empty()) << "by order";
  frame nothing;
  EXPECT_FALSE(two.host().to(2)->poll(nothing));
}

/// The target reads late, what it sent is unread at the leaving host, whose I/O thread is kept busy by strangers.
TEST(tcp_network, an_orderly_end_loses_nothing_that_was_sent) {
  for (int round = 0; round < ham::test::unless_sanitized(20, 6); ++round) {
    job one(1);
    std::string why;
    const socket_address busy = resolve(parse_address(one.host().at->address()), false, why).at(0);
    std::atomic<bool> stop{false};
    std::thread strangers([&] {
      while (!stop.load()) static_cast<void>(begin_connect(busy, 4s, why));
    });
    for (std::uint32_t i = 0; i < 10; ++i) one.node(1).send(0, i);
    const std::uint32_t count = 200;
    for (std::uint32_t i = 0; i < count; ++i) one.host().send(1, i, pattern(4000));
    std::chrono::steady_clock::duration took{};
    std::thread leaves([&] {
      const auto begin = std::chrono::steady_clock::now();
      one.host().at->shutdown();
      took = std::chrono::steady_clock::now() - begin;
    });
    std::this_thread::sleep_for(5ms);
    std::uint32_t got = 0;
    while (got < count && one.node(1).receive(5s) == got) ++got;
    leaves.join();
    stop.store(true);
    strangers.join();
    // It waits for a second: if the machine was that busy, the round says nothing.
    ASSERT_TRUE(got == count || took > 900ms) << "round " << round << ": " << got;
  }
}

TEST(tcp_network, sending_to_the_lost_and_the_left_does_nothing) {
  job two(2);
  two.node(1).at.reset();
  static_cast<void>(two.host().await_loss(1));
  two.host().at->leave(2);
  for (int i = 0; i < 1000; ++i) {
    for (const node_t gone : {1, 2}) {
      std::byte* const room = two.host().to(gone)->reserve(5000);
      ASSERT_NE(room, nullptr);
      std::memset(room, 1, 5000);
      two.host().to(gone)->commit({1, 1, 1});
    }
  }
}

TEST(tcp_network, what_was_gathered_leaves_though_nobody_calls_again) {
  job one(1);
  for (std::uint32_t burst = 0; burst < 20; ++burst) {
    for (std::uint32_t i = 0; i < 50; ++i) one.host().send(1, i, bytes(20));
    for (std::uint32_t i = 0; i < 50; ++i) ASSERT_EQ(one.node(1).receive(), i);
  }
}

TEST(tcp_network, a_busy_peer_does_not_shut_out_the_others) {
  job three(3);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      if (three.node(1).to(0)->reserve(10) != nullptr) three.node(1).to(0)->commit({1, 0, 1});
    }
  });
  for (int i = 0; i < 20; ++i) {
    three.node(2).send(0, 2);
    three.node(3).send(0, 3);
    bool two = false;
    bool of_three = false;
    EXPECT_TRUE(eventually([&] {
      for (int j = 0; j < 1000; ++j) {
        const auto key = three.host().receive(1ms);
        two = two || key == 2U;
        of_three = of_three || key == 3U;
      }
      return two && of_three;
    }));
  }
  stop = true;
  busy.join();
}

TEST(tcp_network, many_quiet_peers_wake_a_sleeper) {
  job many(12);
  frame nothing;
  while (many.host().at->poll(nothing, 1) != nullptr) nothing = {};
  for (std::size_t i = 1; i <= 12; ++i) {
    std::thread later([&] {
      std::this_thread::sleep_for(2ms);
      many.node(i).send(0, static_cast<std::uint32_t>(i));
    });
    std::optional<std::uint32_t> got;
    EXPECT_TRUE(eventually([&] {
      conformance::sleep_on(*many.host().at, 10s);
      got = many.host().receive(0ms);
      return got.has_value();
    }));
    EXPECT_EQ(got, static_cast<std::uint32_t>(i));
    later.join();
  }
}

TEST(tcp_network, room_wakes_a_sleeper) {
  job one(1);
  endpoint& to = *one.host().to(1);
  while (to.reserve(100'000) != nullptr) to.commit({1, 0, 1});
  std::thread reader([&] {
    std::this_thread::sleep_for(50ms);
    while (one.node(1).receive(1s)) {
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] {
    conformance::sleep_on(*one.host().at, 10s);
    return to.reserve(100'000) != nullptr;
  }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);
  reader.join();
}

// ---- memory

class tcp_memory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !tls_built()) GTEST_SKIP() << why_no_tls();
  }
};

void round_trip(const seat& from, node_t to, seat& owner, std::size_t size) {
  const auto there = owner.memory.allocate(size);
  const auto address = reinterpret_cast<std::uint64_t>(there.address);
  bytes sent(size);
  std::byte* const begin = sent.data();
  for (std::size_t i = 0; i < size; ++i) begin[i] = static_cast<std::byte>(i * 13 + i / 256);
  const std::shared_ptr<remote_memory> memory = from.to(to)->memory();
  ASSERT_NE(memory, nullptr);
  ASSERT_EQ(memory->put(address, there.tag, sent.data(), size), access_result::done);
  EXPECT_EQ(std::memcmp(there.address, sent.data(), size), 0);
  bytes back(size);
  ASSERT_EQ(memory->get(address, there.tag, back.data(), size), access_result::done);
  EXPECT_TRUE(ham::test::same_bytes(back, sent)) << size;
  EXPECT_TRUE(owner.memory.free(address, there.tag));
}

TEST_P(tcp_memory, in_all_directions_though_nobody_polls) {
  job_options how;
  how.secure = GetParam();
  job two(2, how);
  two.node(1).at->reach(2, two.node(2).at->address());
  ASSERT_NE(two.node(2).await(1), nullptr);
  ASSERT_NE(two.node(1).await(2), nullptr);
  for (const std::size_t size : {1U, 65'536U, 65'537U, 9'000'000U}) {
    ASSERT_NO_FATAL_FAILURE(round_trip(two.host(), 1, two.node(1), size));
    ASSERT_NO_FATAL_FAILURE(round_trip(two.node(1), 0, two.host(), size));
    ASSERT_NO_FATAL_FAILURE(round_trip(two.node(1), 2, two.node(2), size));
    ASSERT_NO_FATAL_FAILURE(round_trip(two.node(2), 1, two.node(1), size));
  }
}

TEST_P(tcp_memory, several_threads_at_once) {
  job_options how;
  how.secure = GetParam();
  job one(1, how);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 5; ++j) {
        round_trip(one.host(), 1, one.node(1), 100'000 + 50'000 * static_cast<std::size_t>(i));
      }
    });
  }
  for (auto& each : threads) each.join();
}

TEST_P(tcp_memory, a_large_transfer_on_several_lanes) {
  job_options how;
  how.secure = GetParam();
  job one(1, how);
  const std::size_t size = bulk_client::spread_bytes + 12345;
  const auto there = one.node(1).memory.allocate(size);
  const auto address = reinterpret_cast<std::uint64_t>(there.address);
  const auto key = how.secure
                       ? std::make_shared<tls_context>(tls_role::client, key_of(42), job_identity, tested_records())
                       : nullptr;
  std::string why;
  const auto to = resolve(parse_address(one.node(1).at->address()), false, why).front();
  std::atomic<int> opened{0};
  bulk_client three(
      [&]() -> std::unique_ptr<lane> {
        hello mine;
        mine.what = purpose::bulk;
        mine.to = 1;
        mine.job = job_of(42);
        ++opened;
        auto with = connect_now(to, key, mine, std::chrono::seconds(10));
        return with ? std::make_unique<lane>(std::move(*with)) : nullptr;
      },
      3);
  bytes sent(size);
  std::byte* const begin = sent.data();
  for (std::size_t i = 0; i < size; ++i) begin[i] = static_cast<std::byte>(i * 7 + i / 4096);
  EXPECT_EQ(three.put(address, there.tag, sent.data(), size + 1), access_result::out_of_range);
  EXPECT_EQ(three.put(address, there.tag + 1, sent.data(), size), access_result::stale);
  EXPECT_EQ(opened, 1) << "nothing moves before all of it was checked";
  ASSERT_EQ(three.put(address, there.tag, sent.data(), size), access_result::done);
  EXPECT_EQ(std::memcmp(there.address, sent.data(), size), 0);
  bytes back(size);
  ASSERT_EQ(three.get(address, there.tag, back.data(), size), access_result::done);
  EXPECT_TRUE(ham::test::same_bytes(back, sent));
  EXPECT_GE(opened, 2);
  three.close();
  EXPECT_EQ(three.get(address, there.tag, back.data(), 1), access_result::lost);
}

/// The target is played. It cannot connect to the host, so it ignores requests for lanes.
TEST(tcp_lanes, an_attempt_that_failed_is_made_again) {
  job_options how;
  how.secure = false;
  seat host;
  host.at = std::make_unique<tcp_network>(host_options(how), job_of(42), &host.memory, host.news);
  base::unique_fd lanes_at = listen_at(parse_address("127.0.0.1:0"), true);
  const std::uint16_t port = local_address(lanes_at.get()).port();
  acceptor target(listen_at(parse_address("127.0.0.1:0"), true), nullptr, 20s);
  std::vector<connection> held;
  host.at->invite(1, local_address(target.listening()).text(), std::nullopt);
  ASSERT_TRUE(eventually([&] {
    target.turn([&](connection with, const hello& theirs) {
      EXPECT_TRUE(send_welcome(with, {verdict::accepted, has_memory, port, 5, theirs.nonce}));
      held.push_back(std::move(with));
    });
    return host.to(1) != nullptr;
  }));
  base::heap memory{base::heap::make_file()};
  const auto there = memory.allocate(8);
  const bytes sent(8, std::byte{3});
  auto put = std::async(std::launch::async, [&] {
    return host.to(1)->memory()->put(reinterpret_cast<std::uint64_t>(there.address), there.tag, sent.data(), 8);
  });
  pollfd knocking{lanes_at.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&knocking, 1, 20'000), 1);
  base::unique_fd(::accept(lanes_at.get(), nullptr, nullptr)).reset();  // it is hung up on
  lane_server lanes(&memory);
  acceptor again(std::move(lanes_at), nullptr, 20s);
  const bool settled = eventually([&] {
    again.turn([&](connection with, const hello& theirs) {
      EXPECT_EQ(theirs.what, purpose::bulk);
      if (send_welcome(with, {verdict::accepted, 0, 0, 0, theirs.nonce})) lanes.serve(0, std::move(with));
    });
    return put.wait_for(0ms) == std::future_status::ready;
  });
  EXPECT_TRUE(settled) << "nobody came again";
  if (!settled) host.at->shutdown();  // which ends it
  EXPECT_EQ(put.get(), access_result::done);
  EXPECT_EQ(std::memcmp(there.address, sent.data(), 8), 0);
}

/// A host that nobody can connect to opens the lane itself, when it is asked.
TEST_P(tcp_memory, a_peer_that_cannot_be_reached_opens_the_lane) {
  job_options how;
  how.secure = GetParam();
  how.host_bind = "127.0.0.2";
  job one(1, how);
  std::atomic<bool> stop{false};
  std::thread polling([&] {
    while (!stop) static_cast<void>(one.host().receive(1ms));
  });
  round_trip(one.node(1), 0, one.host(), 300'000);
  round_trip(one.host(), 1, one.node(1), 300'000);
  stop = true;
  polling.join();
}

TEST_P(tcp_memory, a_transfer_ends_when_the_peer_does) {
  job_options how;
  how.secure = GetParam();
  job one(1, how);
  const std::size_t size = std::size_t{64} << 20;
  const auto there = one.node(1).memory.allocate(size);
  const bytes sent(size, std::byte{1});
  std::thread killer([&] {
    std::this_thread::sleep_for(30ms);
    one.node(1).at->shutdown();
  });
  access_result last = access_result::done;
  EXPECT_TRUE(eventually([&] {
    last =
        one.host().to(1)->memory()->put(reinterpret_cast<std::uint64_t>(there.address), there.tag, sent.data(), size);
    return last != access_result::done;
  }));
  EXPECT_EQ(last, access_result::lost);
  killer.join();
}

TEST_P(tcp_memory, memory_freed_in_the_middle_is_stale) {
  job_options how;
  how.secure = GetParam();
  job one(1, how);
  const std::size_t size = std::size_t{64} << 20;
  bytes here(size, std::byte{1});
  for (const bool getting : {false, true}) {
    access_result last = access_result::done;
    EXPECT_TRUE(eventually([&] {
      const auto there = one.node(1).memory.allocate(size);
      const auto address = reinterpret_cast<std::uint64_t>(there.address);
      std::thread other([&] {
        std::this_thread::sleep_for(8ms);
        EXPECT_TRUE(one.node(1).memory.free(address, there.tag));
      });
      const std::shared_ptr<remote_memory> memory = one.host().to(1)->memory();
      last = getting ? memory->get(address, there.tag, here.data(), size)
                     : memory->put(address, there.tag, here.data(), size);
      other.join();
      return last != access_result::done;
    }));
    EXPECT_EQ(last, access_result::stale);
    round_trip(one.host(), 1, one.node(1), 1000);
  }
}

INSTANTIATE_TEST_SUITE_P(of, tcp_memory, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "tls" : "plaintext"; });

}  // namespace
}  // namespace ham::transport::tcp::test
