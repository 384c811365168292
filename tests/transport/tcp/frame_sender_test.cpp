// What goes at once, what is gathered, what is refused, and the frames of the transport's own.
#include "transport/tcp/frame_sender.hpp"

#include <new>

#include "transport/tcp/endpoints.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

using frame_senders = lone_endpoint;

TEST_F(frame_senders, send_at_once_when_the_line_is_idle) {
  commit(7);
  EXPECT_EQ(read().key, 7U);
  EXPECT_FALSE(end_->sender().gathering());
}

TEST_F(frame_senders, gather_a_burst_until_it_is_pushed) {
  std::uint32_t count = 0;
  while (!end_->sender().gathering() && count < 1000) commit(count++);  // a slow machine may send some of them
  ASSERT_TRUE(end_->sender().gathering());
  EXPECT_GE(owner_.flushes, 1);
  end_->sender().push();
  EXPECT_FALSE(end_->sender().gathering());
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(read().key, i);
}

TEST_F(frame_senders, push_what_has_waited_long_enough) {
  EXPECT_FALSE(end_->sender().push_aged(base::now_ns()));
  for (std::uint32_t i = 0; !end_->sender().gathering() && i < 1000; ++i) commit(i);
  EXPECT_TRUE(end_->sender().push_aged(base::now_ns() + 1'000'000));
  EXPECT_FALSE(end_->sender().gathering());
}

TEST_F(frame_senders, refuse_when_the_wire_is_full_and_go_on_later) {
  std::uint32_t count = 0;
  while (end_->reserve(largest_payload) != nullptr) {
    end_->commit({count++, 0, 1});
    ASSERT_LT(count, 10'000U);
  }
  EXPECT_GE(owner_.watches, 1) << "much is under way";
  std::atomic<std::uint32_t> arrived{0};
  std::thread reader([&] {
    for (; arrived < count; ++arrived) EXPECT_EQ(read().key, arrived);
  });
  EXPECT_TRUE(eventually([&] { return end_->sender().writable(); })) << "it had refused";
  EXPECT_FALSE(end_->sender().writable()) << "says so once";
  EXPECT_NE(end_->reserve(0), nullptr);
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(end_->sender().writable());
    return arrived == count;
  }));
  reader.join();
}

TEST_F(frame_senders, acknowledge_what_no_frame_has_told) {
  write({0, 1, 0, 3, 0, 0});
  frame found;
  ASSERT_TRUE(eventually([&] { return end_->poll(found); }));
  end_->release();
  EXPECT_TRUE(end_->sender().ack_due());
  end_->sender().acknowledge();  // more may be taken soon
  EXPECT_TRUE(silent());
  end_->sender().acknowledge();
  const wire_head told = read();
  EXPECT_EQ(told.kind, notice_kind);
  EXPECT_EQ(told.taken, 1U);
  EXPECT_FALSE(end_->sender().ack_due());
}

TEST_F(frame_senders, ask_for_a_lane) {
  end_->sender().ask_for_lane();
  EXPECT_EQ(read().kind, want_lane_kind);
}

TEST_F(frame_senders, say_that_they_leave_and_nothing_after_it) {
  end_->leave();
  EXPECT_EQ(read().kind, farewell_kind);
  std::byte one;
  EXPECT_EQ(::recv(peer_.get(), &one, 1, 0), 0);
}

TEST_F(frame_senders, drop_frames_once_closed) {
  end_->close("for a test");
  ASSERT_NE(end_->reserve(10), nullptr);
  end_->commit({1, 0, 1});
  std::byte one;
  EXPECT_EQ(::recv(peer_.get(), &one, 1, 0), 0);
}

/// There is memory to send so many times.
class scarce_stream final : public byte_stream {
 public:
  scarce_stream(base::unique_fd socket, int sends) : byte_stream(std::move(socket)), left_(sends) {}
  [[nodiscard]] outcome receive(std::span<std::byte> into) override { return receive_from_socket(into); }
  [[nodiscard]] outcome send(std::span<const std::byte> bytes) override {
    if (left_-- == 0) throw std::bad_alloc();
    return send_to_socket(bytes);
  }
  [[nodiscard]] std::unique_ptr<blocking_stream> make_blocking() override { return nullptr; }

 private:
  int left_;
};

TEST_F(frame_senders, end_the_connection_when_there_is_no_memory_to_send) {
  auto [here, there] = connected_to(listening_.get());
  ::fcntl(here.get(), F_SETFL, ::fcntl(here.get(), F_GETFL) | O_NONBLOCK);
  tcp_endpoint end(2, {std::make_unique<scarce_stream>(std::move(here), 1), test_epoch}, 20s, owner_);
  for (std::uint32_t i = 0; i < 2; ++i) {
    ASSERT_NE(end.reserve(0), nullptr);
    end.commit({i, 0, 1});
    end.sender().push();
  }
  EXPECT_TRUE(eventually([&] {
    frame none;
    return !end.poll(none) && owner_.losses == 1;
  })) << "else its calls would wait for ever";
  EXPECT_EQ(end.consumed(), 1U) << "the first one may have run";
}

}  // namespace
}  // namespace ham::transport::tcp::test
