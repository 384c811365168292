// A network without a simulation: everything arrives at once, or when a test says.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/sim/network.hpp"

namespace ham::transport::sim {

class plain_director final : public director {
 public:
  [[nodiscard]] std::int64_t delay_ns(node_t, node_t) override { return delay; }
  [[nodiscard]] std::size_t capacity(node_t, node_t) override { return frames; }
  [[nodiscard]] std::size_t max_payload() const override { return 4096; }
  void start(std::unique_ptr<target_side> target, company) override { started.push_back(std::move(target)); }
  void end(node_t node, std::chrono::milliseconds) override { ended.push_back(node); }

  std::atomic<std::int64_t> delay{0};
  std::atomic<std::size_t> frames{64};
  std::vector<std::unique_ptr<target_side>> started;
  std::vector<node_t> ended;
};

/// Whether it becomes so within ten seconds.
template <class Done>
bool eventually(Done done) {
  for (int i = 0; i < 10000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace ham::transport::sim
