// Streams of bytes, plain and encrypted: what one side sends arrives, in order; ends and damage are told apart.
#include "transport/tcp/byte_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <ostream>

#include "transport/tcp/nodes.hpp"
#include "transport/tcp/tls_session.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

using status = byte_stream::status;

enum class kind : std::uint8_t { plain, encrypted };
void PrintTo(kind which, std::ostream* out) { *out << (which == kind::plain ? "plain" : "encrypted"); }

class byte_streams : public testing::TestWithParam<kind> {
 protected:
  void SetUp() override {
    if (GetParam() == kind::encrypted && !tls_built()) GTEST_SKIP() << why_no_tls();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    here_ = make_stream(base::unique_fd(ends[0]), context(tls_role::client));
    there_ = make_stream(base::unique_fd(ends[1]), context(tls_role::server));
    bool here_done = false;
    bool there_done = false;
    for (int i = 0; i < 100 && !(here_done && there_done); ++i) {
      here_done = here_done || here_->establish().what == status::moved;
      there_done = there_done || there_->establish().what == status::moved;
    }
    ASSERT_TRUE(here_done && there_done) << here_->failure() << there_->failure();
  }

  [[nodiscard]] static std::shared_ptr<const tls_context> context(tls_role role) {
    if (GetParam() == kind::plain) return nullptr;
    return std::make_shared<const tls_context>(role, key_of(3), job_identity, tested_records());
  }

  /// As much of `data` as goes: how much.
  static std::size_t send_all(byte_stream& on, std::span<const std::byte> data) {
    std::size_t done = 0;
    while (on.flush().what == status::moved && done != data.size()) {
      const byte_stream::outcome sent = on.send(data.subspan(done));
      if (sent.what != status::moved) break;
      done += sent.bytes;
    }
    return done;
  }
  /// What is there, and how that ended.
  static std::pair<bytes, byte_stream::outcome> receive_all(byte_stream& on) {
    bytes result;
    for (;;) {
      bytes piece(70'000);
      const byte_stream::outcome got = on.receive(piece);
      result.insert(result.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got.bytes));
      if (got.what != status::moved && got.what != status::partial) return {std::move(result), got};
    }
  }

  std::unique_ptr<byte_stream> here_;
  std::unique_ptr<byte_stream> there_;
};

