// The memory of an emulated device: threads of the device reach it, and other processes do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "transport/cuda/geometry.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v0::transport::cuda {

/// Private memory of the target's process, without a file that anybody could map. Copies are made by whoever asks
/// finished(), when the time has come at which a link would have moved them: one after the other, each after the
/// latency of its direction and at the link's bandwidth.
class emulated_memory final : public device_memory {
 public:
  static constexpr std::size_t staging_bytes = std::size_t{8} << 20;

  /// Throws ham::config_error if the process has no room for the arena.
  explicit emulated_memory(const geometry& of);
  ~emulated_memory() override;

  [[nodiscard]] block arena() const noexcept override { return {address_of(memory_), arena_bytes_}; }
  [[nodiscard]] std::span<std::byte> staging() noexcept override { return {memory_ + arena_bytes_, staging_bytes}; }
  std::uint64_t start(const device_copy& what) noexcept override;
  std::uint64_t start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept override;
  std::uint64_t start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept override;
  [[nodiscard]] std::uint64_t finished() noexcept override;
  [[nodiscard]] std::string failure() const override { return no_memory_ ? "no memory for another copy" : ""; }

 private:
  /// What is to be done at `due_ns`.
  struct task {
    enum class kind : std::uint8_t { copy, within, fill } what;
    device_copy copy;        // of `within` and `fill`: device, row_bytes
    std::uint64_t from = 0;  // of `within`
    std::byte value{};       // of `fill`
    std::int64_t due_ns = 0;
  };

  [[nodiscard]] static std::uint64_t address_of(const std::byte* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory);
  }
  std::uint64_t add(task what, std::int64_t latency_ns, bool over_link) noexcept;
  static void execute(const task& what) noexcept;

  const std::int64_t to_device_ns_;
  const std::int64_t to_host_ns_;
  const std::int64_t bytes_per_us_;  // 0: no limit
  const std::size_t arena_bytes_;
  std::byte* memory_ = nullptr;  // the arena, and staging memory behind it
  std::deque<task> tasks_;
  std::int64_t link_free_ns_ = 0;
  std::int64_t last_due_ns_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t finished_ = 0;
  bool no_memory_ = false;
};

}  // namespace ham::transport::cuda
