// Half-open connections: greeted in any number of pieces, dropped when they are late or too many.
#include "transport/tcp/acceptor.hpp"

#include <sys/resource.h>

#include <new>
#include <string>

#include "base/clock.hpp"
#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class acceptors : public testing::Test {
 protected:
  [[nodiscard]] base::unique_fd connect(const acceptor& to) {
    std::string why;
    base::unique_fd result = begin_connect(local_address(to.listening()), 20s, why);
    EXPECT_TRUE(result) << why;
    return result;
  }
  [[nodiscard]] static bytes greeting(node_t from) {
    hello mine;
    mine.what = purpose::reach;
    mine.from = from;
    mine.nonce = 1;
    bytes result(hello::bytes);
    store_hello(result.data(), mine);
    return result;
  }
  void turn(acceptor& one) {
    one.turn([&](connection with, const hello& theirs) {
      greeted_.push_back(theirs.from);
      held_.push_back(std::move(with));
    });
  }
  /// Whether the acceptor has closed it.
  [[nodiscard]] static bool is_closed(const base::unique_fd& one) {
    std::byte any;
    const ssize_t got = ::recv(one.get(), &any, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && !would_block(errno));
  }
  static void send(const base::unique_fd& on, std::span<const std::byte> what) {
    ASSERT_TRUE(eventually([&] { return ::send(on.get(), what.data(), what.size(), MSG_NOSIGNAL) > 0; }));
  }

  std::vector<node_t> greeted_;
  std::vector<connection> held_;
};

TEST_F(acceptors, hand_out_who_has_greeted) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 20s);
  EXPECT_EQ(one.next_ns(), base::never_ns);
  const base::unique_fd whole = connect(one);
  const base::unique_fd pieces = connect(one);
  send(whole, greeting(3));
  const bytes all = greeting(4);
  send(pieces, std::span(all).first(5));
  ASSERT_TRUE(eventually([&] {
    turn(one);
    return greeted_.size() == 1;
  }));
  EXPECT_EQ(greeted_.front(), 3);
  EXPECT_NE(one.next_ns(), base::never_ns) << "the other one has a deadline";
  send(pieces, std::span(all).subspan(5));
  ASSERT_TRUE(eventually([&] {
    turn(one);
    return greeted_.size() == 2;
  }));
  EXPECT_EQ(greeted_.back(), 4);
  EXPECT_EQ(one.next_ns(), base::never_ns);
}

TEST_F(acceptors, become_readable_when_somebody_connects) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 20s);
  pollfd waiting{one.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  const base::unique_fd somebody = connect(one);
  EXPECT_EQ(::poll(&waiting, 1, 20'000), 1);
}

TEST_F(acceptors, hang_up_on_strangers) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 20s);
  const base::unique_fd stranger = connect(one);
  send(stranger, bytes(hello::bytes, std::byte{7}));
  EXPECT_TRUE(eventually([&] {
    turn(one);
    return is_closed(stranger);
  }));
  EXPECT_TRUE(greeted_.empty());
}

TEST_F(acceptors, hang_up_on_who_is_late) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 50ms);
  const base::unique_fd silent = connect(one);
  EXPECT_TRUE(eventually([&] {
    turn(one);
    return is_closed(silent);
  }));
}

TEST_F(acceptors, drop_the_silent_first_when_there_are_too_many) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 60s);
  const base::unique_fd talkative = connect(one);
  const bytes all = greeting(9);
  send(talkative, std::span(all).first(5));
  std::vector<base::unique_fd> silent;
  for (std::size_t i = 0; i < acceptor::max_half_open + 8; ++i) {
    silent.push_back(connect(one));
    turn(one);
  }
  EXPECT_TRUE(eventually([&] {
    turn(one);
    return is_closed(silent.front());
  }));
  EXPECT_FALSE(is_closed(silent.back()));
  send(talkative, std::span(all).subspan(5));
  EXPECT_TRUE(eventually([&] {
    turn(one);
    return !greeted_.empty();
  }));
}

TEST_F(acceptors, let_go_of_all_when_they_hang_up) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 20s);
  const base::unique_fd somebody = connect(one);
  ASSERT_TRUE(eventually([&] {
    turn(one);
    return one.next_ns() != base::never_ns;
  }));
  one.hang_up();
  EXPECT_EQ(one.next_ns(), base::never_ns);
  EXPECT_TRUE(eventually([&] { return is_closed(somebody); }));
}

TEST_F(acceptors, drop_who_cannot_be_taken_and_go_on) {
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 20s);
  const base::unique_fd first = connect(one);
  send(first, greeting(3));
  int asked = 0;
  EXPECT_TRUE(eventually([&] {
    one.turn([&](connection, const hello&) {
      ++asked;
      throw std::bad_alloc();
    });
    return asked == 1;
  }));
  EXPECT_TRUE(is_closed(first));
  const base::unique_fd second = connect(one);
  send(second, greeting(4));
  EXPECT_TRUE(eventually([&] {
    turn(one);
    return !greeted_.empty();
  }));
  EXPECT_EQ(greeted_.front(), 4);
}

/// While it lives, this process can open no more descriptors.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &usual_);
    held_.emplace_back(::dup(STDERR_FILENO));
    const rlimit few{static_cast<rlim_t>(held_.back().get() + 1), usual_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (;;) {
      base::unique_fd one(::dup(STDERR_FILENO));
      if (!one) break;
      held_.push_back(std::move(one));
    }
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &usual_); }

 private:
  rlimit usual_{};
  std::vector<base::unique_fd> held_;
};

TEST_F(acceptors, pause_for_want_of_descriptors_and_say_so_once) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers find out by a pipe whether memory can be read";
#endif
  acceptor one(listen_at({"127.0.0.1", "0"}, true), nullptr, 20s);
  const base::unique_fd first = connect(one);
  send(first, greeting(3));
  pollfd waiting{one.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 20'000), 1);
  testing::internal::CaptureStderr();
  {
    const no_descriptors want;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(eventually([&] { return one.next_ns() == base::never_ns || base::now_ns() >= one.next_ns(); }));
      turn(one);
      EXPECT_NE(one.next_ns(), base::never_ns) << "it tries again";
      EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "who waits for it does not spin";
    }
    EXPECT_TRUE(greeted_.empty());
    EXPECT_FALSE(is_closed(first)) << "the kernel keeps it";
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cannot accept connections at 127.0.0.1:"), std::string::npos) << said;
  EXPECT_NE(said.find("Too many open files"), std::string::npos) << said;
  EXPECT_NE(said.find("ulimit -n"), std::string::npos) << said;
  EXPECT_EQ(said.find("cannot accept", said.find("cannot accept") + 1), std::string::npos) << said;
  EXPECT_TRUE(eventually([&] {
    turn(one);
    return !greeted_.empty();
  }));
  EXPECT_EQ(one.next_ns(), base::never_ns);
  const base::unique_fd next = connect(one);
  EXPECT_EQ(::poll(&waiting, 1, 20'000), 1) << "it listens again";
}

}  // namespace
}  // namespace ham::transport::tcp::test
