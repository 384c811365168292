// The bytes of one connection, plain or encrypted: whoever sends and receives them does not ask which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"

namespace ham::inline v1::transport::tcp {

class tls_context;

/// The same bytes for one thread that blocks in it, as a lane does.
class blocking_stream {
 public:
  /// What becomes of sent bytes that do not fill a packet.
  enum class rest : std::uint8_t { goes, waits };

  explicit blocking_stream(base::unique_fd socket) : socket_(std::move(socket)) {}
  virtual ~blocking_stream() = default;
  blocking_stream(const blocking_stream&) = delete;
  blocking_stream& operator=(const blocking_stream&) = delete;

  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  /// All of both, in that order. False: the connection is lost.
  [[nodiscard]] virtual bool send(std::span<const std::byte> first, std::span<const std::byte> second,
                                  rest of_them) = 0;
  /// Some of it: how much; 0 or negative: the connection has ended.
  [[nodiscard]] virtual long receive(std::span<std::byte> into) = 0;
  /// Says that nothing more comes, and why if something was wrong, as far as that goes at once.
  virtual void end() {}

 private:
  base::unique_fd socket_;
};

/// A non-blocking socket and what lies over it. One thread may receive while another one sends.
class byte_stream {
 public:
  struct outcome {
    enum class status : std::uint8_t {
      moved,    ///< `bytes` of them
      partial,  ///< something arrived that gives no bytes yet: call again
      later,    ///< the socket has nothing, or takes nothing, at present
      lost,     ///< the socket has ended: `error`, 0 in order
      failed,   ///< what lies over the socket has, see failure(): `error` is 0 if the peer ended it in order
    } what;
    std::size_t bytes = 0;
    int error = 0;
  };
  using status = outcome::status;

  explicit byte_stream(base::unique_fd socket) : socket_(std::move(socket)) {}
  virtual ~byte_stream() = default;
  byte_stream(const byte_stream&) = delete;
  byte_stream& operator=(const byte_stream&) = delete;

  /// Negative once it is closed.
  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  /// Goes on with what must happen before bytes can move. `moved`: they can.
  [[nodiscard]] virtual outcome establish() { return {status::moved}; }
  /// Up to all of `into`, which is not empty. Asks the socket at most once.
  [[nodiscard]] virtual outcome receive(std::span<std::byte> into) = 0;
  /// Whether receive() may give something, or fail, without the socket.
  [[nodiscard]] virtual bool has_input() const noexcept { return false; }
  /// Takes some of `bytes`: they have gone, or wait behind what is unsent for flush().
  [[nodiscard]] virtual outcome send(std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual outcome flush() { return {status::moved}; }
  [[nodiscard]] virtual std::size_t unsent() const noexcept { return 0; }
  /// Says, behind what is unsent, that nothing more comes, and why if something was wrong.
  virtual void end() noexcept {}
  /// Forgets the received bytes that were given out, if it has a copy of them.
  virtual void wipe_received() noexcept {}
  /// Why it has failed, for people.
  [[nodiscard]] virtual std::string failure() const { return {}; }
  /// Hands socket and state on. This object is closed then.
  [[nodiscard]] virtual std::unique_ptr<blocking_stream> make_blocking() = 0;
  /// Gives everything back; socket(), unsent() and the destructor are all that may be used after it.
  virtual void close() noexcept { socket_.reset(); }

 protected:
  /// What ::send and ::recv say.
  [[nodiscard]] outcome send_to_socket(std::span<const std::byte> bytes) const noexcept;
  [[nodiscard]] outcome receive_from_socket(std::span<std::byte> into) const noexcept;
  [[nodiscard]] base::unique_fd take_socket() noexcept { return std::move(socket_); }

 private:
  base::unique_fd socket_;
};

/// Encrypted with the key of `tls`, or plain if there is none (nullptr).
[[nodiscard]] std::unique_ptr<byte_stream> make_stream(base::unique_fd socket, std::shared_ptr<const tls_context> tls);

}  // namespace ham::transport::tcp