TEST_P(byte_streams, move_bytes_both_ways) {
  for (const std::size_t size : {1UL, 300UL, 40'000UL}) {
    const bytes data = pattern(size);
    ASSERT_EQ(send_all(*here_, data), size);
    EXPECT_EQ(receive_all(*there_).first, data);
    ASSERT_EQ(send_all(*there_, data), size);
    EXPECT_EQ(receive_all(*here_).first, data);
  }
}

TEST_P(byte_streams, say_later_when_there_is_nothing) {
  bytes room(100);
  EXPECT_EQ(here_->receive(room).what, status::later);
  EXPECT_FALSE(here_->has_input());
}

TEST_P(byte_streams, keep_order_while_the_socket_is_full) {
  const bytes data = pattern(std::size_t{8} << 20);
  std::span<const std::byte> left = data;
  bytes arrived;
  bool was_full = false;
  while (arrived.size() != data.size()) {
    const std::size_t sent = send_all(*here_, left);
    left = left.subspan(sent);
    was_full = was_full || here_->unsent() != 0 || !left.empty();
    const auto [some, how] = receive_all(*there_);
    ASSERT_EQ(how.what, status::later);
    arrived.insert(arrived.end(), some.begin(), some.end());
  }
  EXPECT_TRUE(was_full);
  EXPECT_TRUE(ham::test::same_bytes(arrived, data));
}

TEST_P(byte_streams, give_out_small_pieces) {
  const bytes data = pattern(3000);
  ASSERT_EQ(send_all(*here_, data), data.size());
  EXPECT_EQ(here_->flush().what, status::moved);
  bytes arrived;
  while (arrived.size() != data.size()) {
    bytes piece(7);
    const byte_stream::outcome got = there_->receive(piece);
    ASSERT_TRUE(got.what == status::moved || got.what == status::partial);
    arrived.insert(arrived.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  }
  EXPECT_EQ(arrived, data);
}

TEST_P(byte_streams, tell_of_an_end_in_order_behind_the_last_byte) {
  const bytes data = pattern(500);
  ASSERT_EQ(send_all(*here_, data), data.size());
  here_->end();
  EXPECT_EQ(here_->flush().what, status::moved);
  here_->close();
  EXPECT_LT(here_->socket(), 0);
  EXPECT_EQ(here_->unsent(), 0U);
  const auto [arrived, how] = receive_all(*there_);
  EXPECT_EQ(arrived, data);
  EXPECT_TRUE(how.what == status::lost || how.what == status::failed);
  EXPECT_EQ(how.error, 0);
}

TEST_P(byte_streams, tell_of_a_lost_socket) {
  here_->close();
  bytes room(100);
  const byte_stream::outcome got = there_->receive(room);
  EXPECT_EQ(got.what, status::lost);
  EXPECT_EQ(got.error, 0);
  bytes data(100);
  auto sent = there_->send(data);
  if (sent.what == status::moved) sent = there_->flush();
  EXPECT_EQ(sent.what, status::lost);
  EXPECT_EQ(sent.error, EPIPE);
}

TEST_P(byte_streams, block_from_the_byte_on_where_they_stopped) {
  const bytes first = pattern(2000);
  const bytes second = pattern(300'000);
  ASSERT_EQ(send_all(*here_, first), first.size());
  bytes some(10);  // of an encrypted stream all is here by now
  while (there_->receive(some).what == status::partial) {
  }
  const std::unique_ptr<blocking_stream> sender = here_->make_blocking();
  const std::unique_ptr<blocking_stream> receiver = there_->make_blocking();
  bytes rest(first.size() - some.size() + second.size());
  bool complete = true;
  std::thread reader([&] {
    for (std::span<std::byte> left = rest; !left.empty() && complete;) {
      const long got = receiver->receive(left);
      complete = got > 0;
      if (complete) left = left.subspan(static_cast<std::size_t>(got));
    }
  });
  EXPECT_TRUE(sender->send(second, {}, blocking_stream::rest::goes));
  reader.join();
  ASSERT_TRUE(complete);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), first.begin()));
  EXPECT_TRUE(std::equal(rest.begin(), rest.begin() + 1990, first.begin() + 10));
  EXPECT_TRUE(std::equal(second.begin(), second.end(), rest.begin() + 1990));
}

INSTANTIATE_TEST_SUITE_P(kinds, byte_streams, testing::Values(kind::plain, kind::encrypted),
                         [](const auto& info) { return info.param == kind::plain ? "plain" : "encrypted"; });

TEST(encrypted_stream, tells_of_damage) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const int wire = ends[0];
  const auto here =
      make_stream(base::unique_fd(ends[0]),
                  std::make_shared<const tls_context>(tls_role::client, key_of(3), job_identity, tested_records()));
  const auto there =
      make_stream(base::unique_fd(ends[1]),
                  std::make_shared<const tls_context>(tls_role::server, key_of(3), job_identity, tested_records()));
  for (bool here_done = false, there_done = false; !(here_done && there_done);) {
    here_done = here->establish().what == status::moved;
    there_done = there->establish().what == status::moved;
  }
  bytes damaged(200);
  const std::byte head[] = {std::byte{23}, std::byte{3}, std::byte{3}, std::byte{0}, std::byte{195}};
  std::copy(std::begin(head), std::end(head), damaged.begin());
  ASSERT_EQ(::send(wire, damaged.data(), damaged.size(), 0), 200);
  bytes room(1000);
  byte_stream::outcome got = there->receive(room);
  EXPECT_EQ(got.what, status::failed);
  EXPECT_EQ(got.error, EBADMSG);
  EXPECT_FALSE(there->failure().empty());
  EXPECT_TRUE(there->has_input()) << "whoever polls must learn of it";
  got = there->receive(room);
  EXPECT_EQ(got.what, status::failed) << "and learns of it again";
}

}  // namespace
}  // namespace ham::transport::tcp::test
