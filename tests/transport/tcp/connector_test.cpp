// Connecting: who is reached, who is not and why, and when the connector comes again. One thread turns both sides.
#include "transport/tcp/connector.hpp"

#include <pthread.h>
#include <signal.h>

#include <new>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/acceptor.hpp"
#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class recording_client final : public connector::client {
 public:
  [[nodiscard]] hello hello_for(node_t peer, purpose what, bool) const override {
    if (peer == without_memory) throw std::bad_alloc();
    hello mine;
    mine.what = what;
    mine.to = peer;
    mine.nonce = 4711;
    return mine;
  }
  void on_greeted(const connector::destination& who, connection with, const welcome& answer) override {
    reached.push_back(who.peer);
    epoch = answer.epoch;
    held.push_back(std::move(with));
  }
  void on_unreachable(const connector::destination& who, const std::string& why) override {
    failed.push_back(who.peer);
    reason = why;
  }

  std::vector<node_t> reached;
  std::vector<node_t> failed;
  std::vector<connection> held;
  std::string reason;
  std::uint32_t epoch = 0;
  node_t without_memory = -1;
};

class connectors : public testing::Test {
 protected:
  /// Turns both sides until `done`, answering every hello with `answer`.
  template <class Done>
  bool run(connector& on, verdict answer, Done done) {
    return eventually([&] {
      on.turn();
      there_.turn([&](connection with, const hello& theirs) {
        ++hellos_;
        EXPECT_TRUE(send_welcome(with, {answer, 0, 0, 99, theirs.nonce}));
        accepted_.push_back(std::move(with));
      });
      return done();
    });
  }
  [[nodiscard]] std::string address() const { return local_address(there_.listening()).text(); }

  recording_client client_;
  acceptor there_{listen_at({"127.0.0.1", "0"}, true), nullptr, 20s};
  std::vector<connection> accepted_;
  int hellos_ = 0;
};

TEST_F(connectors, reach_who_accepts) {
  connector on({20s, false}, client_);
  EXPECT_EQ(on.next_ns(), base::never_ns);
  on.begin({3, purpose::reach, address(), nullptr});
  ASSERT_TRUE(run(on, verdict::accepted, [&] { return !client_.reached.empty(); }));
  EXPECT_EQ(client_.reached, std::vector<node_t>{3});
  EXPECT_EQ(client_.epoch, 99U);
  EXPECT_EQ(on.next_ns(), base::never_ns) << "nothing is left to do";
  EXPECT_TRUE(client_.failed.empty());
}

TEST_F(connectors, resolve_names) {
  connector on({20s, false}, client_);
  on.begin({3, purpose::reach, "localhost:" + std::to_string(local_address(there_.listening()).port()), nullptr});
  ASSERT_TRUE(run(on, verdict::accepted, [&] { return !client_.reached.empty() || !client_.failed.empty(); }));
  EXPECT_EQ(client_.reached, std::vector<node_t>{3}) << client_.reason;
}

TEST_F(connectors, say_why_they_were_refused) {
  connector on({20s, false}, client_);
  on.begin({3, purpose::reach, address(), nullptr});
  ASSERT_TRUE(run(on, verdict::wrong_job, [&] { return !client_.failed.empty(); }));
  EXPECT_EQ(client_.reason, "it belongs to another job");
  EXPECT_EQ(hellos_, 1);
}

TEST_F(connectors, come_again_to_a_busy_server) {
  connector on({20s, false}, client_);
  on.begin({3, purpose::invite, address(), nullptr});
  ASSERT_TRUE(run(on, verdict::busy, [&] { return hellos_ == 3; }));
  EXPECT_TRUE(client_.failed.empty());
  ASSERT_TRUE(run(on, verdict::accepted, [&] { return !client_.reached.empty(); }));
}

/// As a program that waits for hosts: whoever is first is taken, the others are let down and come again, several times
/// before the first one is greeted.
TEST_F(connectors, reach_a_server_that_takes_one_after_the_other) {
  connector on({20s, false}, client_);
  constexpr std::size_t invitations = 12;
  constexpr std::size_t greeted_late = 3;  // those that are taken before the first one is greeted
  for (std::size_t peer = 1; peer <= invitations; ++peer)
    on.begin({static_cast<node_t>(peer), purpose::invite, address(), nullptr});
  std::size_t greeted = 0;
  const auto greet_next = [&] { EXPECT_TRUE(send_welcome(accepted_[greeted++], {verdict::accepted, 0, 0, 99, 4711})); };
  const bool ended = eventually([&] {
    on.turn();
    bool taken = false;
    there_.turn([&](connection with, const hello& theirs) {
      EXPECT_EQ(theirs.nonce, 4711U);
      if (!std::exchange(taken, true)) accepted_.push_back(std::move(with));
    });
    if (taken) {
      there_.hang_up();
      if (accepted_.size() > greeted_late) greet_next();
    }
    while (accepted_.size() == invitations && greeted < invitations) greet_next();
    return client_.reached.size() + client_.failed.size() == invitations;
  });
  EXPECT_TRUE(ended);
  EXPECT_TRUE(client_.failed.empty()) << client_.reason;
}

