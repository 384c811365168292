// Receiving of frames: hands out views of them, tells who took what, and what the end of a connection means.
#pragma once

#include <mutex>
#include <string>

#include "transport/tcp/byte_stream.hpp"
#include "transport/tcp/connection_state.hpp"
#include "transport/tcp/endpoint_owner.hpp"
#include "transport/tcp/frame_sender.hpp"
#include "transport/tcp/receive_buffer.hpp"

namespace ham::inline v1::transport::tcp {

/// Any thread. Its lock is taken before the sender's.
class frame_receiver {
 public:
  /// What next() met beside frames.
  enum class news : std::uint8_t { none, ended, malformed };

  /// `of` is what `owner` is told about.
  frame_receiver(byte_stream& from, std::uint32_t epoch, connection_state& shared, frame_sender& sender,
                 endpoint_owner& owner, tcp_endpoint& of);

  /// The next frame, until release(). `may_receive`: from the socket, too. `why` describes `what` unless that is none.
  /// False: there is none, or there were many frames that only tell something; then stopped_early() is true.
  [[nodiscard]] bool next(frame& out, bool may_receive, news& what, std::string& why);
  void release() noexcept;
  /// The last next() has left what may have more frames behind it, of which the socket does not tell.
  [[nodiscard]] bool stopped_early() noexcept;
  /// Whether a frame is here, or ciphertext waits.
  [[nodiscard]] bool has_more() noexcept;
  /// End of the frames of this side that the peer has seen, or may have.
  [[nodiscard]] std::uint64_t consumed() noexcept;

  /// The kernel says that the connection has ended: reads what is left. False: it has not, or nobody wants to know.
  [[nodiscard]] bool read_to_end(std::string& why) noexcept;
  /// The peer's machine does not answer. False: the end was known.
  [[nodiscard]] bool cut_off(std::string& why) noexcept;
  /// Reads and drops. True once the peer has ended as well.
  [[nodiscard]] bool drain() noexcept;
  /// Closes the stream, for the sender as well.
  void close_stream() noexcept;

 private:
  bool understand(const wire_head& head, std::string& why) noexcept;
  void allow_more(std::size_t frame_bytes) noexcept;
  /// Reads once. False: nothing came.
  bool fill(bool may_grow);
  void end_of_stream(int error) noexcept;
  void read_ahead(std::size_t most) noexcept;
  [[nodiscard]] bool open() const noexcept {
    return shared_.state.load(std::memory_order_relaxed) == endpoint_state::open;
  }
  [[nodiscard]] std::string ending() const;

  byte_stream& from_;
  const std::uint32_t epoch_;
  connection_state& shared_;
  frame_sender& sender_;
  endpoint_owner& owner_;
  tcp_endpoint& endpoint_;
  const bool same_machine_;

  std::mutex receiving_;
  receive_buffer in_;
  bool stopped_early_ = false;
  bool ended_ = false;     // nothing more comes
  int end_error_ = 0;      // 0: in order, as far as TCP is concerned
  bool farewell_ = false;  // the peer said that it ends
  std::size_t last_words_ = 0;
  std::uint64_t peer_limit_ = first_allowance;
};

}  // namespace ham::transport::tcp
