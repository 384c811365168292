// Bytes as they are, over TCP: lanes send all of both parts, and leave no small packets inside a stream.
#include "transport/tcp/plain_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

using status = byte_stream::status;
using rest = blocking_stream::rest;

class plain_streams : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(here_.socket() >= 0 && there_.socket() >= 0); }

  /// So many bytes, as they come.
  static bytes receive(blocking_stream& from, std::size_t size) {
    bytes all;
    while (all.size() < size) {
      bytes piece(std::min<std::size_t>(size - all.size(), 3'000'000));
      const long got = from.receive(piece);
      if (got <= 0) break;
      all.insert(all.end(), piece.begin(), piece.begin() + got);
    }
    return all;
  }

  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  std::pair<base::unique_fd, base::unique_fd> ends_ = connected_to(listening_.get());
  plain_stream here_{std::move(ends_.first)};
  plain_stream there_{std::move(ends_.second)};
};

TEST_F(plain_streams, need_no_handshake_and_hold_nothing_back) {
  EXPECT_EQ(here_.establish().what, status::moved);
  EXPECT_FALSE(here_.has_input());
  const byte_stream::outcome sent = here_.send(pattern(10));
  EXPECT_EQ(sent.what, status::moved);
  EXPECT_EQ(sent.bytes, 10U);
  EXPECT_EQ(here_.unsent(), 0U);
  EXPECT_EQ(here_.flush().what, status::moved);
  EXPECT_EQ(here_.failure(), "");
}

TEST_F(plain_streams, say_later_when_there_is_nothing_and_lost_at_the_end) {
  make_blocking(there_.socket());  // only this test's end waits
  bytes room(10);
  EXPECT_EQ(here_.receive(room).what, status::later);
  ASSERT_EQ(there_.send(pattern(10)).what, status::moved);
  byte_stream::outcome got{};
  ASSERT_TRUE(eventually([&] { return (got = here_.receive(room)).what != status::later; }));
  EXPECT_EQ(got.what, status::moved);
  EXPECT_EQ(room, pattern(10));
  there_.close();
  EXPECT_LT(there_.socket(), 0);
  ASSERT_TRUE(eventually([&] { return (got = here_.receive(room)).what != status::later; }));
  EXPECT_EQ(got.what, status::lost);
  EXPECT_EQ(got.error, 0) << "in order";
}

TEST_F(plain_streams, of_lanes_carry_all_of_both_parts_whatever_their_size) {
  const auto sender = here_.make_blocking();
  const auto receiver = there_.make_blocking();
  EXPECT_LT(here_.socket(), 0) << "handed on";
  const std::size_t burst = burst_bytes(sender->socket());
  const std::pair<std::size_t, std::size_t> sizes[] = {
      {0, 0}, {1, 0}, {0, 1}, {burst, 0}, {burst - 1, 1}, {burst + 1, burst - 1}, {3 * burst + 7, 2'000'000}};
  for (const auto& [first, second] : sizes) {
    for (const rest of_them : {rest::goes, rest::waits}) {
      bytes expected = pattern(first);
      const bytes behind = pattern(second);
      std::thread sending([&] {
        EXPECT_TRUE(sender->send(expected, behind, of_them));
        EXPECT_TRUE(sender->send(pattern(5), {}, rest::goes)) << "what waited goes with it";
      });
      const bytes found = receive(*receiver, first + second + 5);
      sending.join();
      bytes all = expected;
      all.insert(all.end(), behind.begin(), behind.end());
      const bytes end = pattern(5);
      all.insert(all.end(), end.begin(), end.end());
      ASSERT_TRUE(found == all) << first << " + " << second;
    }
  }
}

TEST_F(plain_streams, of_lanes_say_that_the_connection_is_lost) {
  const auto sender = here_.make_blocking();
  there_.make_blocking().reset();
  bytes room(10);
  EXPECT_LE(sender->receive(room), 0);
  EXPECT_TRUE(eventually([&] { return !sender->send(pattern(1000), {}, rest::goes); }));
}

}  // namespace
}  // namespace ham::transport::tcp::test
