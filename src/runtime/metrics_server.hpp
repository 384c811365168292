// Answers the requests of Prometheus: a small HTTP server on loopback, with a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "base/unique_fd.hpp"
#include "runtime/metrics_client.hpp"

namespace ham::inline v1::detail {

/// As many requests at once as max_clients: each has its own time (metrics_client), and what comes in meanwhile waits
/// in a short queue of the kernel. Only this machine can connect; whoever can is told what there is to tell.
class metrics_server {
 public:
  static constexpr std::size_t max_clients = 16;

  /// Listens on 127.0.0.1; port 0: one that is free. `text` gives the metrics, on the server's thread. Throws
  /// ham::config_error.
  metrics_server(std::uint16_t port, std::function<std::string()> text);
  /// Ends the requests that are being answered, too.
  ~metrics_server();
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The one of this process, with all jobs of which it is the host, until nobody holds it; nullptr: HAM_METRICS says
  /// nothing, or cannot be served, of which a line tells: programs that a job starts inherit it. Throws
  /// ham::config_error for what is no port. Any thread.
  [[nodiscard]] static std::shared_ptr<metrics_server> of_process();

 private:
  class polled;

  void serve() noexcept;
  void accept(std::list<metrics_client>& clients) const noexcept;
  [[nodiscard]] static bool goes_on(metrics_client& one) noexcept;

  const std::function<std::string()> text_;
  base::unique_fd listener_;
  base::unique_fd stop_;  ///< readable: it is to end
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace ham::detail
