// The endpoint by which a node calls itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "transport/transport.hpp"

namespace ham::detail {

/// A queue of messages in this process. Sending is serialised by the runtime as for every endpoint.
class self_endpoint final : public transport::endpoint {
 public:
  /// `on_commit` is called after every message, on the thread that sends it.
  self_endpoint(node_t self, std::function<void()> on_commit) : endpoint(self), on_commit_(std::move(on_commit)) {}

  [[nodiscard]] std::size_t max_payload() const noexcept override { return std::numeric_limits<std::size_t>::max(); }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    if (queued_.load(std::memory_order_relaxed) >= most_queued) return nullptr;
    building_.assign(std::max(size, transport::readable_payload), std::byte{});
    size_ = size;
    return building_.data();
  }
  void cancel() noexcept override {}
  void commit(const transport::frame_head& head) noexcept override {
    std::lock_guard guard(mutex_);
    messages_.push_back({head, size_, std::move(building_)});
    queued_.fetch_add(1, std::memory_order_seq_cst);
    on_commit_();
  }
  [[nodiscard]] std::uint64_t taken() const noexcept override { return 1; }

  [[nodiscard]] std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const noexcept { return queued_.load(std::memory_order_acquire) == 0; }
  [[nodiscard]] bool poll(transport::frame& out) noexcept override {
    if (empty()) return false;
    std::lock_guard guard(mutex_);
    taken_ = std::move(messages_.front());
    messages_.pop_front();
    queued_.fetch_sub(1, std::memory_order_release);
    out.head = taken_.head;
    out.payload = {taken_.bytes.data(), taken_.size};
    return true;
  }
  void release() noexcept override {}
  [[nodiscard]] transport::endpoint_state state() const noexcept override { return transport::endpoint_state::open; }
  [[nodiscard]] std::string reason() const override { return {}; }
  void close(const std::string&) noexcept override {}
  /// In a child after fork: what waits here is the parent's to execute.
  void disown() noexcept { queued_.store(0); }

 private:
  static constexpr std::size_t most_queued = 4096;
  struct message {
    transport::frame_head head;
    std::size_t size = 0;
    std::vector<std::byte> bytes;
  };
  std::function<void()> on_commit_;
  std::vector<std::byte> building_;
  std::size_t size_ = 0;
  std::mutex mutex_;
  std::deque<message> messages_;
  std::atomic<std::size_t> queued_{0};
  message taken_;
};

}  // namespace ham::detail
