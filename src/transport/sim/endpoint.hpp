// One simulated node's connection to another.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "transport/common/owned_endpoint.hpp"
#include "transport/sim/network.hpp"

namespace ham::inline v1::transport::sim {

/// Another node's heap: checked and copied at once.
class sim_memory final : public remote_memory {
 public:
  sim_memory(network& among, node_t owner) : network_(among), owner_(owner) {}
  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    return network_.access(owner_, address, tag, size, from, nullptr);
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    return network_.access(owner_, address, tag, size, nullptr, to);
  }

 private:
  network& network_;
  node_t owner_;
};

/// Positions in the stream are numbers of frames.
class sim_endpoint final : public owned_endpoint {
 public:
  sim_endpoint(network& among, node_t self, node_t peer)
      : owned_endpoint(peer), network_(among), out_(among.between(self, peer)), in_(among.between(peer, self)) {}

  [[nodiscard]] std::size_t max_payload() const noexcept override { return network_.directing().max_payload(); }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    if (state() != endpoint_state::open || !network_.has_room(out_)) return nullptr;
    next_ = {};
    next_.payload.resize(std::max(size, readable_payload));
    next_.size = size;
    return next_.payload.data();
  }
  void cancel() noexcept override { next_ = {}; }
  void commit(const frame_head& head) noexcept override {
    next_.head = head;
    ++sent_;
    network_.send(out_, std::exchange(next_, {}));
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return network_.consumed(out_); }

  [[nodiscard]] bool poll(frame& out) noexcept override {
    if (!begin_reading()) return false;
    if (const packet* const first = next()) {
      take(*first, out);
      return true;
    }
    end_reading();
    return false;
  }
  [[nodiscard]] bool can_be_shared() const noexcept override { return true; }
  [[nodiscard]] reply_poll poll_reply(std::uint8_t kind, std::uint32_t call, std::size_t most, unsigned /*polls*/,
                                      frame& out) noexcept override {
    const packet* const first = next();
    if (first == nullptr) return reply_poll::nothing;
    if (first->head.kind != kind || first->head.call != call || first->size > most) return reply_poll::other;
    take(*first, out);
    static_cast<void>(begin_reading());  // once more: release() gives that back
    return reply_poll::reply;
  }
  /// When the next frame arrives, if one is on its way.
  [[nodiscard]] std::int64_t next_arrival_ns() const noexcept { return network_.arrival_ns(in_); }
  void release() noexcept override {
    if (!reads()) return;
    if (std::exchange(polled_, false)) network_.take(in_);
    end_reading();
  }

 private:
  [[nodiscard]] const packet* next() const noexcept {
    return state() == endpoint_state::open ? network_.arrived(in_) : nullptr;
  }
  void take(const packet& first, frame& out) noexcept {
    polled_ = true;
    out = {first.head, {first.payload.data(), first.size}};
  }

  network& network_;
  link& out_;
  link& in_;
  packet next_;
  bool polled_ = false;  ///< and not released
};

}  // namespace ham::transport::sim