TEST_F(connectors, give_up_on_who_greets_nobody) {
  connector on({20s, false}, client_);
  on.begin({3, purpose::invite, address(), nullptr});
  ASSERT_TRUE(eventually([&] {
    on.turn();
    there_.turn([&](connection, const hello&) { ++hellos_; });  // it is hung up on
    return !client_.failed.empty();
  }));
  EXPECT_GT(hellos_, 1);
  EXPECT_NE(client_.reason.find("the keys differ"), std::string::npos) << client_.reason;
}

/// Each waits for those before it.
TEST_F(connectors, wait_longer_for_a_server_that_takes_others) {
  connector on({20s, false}, client_);
  on.begin({1, purpose::invite, address(), nullptr});
  on.begin({2, purpose::invite, address(), nullptr});
  on.turn();
  const std::int64_t begun = base::now_ns();
  ASSERT_TRUE(eventually([&] {
    on.turn();
    there_.turn([&](connection with, const hello& theirs) {
      if (theirs.to == 1) {
        EXPECT_TRUE(send_welcome(with, {verdict::accepted, 0, 0, 99, theirs.nonce}));
      }
      accepted_.push_back(std::move(with));
    });
    return !client_.reached.empty();
  }));
  EXPECT_EQ(client_.reached, std::vector<node_t>{1});
  EXPECT_GT(on.next_ns(), begun + std::chrono::nanoseconds(20s).count()) << "when the other one is given up";
}

TEST_F(connectors, give_up_in_time) {
  connector on({100ms, false}, client_);
  const base::unique_fd silent = listen_at({"127.0.0.1", "0"}, true);
  on.begin({3, purpose::reach, local_address(silent.get()).text(), nullptr});
  ASSERT_TRUE(run(on, verdict::accepted, [&] { return !client_.failed.empty(); }));
  EXPECT_EQ(client_.reason, "it did not answer in time");
}

TEST_F(connectors, do_not_send_plaintext_to_other_machines) {
  connector on({20s, false}, client_);
  on.begin({3, purpose::reach, "192.0.2.1:7", nullptr});
  on.turn();
  ASSERT_FALSE(client_.failed.empty());
  EXPECT_NE(client_.reason.find("without security only loopback addresses"), std::string::npos);
}

TEST_F(connectors, begin_nothing_for_a_wrong_address) {
  connector on({20s, false}, client_);
  EXPECT_THROW(on.begin({3, purpose::reach, "no port", nullptr}), config_error);
}

TEST_F(connectors, drop_attempts_when_stopped) {
  connector on({20s, false}, client_);
  on.begin({3, purpose::reach, address(), nullptr});
  on.turn();
  EXPECT_NE(on.next_ns(), base::never_ns);
  on.stop();
  EXPECT_EQ(on.next_ns(), base::never_ns);
  EXPECT_TRUE(client_.failed.empty() && client_.reached.empty());
}

TEST_F(connectors, go_on_when_a_signal_interrupts_them) {
  struct sigaction does_nothing {};
  does_nothing.sa_handler = [](int) {};
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &does_nothing, &before), 0);
  const hello mine = client_.hello_for(3, purpose::bulk, false);
  std::atomic<bool> over{false};
  bool reached = false;
  std::thread connecting([&] {
    reached = connect_now(local_address(there_.listening()), nullptr, mine, 60s).has_value();
    over = true;
  });
  for (int i = 0; i < 100; ++i) {  // nobody answers so far
    ::pthread_kill(connecting.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(eventually([&] {
    there_.turn([&](connection with, const hello& theirs) {
      EXPECT_TRUE(send_welcome(with, {verdict::accepted, 0, 0, 99, theirs.nonce}));
      accepted_.push_back(std::move(with));
    });
    return over.load();
  }));
  connecting.join();
  EXPECT_TRUE(reached);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(connectors, give_up_on_whom_there_is_no_memory_for) {
  connector on({20s, false}, client_);
  client_.without_memory = 2;
  on.begin({2, purpose::reach, address(), nullptr});
  on.begin({3, purpose::reach, address(), nullptr});
  ASSERT_TRUE(run(on, verdict::accepted, [&] { return !client_.reached.empty(); }));
  EXPECT_EQ(client_.reached, std::vector<node_t>{3});
  EXPECT_EQ(client_.failed, std::vector<node_t>{2});
  EXPECT_EQ(on.next_ns(), base::never_ns);
}

}  // namespace
}  // namespace ham::transport::tcp::test
