// Memory of a device whose copies are over when the test says so.
#pragma once

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/device_memory.hpp"

namespace ham::inline v1::test {

class stepped_memory final : public transport::device_memory {
 public:
  static constexpr std::size_t arena_bytes = std::size_t{8} << 20;
  static constexpr std::size_t alignment = 256;

  /// `staging_bytes`: of which pieces are made.
  explicit stepped_memory(std::size_t staging_bytes, std::size_t bytes = arena_bytes)
      : arena_(bytes + alignment), staging_(staging_bytes) {}

  /// So many more copies may be done.
  void allow(std::uint64_t count) { allowed_.fetch_add(count); }
  void allow_all() { allowed_.store(UINT64_MAX); }
  void fail() { failed_.store(true); }
  [[nodiscard]] std::uint64_t started() const { return started_.load(); }
  /// Places that it was asked to lock.
  [[nodiscard]] std::uint64_t locked() const { return locked_.load(); }
  void refuse_locks() { refuses_locks_.store(true); }
  /// Arenas that it has been asked to open, and those that are open.
  [[nodiscard]] std::uint64_t asked_to_open() const { return asked_to_open_.load(); }
  [[nodiscard]] std::uint64_t open() const { return *open_; }
  void refuse_peers() { refuses_peers_.store(true); }
  [[nodiscard]] std::uint64_t from_peers() const { return from_peers_.load(); }

  [[nodiscard]] block arena() const noexcept override {
    return {(reinterpret_cast<std::uintptr_t>(arena_.data()) + alignment - 1) / alignment * alignment,
            arena_.size() - alignment};
  }
  [[nodiscard]] std::span<std::byte> staging() noexcept override { return staging_; }
  [[nodiscard]] bool lock_pages(std::span<std::byte>) noexcept override {
    ++locked_;
    return !refuses_locks_.load();
  }
  /// Of this process.
  [[nodiscard]] transport::arena_handle export_arena() const noexcept override {
    return transport::arena_handle::of(arena());
  }
  [[nodiscard]] std::unique_ptr<transport::peer_arena> open_peer(const transport::arena_handle& of) noexcept override {
    block where{};
    ++asked_to_open_;
    if (refuses_peers_.load() || !of.read(where)) return nullptr;
    return std::make_unique<counted_arena>(where, open_);
  }
  std::uint64_t start(const transport::device_copy& what) noexcept override {
    return add([what] {
      for (std::size_t row = 0; row < what.rows; ++row) {
        auto* const there = reinterpret_cast<std::byte*>(what.device + row * what.pitch);
        std::byte* const here = what.host + row * what.row_bytes;
        const bool in = what.which == transport::device_copy::direction::to_device;
        std::memcpy(in ? there : here, in ? here : there, what.row_bytes);
      }
    });
  }
  std::uint64_t start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept override {
    return add([=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes); });
  }
  std::uint64_t start_from_peer(const transport::peer_copy& what) noexcept override {
    ++from_peers_;
    return add([what] {
      for (std::size_t row = 0; row < what.rows; ++row)
        std::memcpy(reinterpret_cast<void*>(what.to + row * what.to_pitch),
                    reinterpret_cast<const void*>(what.from + row * what.from_pitch), what.row_bytes);
    });
  }
  std::uint64_t start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept override {
    return add([=] { std::memset(reinterpret_cast<void*>(to), std::to_integer<int>(value), bytes); });
  }
  [[nodiscard]] std::uint64_t finished() noexcept override {
    while (!failed_.load() && !tasks_.empty() && finished_ < allowed_.load()) {
      tasks_.front()();
      tasks_.pop_front();
      ++finished_;
    }
    return finished_;
  }
  [[nodiscard]] std::string failure() const override { return failed_.load() ? "an illegal address" : ""; }

 private:
  using counter = std::shared_ptr<std::atomic<std::uint64_t>>;

  class counted_arena final : public transport::peer_arena {
   public:
    counted_arena(block where, counter open) : peer_arena(where.address, where.bytes), open_(std::move(open)) {
      ++*open_;
    }
    ~counted_arena() override { --*open_; }

   private:
    const counter open_;
  };

  std::uint64_t add(std::function<void()> what) {
    tasks_.push_back(std::move(what));
    return started_.fetch_add(1) + 1;
  }

  std::vector<std::byte> arena_;
  std::vector<std::byte> staging_;
  std::deque<std::function<void()>> tasks_;
  std::uint64_t finished_ = 0;
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> allowed_{0};
  std::atomic<std::uint64_t> locked_{0};
  std::atomic<std::uint64_t> asked_to_open_{0};
  std::atomic<std::uint64_t> from_peers_{0};
  const counter open_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::atomic<bool> failed_{false};
  std::atomic<bool> refuses_locks_{false};
  std::atomic<bool> refuses_peers_{false};
};

}  // namespace ham::test
