// What endpoints of a transport in this process have in common: a state that this side may end, and the peer's memory.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "transport/transport.hpp"

namespace ham::inline v1::transport {

class owned_endpoint : public endpoint {
 public:
  using endpoint::endpoint;

  [[nodiscard]] endpoint_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] std::string reason() const override {
    std::lock_guard guard(mutex_);
    return reason_;
  }
  void close(const std::string& reason) noexcept override {
    std::lock_guard guard(mutex_);
    if (state_.load() != endpoint_state::open) return;
    try {
      reason_ = reason;
    } catch (const std::bad_alloc&) {  // closed all the same
    }
    state_.store(endpoint_state::broken, std::memory_order_release);
  }
  [[nodiscard]] std::shared_ptr<remote_memory> memory() noexcept override { return memory_; }
  /// Something that lives as long as the endpoint: the memory it works on.
  void keep(std::shared_ptr<void> what) { kept_ = std::move(what); }
  void set_memory(std::shared_ptr<remote_memory> memory) { memory_ = std::move(memory); }
  [[nodiscard]] bool peer_copies_mapped() const noexcept override { return peer_copies_mapped_; }
  /// Before the runtime sees the endpoint.
  void set_peer_copies_mapped() noexcept { peer_copies_mapped_ = true; }

 private:
  std::atomic<endpoint_state> state_{endpoint_state::open};
  std::shared_ptr<remote_memory> memory_;
  std::shared_ptr<void> kept_;
  bool peer_copies_mapped_ = false;
  mutable std::mutex mutex_;
  std::string reason_;
};

}  // namespace ham::transport
