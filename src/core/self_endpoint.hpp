// The endpoint by which a node calls itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <list>
#include <mutex>
#include <vector>

#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// A queue of messages in this process. Sending is serialised by the runtime as for every endpoint.
class self_endpoint final : public transport::endpoint {
 public:
  /// `on_commit` is called after every message, on the thread that sends it.
  self_endpoint(node_t self, std::function<void()> on_commit) : endpoint(self), on_commit_(std::move(on_commit)) {}

  [[nodiscard]] std::size_t max_payload() const noexcept override { return std::numeric_limits<std::size_t>::max(); }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    if (queued_.load(std::memory_order_relaxed) >= max_queued) return nullptr;
    try {
      building_.assign(std::max(size, transport::readable_payload), std::byte{});
      make_entry();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    size_ = size;
    return building_.data();
  }
  void cancel() noexcept override {}
  void commit(const transport::frame_head& head) noexcept override {
    std::lock_guard guard(mutex_);
    next_.front() = {head, size_, std::move(building_)};
    messages_.splice(messages_.end(), next_);
    queued_.fetch_add(1, std::memory_order_seq_cst);
    on_commit_();
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return 1; }

  [[nodiscard]] std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const noexcept { return queued_.load(std::memory_order_acquire) == 0; }
  [[nodiscard]] bool poll(transport::frame& out) noexcept override {
    if (empty()) return false;
    std::lock_guard guard(mutex_);
    taken_ = std::move(messages_.front());
    if (spare_.size() < max_spare)
      spare_.splice(spare_.end(), messages_, messages_.begin());
    else
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
  void detach_after_fork() noexcept { queued_.store(0); }

 private:
  static constexpr std::size_t max_queued = 4096;
  static constexpr std::size_t max_spare = 16;
  struct message {
    transport::frame_head head;
    std::size_t size = 0;
    std::vector<std::byte> bytes;
  };
  /// Memory for the message that is being built: none is needed to commit it.
  void make_entry() {
    if (!next_.empty()) return;
    std::lock_guard guard(mutex_);
    if (spare_.empty())
      next_.emplace_back();
    else
      next_.splice(next_.end(), spare_, spare_.begin());
  }

  std::function<void()> on_commit_;
  std::vector<std::byte> building_;
  std::size_t size_ = 0;
  std::mutex mutex_;
  std::list<message> messages_;
  std::list<message> spare_;  // to be used again
  std::list<message> next_;   // the one that is being built
  std::atomic<std::size_t> queued_{0};
  message taken_;
};

}  // namespace ham::detail
