// Answers the requests of Prometheus: a small HTTP server on loopback, with a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.hpp"

namespace ham::inline v0::detail {

/// One request after the other: each has two seconds and 8 KiB, and what comes in meanwhile waits in a short queue of
/// the kernel. Only this machine can connect; whoever can is told what there is to tell.
class metrics_server {
 public:
  static constexpr std::size_t max_request_bytes = 8192;
  static constexpr std::int64_t request_limit_ns = 2'000'000'000;

  /// Listens on 127.0.0.1; port 0: one that is free. `text` gives the metrics, on the server's thread. Throws
  /// ham::config_error.
  metrics_server(std::uint16_t port, std::function<std::string()> text);
  /// Ends the request that is being answered, too.
  ~metrics_server();
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The one of this process, with all jobs of which it is the host, until nobody holds it; nullptr: HAM_METRICS says
  /// nothing, or cannot be served, of which a line tells: programs that a job starts inherit it. Throws
  /// ham::config_error for what is no port. Any thread.
  [[nodiscard]] static std::shared_ptr<metrics_server> of_process();

 private:
  void serve() noexcept;
  void answer(int connection);
  [[nodiscard]] bool await(int fd, short what, std::int64_t until_ns) const noexcept;
  [[nodiscard]] std::string receive(int connection, std::int64_t until_ns) const;
  void send(int connection, std::string_view bytes, std::int64_t until_ns) const noexcept;

  const std::function<std::string()> text_;
  base::unique_fd listener_;
  base::unique_fd stop_;  ///< readable: it is to end
  std::uint16_t port_ = 0;
  std::thread thread_;
};

/// The answer to a request, of which nothing is believed: the metrics for GET and HEAD of /metrics and /.
[[nodiscard]] std::string http_answer(std::string_view request, const std::function<std::string()>& text);

}  // namespace ham::detail
