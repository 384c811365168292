// Endpoints over loopback connections, without a network, for tests.
#pragma once

#include <fcntl.h>

#include <atomic>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {

/// Counts what endpoints report.
class idle_owner : public endpoint_owner {
 public:
  void schedule_flush() noexcept override { ++flushes; }
  void schedule_ack() noexcept override { ++acks; }
  void lost(tcp_endpoint&, const std::string&) noexcept override { ++losses; }
  void broken(tcp_endpoint&, const std::string&) noexcept override { ++breaks; }
  void closed(tcp_endpoint&) noexcept override {}
  void read_eof(tcp_endpoint&) noexcept override {}
  void lane_wanted(tcp_endpoint&) noexcept override { ++lanes; }
  void watch_soon() noexcept override { ++watches; }

  std::atomic<int> flushes{0};
  std::atomic<int> acks{0};
  std::atomic<int> losses{0};
  std::atomic<int> breaks{0};
  std::atomic<int> lanes{0};
  std::atomic<int> watches{0};
};

inline constexpr std::uint32_t test_epoch = 5;

inline std::shared_ptr<tcp_endpoint> endpoint_over(base::unique_fd socket, node_t peer, endpoint_owner& owner) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  connection with{make_stream(std::move(socket), nullptr), test_epoch};
  return std::make_shared<tcp_endpoint>(peer, std::move(with), 20s, owner);
}

/// One endpoint; the test is its peer, on a blocking socket.
class lone_endpoint : public testing::Test {
 protected:
  lone_endpoint() {
    auto [here, there] = connected_to(listening_.get());
    end_ = endpoint_over(std::move(here), 1, owner_);
    peer_ = std::move(there);
  }
  void commit(std::uint32_t key, std::size_t size = 0) const {
    ASSERT_NE(end_->reserve(size), nullptr);
    end_->commit({key, 0, 1});
  }
  void write(const wire_head& head, std::uint32_t epoch = test_epoch) const {
    std::byte bytes[head_bytes];
    store_head(bytes, head, epoch);
    ASSERT_EQ(::send(peer_.get(), bytes, head_bytes, 0), static_cast<ssize_t>(head_bytes));
  }
  /// The next head that has been sent, its payload dropped.
  [[nodiscard]] wire_head read() const {
    std::byte bytes[head_bytes];
    EXPECT_EQ(::recv(peer_.get(), bytes, head_bytes, MSG_WAITALL), static_cast<ssize_t>(head_bytes));
    wire_head head;
    const char* wrong = nullptr;
    EXPECT_NE(read_frame(bytes, test_epoch, head, wrong), head_status::broken) << wrong;
    std::vector<std::byte> payload(head.size);
    if (head.size != 0) {
      EXPECT_EQ(::recv(peer_.get(), payload.data(), head.size, MSG_WAITALL), static_cast<ssize_t>(head.size));
    }
    return head;
  }
  [[nodiscard]] bool silent() const {
    std::byte one;
    return ::recv(peer_.get(), &one, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
  }

  idle_owner owner_;
  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  std::shared_ptr<tcp_endpoint> end_;
  base::unique_fd peer_;
};

}  // namespace ham::transport::tcp::test
