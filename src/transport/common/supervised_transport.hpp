// A polled transport between a host and the targets that it has started on its own machine.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/process.hpp"
#include "transport/common/polled_transport.hpp"

namespace ham::inline v1::transport {

/// Knows how many nodes of the job want to run here: the host counts, and tells each target at its start.
class supervised_transport : public polled_transport {
 public:
  [[nodiscard]] bool oversubscribed() const noexcept override {
    return running_.load(std::memory_order_relaxed) > cores_;
  }

 protected:
  explicit supervised_transport(observer& to) : polled_transport(to, {}) {}

  /// So many nodes want to run on this machine. Any thread.
  void expect_running(std::uint32_t nodes) noexcept { running_.store(nodes); }
  /// One of them has ended. Any thread.
  void expect_one_less() noexcept { running_.fetch_sub(1); }

 private:
  const unsigned cores_ = base::usable_cores();
  std::atomic<std::uint32_t> running_{2};
};

}  // namespace ham::transport
