// A network without a simulation: everything arrives at once, or when a test says.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/sim/network.hpp"

namespace ham::inline v1::transport::sim {

class plain_director final : public director {
 public:
  [[nodiscard]] std::int64_t delay_ns(node_t, node_t) override { return delay; }
  [[nodiscard]] std::size_t capacity(node_t, node_t) override { return frames; }
  [[nodiscard]] std::size_t max_payload() const override { return 4096; }
  void start(std::unique_ptr<target_side> target, company) override { started.push_back(std::move(target)); }
  void end(node_t node, std::chrono::milliseconds) override { ended.push_back(node); }

  void on_sent(node_t from, node_t to, packet& what) override {
    seen.push_back({from, to, what.head.key, false});
    if (what.head.key == changes) what.head.key += 100;
  }
  void on_consumed(node_t from, node_t to, const packet& what) override {
    seen.push_back({from, to, what.head.key, true});
  }

  /// A frame, as the network has told of it.
  struct sighting {
    node_t from;
    node_t to;
    std::uint32_t key;
    bool consumed;
    bool operator==(const sighting&) const = default;
  };
  std::vector<sighting> seen;
  std::uint32_t changes = 0;  ///< key of frames that get another one
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
