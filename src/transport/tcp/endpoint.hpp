// One connection for frames: what sends, what receives, and how it ends.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "transport/tcp/endpoint_owner.hpp"
#include "transport/tcp/frame_receiver.hpp"
#include "transport/tcp/frame_sender.hpp"
#include "transport/tcp/handshake.hpp"
#include "transport/tcp/poll_entry.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::tcp {

class tcp_endpoint final : public endpoint {
 public:
  /// `memory`: access to that of the peer; nullptr: it offers none.
  tcp_endpoint(node_t peer, connection with, std::chrono::milliseconds timeout, endpoint_owner& owner,
               std::shared_ptr<remote_memory> memory = nullptr);
  ~tcp_endpoint() override;

  // ---- endpoint
  [[nodiscard]] std::size_t max_payload() const noexcept override { return largest_payload; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override { return sender_.reserve(size); }
  void cancel() noexcept override {}
  void commit(const frame_head& head) noexcept override {
    ++sent_;
    sender_.commit(head);
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return receiver_.consumed(); }
  [[nodiscard]] bool poll(frame& out) noexcept override;
  void release() noexcept override { receiver_.release(); }
  [[nodiscard]] endpoint_state state() const noexcept override { return shared_.state.load(std::memory_order_acquire); }
  [[nodiscard]] std::string reason() const override;
  void close(const std::string& reason) noexcept override;
  [[nodiscard]] std::shared_ptr<remote_memory> memory() noexcept override { return memory_; }

  // ---- for the network
  [[nodiscard]] int socket() const noexcept { return connected_.socket(); }
  [[nodiscard]] frame_sender& sender() noexcept { return sender_; }
  [[nodiscard]] frame_receiver& receiver() noexcept { return receiver_; }
  [[nodiscard]] poll_entry& entry() noexcept { return entry_; }
  /// A frame that is here already.
  [[nodiscard]] bool poll_buffered(frame& out) noexcept;
  /// The kernel says that the connection has ended: reads what is left, and reports.
  void hung_up() noexcept;
  /// Looks whether the peer's machine still answers, and says after how many nanoseconds to look again.
  [[nodiscard]] std::int64_t watch_silence() noexcept;
  /// Ends in order: sends what waits, says so, and sends no more.
  void leave() noexcept;
  /// Gives the descriptor back.
  void close_stream() noexcept;

 private:
  using news = frame_receiver::news;

  bool next_frame(frame& out, bool may_receive) noexcept;
  void notify(news what, const std::string& why) noexcept;
  bool end_with(endpoint_state end, const std::string& reason) noexcept;

  connection connected_;
  endpoint_owner& owner_;
  connection_state shared_;
  frame_sender sender_;
  mutable frame_receiver receiver_;  // consumed() reads what the peer has sent of it
  poll_entry entry_;
  std::atomic<bool> reported_{false};
  const std::shared_ptr<remote_memory> memory_;
  mutable std::mutex reason_mutex_;
  std::string reason_;
};

}  // namespace ham::transport::tcp
