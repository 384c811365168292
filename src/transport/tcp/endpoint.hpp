// One connection for frames: gathers small ones in a burst, hands out views of received ones, tells who took what.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "transport/tcp/handshake.hpp"
#include "transport/tcp/receive_buffer.hpp"
#include "transport/tcp/send_queue.hpp"
#include "transport/transport.hpp"

namespace ham::transport::tcp {

class tcp_endpoint;

/// What an endpoint asks of the network that it belongs to. Any thread.
class endpoint_owner {
 public:
  virtual ~endpoint_owner() = default;
  /// Bytes were gathered that push_aged() would send.
  virtual void schedule_flush() noexcept = 0;
  /// Frames were taken that acknowledge() would tell of.
  virtual void schedule_ack() noexcept = 0;
  /// The connection has ended by itself.
  virtual void lost(tcp_endpoint& which, const std::string& reason) noexcept = 0;
  /// The peer broke the wire format.
  virtual void broken(tcp_endpoint& which, const std::string& reason) noexcept = 0;
  /// Nobody will use the socket any more.
  virtual void closed(tcp_endpoint& which) noexcept = 0;
  /// The socket has nothing to give any more.
  virtual void read_eof(tcp_endpoint& which) noexcept = 0;
  /// The peer wants a lane for bulk data.
  virtual void lane_wanted(tcp_endpoint& which) noexcept = 0;
  /// Much is under way to the peer: watch_silence() must be called soon.
  virtual void watch_soon() noexcept = 0;
};

/// Locks: `receiving_` before `sending_`. Records are opened under the one and sealed under the other.
class tcp_endpoint final : public endpoint {
 public:
  tcp_endpoint(node_t peer, connection with, std::chrono::milliseconds timeout, endpoint_owner& owner);
  ~tcp_endpoint() override;

  // ---- endpoint
  [[nodiscard]] std::size_t max_payload() const noexcept override { return largest_payload; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override;
  void cancel() noexcept override {}
  void commit(const frame_head& head) noexcept override;
  [[nodiscard]] std::uint64_t consumed() const noexcept override;
  [[nodiscard]] bool poll(frame& out) noexcept override;
  void release() noexcept override;
  [[nodiscard]] endpoint_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] std::string reason() const override;
  void close(const std::string& reason) noexcept override;
  [[nodiscard]] std::shared_ptr<remote_memory> memory() noexcept override { return memory_; }

  // ---- for the network
  void set_memory(std::shared_ptr<remote_memory> memory) noexcept { memory_ = std::move(memory); }
  [[nodiscard]] int socket() const noexcept { return connected_.socket(); }
  /// A frame that is here already.
  [[nodiscard]] bool poll_buffered(frame& out) noexcept;
  /// Whether poll_buffered() would find one, or ciphertext waits.
  [[nodiscard]] bool has_more() noexcept;
  /// Puts the socket into an epoll (EPOLLIN), and takes it out: for now, or for good because nothing more comes.
  void list_in(int epoll) noexcept;
  void take_out(int epoll, bool for_good) noexcept;
  /// Bytes wait for push().
  [[nodiscard]] bool gathering() const noexcept { return gathering_.load(std::memory_order_relaxed); }
  /// Sends what waits, unless somebody else is at it.
  void push() noexcept;
  /// The same for what has waited long enough by `now_ns`. True if anything waits, or may soon.
  [[nodiscard]] bool push_aged(std::int64_t now_ns) noexcept;
  /// The peer does not know yet how many of its frames were taken.
  [[nodiscard]] bool ack_due() const noexcept {
    return acknowledged_.load() != static_cast<std::uint32_t>(taken_.load()) && state() == endpoint_state::open;
  }
  /// Tells it, unless a frame has done so or more were taken since the last call.
  void acknowledge() noexcept;
  /// The socket can be written again. True if a reserve() had been refused.
  [[nodiscard]] bool writable() noexcept;
  /// The kernel says that the connection has ended: reads what is left, and reports.
  void hung_up() noexcept;
  /// Looks whether the peer's machine still answers, and says after how many nanoseconds to look again.
  [[nodiscard]] std::int64_t watch_silence() noexcept;
  void ask_for_lane() noexcept;
  /// Ends in order: sends what waits, says so, and sends no more.
  void leave() noexcept;
  /// Reads and drops. True once the peer has ended as well.
  [[nodiscard]] bool drain() noexcept;
  /// Gives the descriptor back.
  void close_stream() noexcept;

 private:
  enum class news : std::uint8_t { none, ended, malformed };

  bool next_frame(frame& out, bool may_receive, news& told, std::string& why);
  void notify(news what, const std::string& why) noexcept;
  bool understand(const wire_head& head, std::string& why) noexcept;
  void allow_more(std::size_t frame_bytes) noexcept;
  /// Reads once. False: nothing came.
  bool fill(bool may_grow);
  void end_of_stream(int error) noexcept;
  void read_ahead(std::size_t most) noexcept;
  void cut_off() noexcept;
  [[nodiscard]] std::string ending() const;

  void send_what_waits() noexcept;
  bool send_some();
  bool send_control();
  void prepare_control();
  bool went_on(byte_stream::status how) noexcept;
  void end_records() noexcept;
  void sending_failed() noexcept;
  void count_under_way(std::size_t bytes) noexcept;

  connection connected_;
  const std::uint32_t epoch_;
  const std::chrono::milliseconds timeout_;
  endpoint_owner& owner_;
  const bool same_machine_;

  mutable std::mutex receiving_;
  receive_buffer in_;
  bool ended_ = false;     // nothing more comes
  int end_error_ = 0;      // 0: in order, as far as TCP is concerned
  bool farewell_ = false;  // the peer said that it ends
  std::size_t last_words_ = 0;
  std::atomic<std::uint64_t> taken_{0};  // frames of the peer
  std::atomic<std::uint32_t> allowed_{first_allowance};
  std::atomic<bool> more_here_{false};  // the buffer holds a further frame
  std::atomic<std::uint64_t> peer_taken_{0};
  std::uint64_t peer_limit_ = first_allowance;

  std::mutex sending_;
  send_queue queue_;
  std::vector<std::byte> control_;  // frames of the transport's own under way
  std::size_t control_sent_ = 0;
  bool blocked_ = false;
  bool dead_ = false;
  bool left_ = false;
  bool dry_ = false;
  bool notice_due_ = false;
  std::uint16_t notice_ahead_ = 0;
  bool farewell_due_ = false;
  bool farewell_under_way_ = false;  // in control_
  bool lane_due_ = false;
  bool refused_ = false;
  bool limited_ = true;
  std::size_t under_way_ = 0;
  std::int64_t last_send_ns_ = 0;
  std::atomic<unsigned> streak_{0};
  std::atomic<bool> gathering_{false};
  std::atomic<std::int64_t> gathering_since_{0};
  std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> handed_{0};
  std::atomic<std::uint32_t> acknowledged_{0};
  std::uint32_t taken_before_ = 0;  // at the last acknowledge()

  std::atomic<endpoint_state> state_{endpoint_state::open};
  std::atomic<bool> reported_{false};
  std::shared_ptr<remote_memory> memory_;
  mutable std::mutex reason_mutex_;
  std::string reason_;
};

}  // namespace ham::transport::tcp
