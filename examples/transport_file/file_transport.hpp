// What host and targets have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/process.hpp"
#include "file_endpoint.hpp"
#include "transport/common/polled_transport.hpp"

namespace ham::transport::file {

/// What a target is told first, beside the descriptors of the file it reads and of the one it writes.
struct welcome {
  static constexpr std::uint32_t protocol = 1;
  std::uint32_t version = protocol;
  std::int32_t node = 0;
  std::uint32_t nodes = 0;    ///< numbers that the job has given so far
  std::uint32_t running = 0;  ///< nodes of the job on this machine
};

class file_transport : public polled_transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "file"; }
  [[nodiscard]] bool oversubscribed() const noexcept override {
    return running_.load(std::memory_order_relaxed) > cores_;
  }

 protected:
  explicit file_transport(observer& to) : polled_transport(to, {}) {}

  void add(node_t peer, file_pair files) { adopt(std::make_unique<file_endpoint>(peer, std::move(files))); }
  /// So many nodes want to run on this machine.
  void expect_running(std::uint32_t nodes) noexcept { running_.store(nodes); }
  void expect_one_less() noexcept { running_.fetch_sub(1); }
  /// A poll is a system call.
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return false; }

 private:
  const unsigned cores_ = base::usable_cores();
  std::atomic<std::uint32_t> running_{2};
};

}  // namespace ham::transport::file
