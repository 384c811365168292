// Handshakes with every byte cut off or changed, each once, in both directions: nobody is let in who said anything else
// than was sent, and nobody waits for ever.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>

#include "transport/tcp/handshake.hpp"
#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

/// What is done to the stream of one direction at one place.
struct damage {
  enum class kind { none, cut, flip } what = kind::none;
  std::size_t at = 0;
};

/// Two connected ends, of which the test holds one.
struct half_way {
  base::unique_fd inside;
  base::unique_fd outside;

  half_way() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) throw std::bad_alloc();
    inside.reset(ends[0]);
    outside.reset(ends[1]);
  }
};

class direction {
 public:
  explicit direction(damage what) : what_(what) {}

  /// Carries what is there. False: nothing was, or the line is cut.
  bool carry(base::unique_fd& from, base::unique_fd& to) {
    std::array<std::byte, 4096> piece;
    const ssize_t got = from ? ::recv(from.get(), piece.data(), piece.size(), 0) : -1;
    if (got <= 0) return false;
    auto count = static_cast<std::size_t>(got);
    if (what_.what == damage::kind::flip && what_.at >= carried_ && what_.at - carried_ < count)
      piece[what_.at - carried_] ^= std::byte{0x10};
    const bool cut = what_.what == damage::kind::cut && what_.at < carried_ + count;
    if (cut) count = what_.at - carried_;
    if (to && count != 0) {
      EXPECT_EQ(::send(to.get(), piece.data(), count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
    }
    carried_ += count;
    if (cut) {
      from.reset();
      to.reset();
    }
    return true;
  }
  [[nodiscard]] std::size_t carried() const { return carried_; }

 private:
  damage what_;
  std::size_t carried_ = 0;
};

struct outcome {
  handshake::status client = handshake::status::pending;
  handshake::status server = handshake::status::pending;
  bool heard_right = false;  // the server, the greeting as it was sent
  std::size_t there = 0;     // bytes carried
  std::size_t back = 0;
};

hello greeting() {
  hello mine;
  mine.what = purpose::reach;
  mine.from = 3;
  mine.to = 5;
  mine.nonce = 0x1122334455667788;
  mine.port = 4711;
  mine.job.fill(std::byte{9});
  return mine;
}

bool same(const hello& a, const hello& b) {
  std::array<std::byte, hello::bytes> left;
  std::array<std::byte, hello::bytes> right;
  store_hello(left.data(), a);
  store_hello(right.data(), b);
  return left == right;
}

class handshakes : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    if (!why_no_tls().empty()) GTEST_SKIP() << why_no_tls();
    client_ = std::make_shared<tls_context>(tls_role::client, key_of(1), job_identity, tested_records());
    server_ = std::make_shared<tls_context>(tls_role::server, key_of(1), job_identity, tested_records());
  }

  [[nodiscard]] outcome connect(damage there, damage back) const {
    half_way left;
    half_way right;
    handshake client(std::move(left.inside), client_, greeting());
    handshake server(std::move(right.inside), server_);
    direction to_server(there);
    direction to_client(back);
    std::optional<connection> accepted;
    outcome now;
    for (bool moving = true; moving;) {
      if (now.client == handshake::status::pending) now.client = client.step();
      moving = to_server.carry(left.outside, right.outside);
      if (now.server == handshake::status::pending) now.server = server.step();
      if (now.server == handshake::status::greeted && !accepted) {
        now.heard_right = same(server.theirs(), greeting());
        accepted = server.take();
        EXPECT_TRUE(send_welcome(*accepted, {verdict::accepted, 0, 0, 7, server.theirs().nonce}));
      }
      moving = to_client.carry(right.outside, left.outside) || moving;
    }
    // Whoever still waits is told when the other side goes.
    left.outside.reset();
    right.outside.reset();
    if (now.client == handshake::status::pending) now.client = client.step();
    if (now.server == handshake::status::pending) now.server = server.step();
    now.there = to_server.carried();
    now.back = to_client.carried();
    return now;
  }

  /// Every place of both directions, once; one of five under a sanitizer. The lengths may differ by a few bytes from
  /// one handshake to the next.
  template <class Check>
  void everywhere(damage::kind what, Check&& check) {
    const outcome undamaged = connect({}, {});
    ASSERT_EQ(undamaged.client, handshake::status::greeted);
    ASSERT_TRUE(undamaged.heard_right);
    constexpr std::size_t step = ham::test::unless_sanitized<std::size_t>(1, 5);
    for (std::size_t at = 0; at < undamaged.there; at += step) check(connect({what, at}, {}), at, true);
    for (std::size_t at = 0; at < undamaged.back; at += step) check(connect({}, {what, at}), at, false);
  }

 private:
  std::shared_ptr<const tls_context> client_;
  std::shared_ptr<const tls_context> server_;
};

INSTANTIATE_TEST_SUITE_P(, handshakes, testing::Bool(),
                         [](const auto& one) { return one.param ? "with_a_key" : "in_plaintext"; });

TEST_P(handshakes, cut_anywhere_nobody_gets_in_and_nobody_waits) {
  everywhere(damage::kind::cut, [](const outcome& found, std::size_t at, bool there) {
    EXPECT_EQ(found.client, handshake::status::failed) << at << there;
    EXPECT_NE(found.server, handshake::status::pending) << at << there;
    if (there) {
      EXPECT_EQ(found.server, handshake::status::failed) << at;
    }
  });
}

TEST_P(handshakes, changed_anywhere_nobody_hears_anything_else) {
  if (!GetParam()) GTEST_SKIP() << "without a key nobody can tell";
  int refused = 0;
  int all = 0;
  everywhere(damage::kind::flip, [&](const outcome& found, std::size_t at, bool there) {
    EXPECT_NE(found.server, handshake::status::pending) << at << there;
    EXPECT_NE(found.client, handshake::status::pending) << at << there;
    if (found.server == handshake::status::greeted) {
      EXPECT_TRUE(found.heard_right) << at << there;
    }
    const bool both = found.server == handshake::status::greeted && found.client == handshake::status::greeted;
    refused += both ? 0 : 1;
    ++all;
  });
  // TLS ignores versions in the heads of its first records.
  EXPECT_GE(refused * 20, all * 19) << refused << " of " << all;
}

}  // namespace
}  // namespace ham::transport::tcp::test
