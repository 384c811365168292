// One connection to the server of metrics: a request comes in, its answer goes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {

/// Never blocks: whoever has it polls the descriptor for what it waits for, and for its deadline. One thread at a time.
class metrics_client {
 public:
  static constexpr std::size_t max_request_bytes = 8192;
  static constexpr std::int64_t time_limit_ns = 2'000'000'000;  ///< of the request, and of the answer

  /// `connection` is not blocking. `text` gives the metrics, and outlives this.
  metrics_client(base::unique_fd connection, const std::function<std::string()>& text);

  [[nodiscard]] int fd() const noexcept { return connection_.get(); }
  /// What to poll for, as poll calls it.
  [[nodiscard]] short awaits() const noexcept;
  /// When go_on is due even if there is nothing to poll, on base::now_ns().
  [[nodiscard]] std::int64_t until_ns() const noexcept { return until_ns_; }
  /// Reads or writes what can be; false: the connection is over. Throws what `text` throws.
  [[nodiscard]] bool go_on(std::int64_t now_ns);

 private:
  enum class phase : std::uint8_t { receiving, sending, draining };

  bool receive(bool late);
  bool send();
  bool drain();

  base::unique_fd connection_;
  const std::function<std::string()>* text_;
  std::string bytes_;     // of the request, then of the answer
  std::size_t done_ = 0;  // of the answer; then of what has come behind the request
  std::int64_t until_ns_;
  phase now_ = phase::receiving;
};

}  // namespace ham::detail
