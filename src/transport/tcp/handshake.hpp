// One connection on its way, from the socket to the exchanged greeting. Non-blocking; takes nothing on trust.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "transport/tcp/byte_stream.hpp"
#include "transport/tcp/hello_format.hpp"
#include "transport/tcp/tls_session.hpp"

namespace ham::inline v1::transport::tcp {

/// A connection that both sides have agreed on.
struct connection {
  std::unique_ptr<byte_stream> bytes;
  std::uint32_t epoch = 0;  ///< of its frames

  [[nodiscard]] int socket() const noexcept { return bytes->socket(); }
};

/// Whoever owns one calls step() when the socket is ready for what wants() says.
class handshake {
 public:
  enum class status : std::uint8_t { pending, greeted, failed };

  /// The side that connects. `tls` nullptr: plaintext.
  handshake(base::unique_fd socket, std::shared_ptr<const tls_context> tls, const hello& mine);
  /// The side that was connected to.
  handshake(base::unique_fd socket, std::shared_ptr<const tls_context> tls);

  [[nodiscard]] status step() noexcept;
  /// POLLIN or POLLOUT.
  [[nodiscard]] short wants() const noexcept;
  [[nodiscard]] int socket() const noexcept { return connected_.socket(); }
  /// Failed because the peer closed the connection.
  [[nodiscard]] bool hung_up() const noexcept { return hung_up_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// Whether it has said anything so far.
  [[nodiscard]] bool silent() const noexcept { return silent_; }

  // ---- once greeted
  [[nodiscard]] const hello& theirs() const noexcept { return hello_; }      ///< of who connected
  [[nodiscard]] const welcome& answer() const noexcept { return welcome_; }  ///< of who was connected to
  /// Hands the connection out.
  [[nodiscard]] connection take() noexcept { return std::move(connected_); }

 private:
  enum class stage : std::uint8_t { connecting, securing, greeting };

  status go_on();
  status connect();
  status secure();
  status greet();
  status understand();
  status send_hello();
  /// False: the connection is lost. What remains is in unsent_ or in the stream.
  bool send_rest();
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty() || connected_.bytes->unsent() != 0; }
  status fail(std::string why);
  status lost(int error);

  connection connected_;
  bool client_;
  bool hung_up_ = false;
  bool silent_ = true;
  stage stage_;
  hello hello_;
  welcome welcome_;
  std::vector<std::byte> unsent_;  // of the greeting
  std::array<std::byte, hello::bytes> greeting_{};
  std::size_t size_;
  std::size_t have_ = 0;
  std::string why_;
};

/// Sends the answer to a greeting; the socket has room for it, or is not worth waiting for.
[[nodiscard]] bool send_welcome(connection& to, const welcome& what) noexcept;

}  // namespace ham::transport::tcp
