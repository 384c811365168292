// The memory of an emulated device: threads of the device reach it, other processes only by copies of their devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "transport/cuda/emulated_arena.hpp"
#include "transport/cuda/geometry.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::transport::cuda {

/// The arena is a file in memory, which processes of other emulated devices open by its handle and map to read it
/// (emulated_arena). Copies are made by whoever asks finished(), in the order of their starts, when the time has come
/// at which a link would have moved them: after the latency of its direction, and at the link's bandwidth. One out of
/// another arena takes what one to the device takes; those within the device, and fills, do not use the link.
class emulated_memory final : public device_memory {
 public:
  static constexpr std::size_t staging_bytes = std::size_t{8} << 20;

  /// Throws ham::config_error if the process has no room for it.
  explicit emulated_memory(const geometry& of);
  ~emulated_memory() override;

  [[nodiscard]] block arena() const noexcept override { return {address_of(arena_.data()), arena_.size()}; }
  [[nodiscard]] std::span<std::byte> staging() noexcept override { return {staging_, staging_bytes}; }
  [[nodiscard]] arena_handle export_arena() const noexcept override { return arena_.handle(); }
  [[nodiscard]] std::unique_ptr<peer_arena> open_peer(const arena_handle& of) noexcept override {
    return emulated_arena::open(of);
  }
  std::uint64_t start(const device_copy& what) noexcept override;
  std::uint64_t start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept override;
  /// Over the link, once.
  std::uint64_t start_from_peer(const peer_copy& what) noexcept override;
  std::uint64_t start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept override;
  [[nodiscard]] std::uint64_t finished() noexcept override;
  [[nodiscard]] std::string failure() const override { return no_memory_ ? "no memory for another copy" : ""; }

 private:
  /// What is to be done at `due_ns`.
  struct task {
    enum class kind : std::uint8_t { copy, within, from_peer, fill } what;
    device_copy copy;            // of the others: device, row_bytes, and of `from_peer` rows and pitch
    std::uint64_t from = 0;      // of `within` and `from_peer`
    std::size_t from_pitch = 0;  // of `from_peer`
    std::byte value{};           // of `fill`
    std::int64_t due_ns = 0;
  };

  [[nodiscard]] static std::uint64_t address_of(const std::byte* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory);
  }
  std::uint64_t add(task what, std::int64_t latency_ns, bool over_link) noexcept;
  static void execute(const task& what) noexcept;
  static void execute_copy(const device_copy& copy) noexcept;

  const std::int64_t to_device_ns_;
  const std::int64_t to_host_ns_;
  const std::int64_t bytes_per_us_;  // 0: no limit
  const emulated_arena arena_;
  std::byte* staging_ = nullptr;
  std::deque<task> tasks_;
  std::int64_t link_free_ns_ = 0;
  std::int64_t last_due_ns_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t finished_ = 0;
  bool no_memory_ = false;
};

}  // namespace ham::transport::cuda
