// Sending of frames: at once when the line is idle, together in a burst, later when the wire is full.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "transport/tcp/byte_stream.hpp"
#include "transport/tcp/connection_state.hpp"
#include "transport/tcp/endpoint_owner.hpp"
#include "transport/tcp/send_queue.hpp"
#include "transport/tcp/silence_watch.hpp"

namespace ham::inline v1::transport::tcp {

/// Any thread; one at a time reserves and commits. Its lock is taken behind the receiver's.
class frame_sender {
 public:
  frame_sender(byte_stream& to, std::uint32_t epoch, std::chrono::milliseconds timeout, connection_state& shared,
               endpoint_owner& owner);

  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept;
  void commit(const frame_head& head) noexcept;

  /// Bytes wait for push().
  [[nodiscard]] bool gathering() const noexcept { return gathering_.load(std::memory_order_relaxed); }
  /// Sends what waits, unless somebody else is at it.
  void push() noexcept;
  /// The same for what has waited long enough by `now_ns`. True if anything waits, or may soon.
  [[nodiscard]] bool push_aged(std::int64_t now_ns) noexcept;
  /// The socket can be written again. True if a reserve() had been refused.
  [[nodiscard]] bool writable() noexcept;

  /// The peer does not know yet how many of its frames were taken.
  [[nodiscard]] bool ack_due() const noexcept {
    return shared_.acknowledged.load() != static_cast<std::uint32_t>(shared_.taken.load());
  }
  /// Tells it, unless a frame has done so or more were taken since the last call.
  void acknowledge() noexcept;
  /// Tells it at once, and that `ahead` more will be taken.
  void announce(std::uint16_t ahead) noexcept;
  /// More frames of the peer are here: what is sent now is followed by answers to them.
  void set_more_here(bool more) noexcept { more_here_.store(more, std::memory_order_relaxed); }
  /// Nothing more was here: the next frame is the first of a burst.
  void end_burst() noexcept { streak_.store(0, std::memory_order_relaxed); }

  void ask_for_lane() noexcept;
  [[nodiscard]] silence_watch::outcome check_silence() noexcept;

  /// Sends what waits, then that this side ends in order, then nothing.
  void leave() noexcept;
  /// Sends what goes at once, then nothing.
  void close() noexcept;
  /// The connection has ended: nothing goes any more.
  void abandon() noexcept;
  /// Closes the stream; nobody may receive from it meanwhile.
  void close_stream() noexcept;

 private:
  void send_what_waits() noexcept;
  bool send_some();
  bool send_control();
  void prepare_control();
  bool went_on(byte_stream::status how) noexcept;
  void end_records() noexcept;
  void end_sending() noexcept;
  void cut_off(int error) noexcept;
  void sending_failed() noexcept;
  void count_under_way(std::size_t bytes) noexcept;

  byte_stream& to_;
  const std::uint32_t epoch_;
  connection_state& shared_;
  endpoint_owner& owner_;

  std::mutex sending_;
  send_queue queue_;
  std::vector<std::byte> control_;  // frames of the transport's own under way
  std::size_t control_sent_ = 0;
  bool blocked_ = false;
  bool dead_ = false;
  bool left_ = false;
  bool notice_due_ = false;
  std::uint16_t notice_ahead_ = 0;
  bool farewell_due_ = false;
  bool farewell_under_way_ = false;  // in control_
  bool lane_due_ = false;
  bool refused_ = false;
  silence_watch silence_;
  std::int64_t last_send_ns_ = 0;
  std::uint32_t taken_before_ = 0;  // at the last acknowledge()
  std::atomic<bool> more_here_{false};
  std::atomic<unsigned> streak_{0};
  std::atomic<bool> gathering_{false};
  std::atomic<std::int64_t> gathering_since_{0};
};

}  // namespace ham::transport::tcp
