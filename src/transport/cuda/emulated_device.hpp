// A device that is emulated by threads of the host: the resident kernel of every device, on blocks and warps of
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ham/device/loop.hpp"
#include "transport/cuda/emulated_link.hpp"
#include "transport/cuda/geometry.hpp"
#include "transport/cuda/thread_barrier.hpp"
#include "transport/device.hpp"

namespace ham::inline v1::transport::cuda {

class emulated_device final : public device_driver {
 public:
  explicit emulated_device(const geometry& of);
  /// Ends the resident kernel, whatever it executes: waits for functions that do not return.
  ~emulated_device() override;

  [[nodiscard]] const char* type() const noexcept override { return "cuda-emulated"; }
  [[nodiscard]] device_description description() const override;
  [[nodiscard]] std::span<device::detail::call_queue> queues() noexcept override { return {queues_.get(), of_.blocks}; }
  [[nodiscard]] std::span<device::detail::outbox> messages() noexcept override { return {messages_.get(), of_.blocks}; }
  [[nodiscard]] const emulated_link& link() const noexcept { return link_; }
  [[nodiscard]] bool has(const device::detail::function_entry& function) const noexcept override {
    return function.row.body != nullptr;
  }
  void upload(std::uint32_t count) override;
  void launch() override;
  [[nodiscard]] residency state() noexcept override;
  [[nodiscard]] failure_report failure() override;
  [[nodiscard]] std::uint64_t stage(std::span<const std::byte> bytes) override;
  void unstage(std::uint64_t address) noexcept override;
  /// Whether a function awaits the answer to a message, or has not given its slot back.
  [[nodiscard]] bool awaits_answers() const noexcept;

 private:
  friend class emulated_lane;
  struct block {
    block(std::uint32_t threads, std::uint32_t warps, std::uint32_t lanes);
    thread_barrier all;
    std::vector<std::unique_ptr<thread_barrier>> of_warps;
  };

  void run_thread(std::uint32_t of_block, std::uint32_t thread) noexcept;
  /// A fault: all threads end at their next wait.
  void fail(const std::string& why, std::uint32_t function) noexcept;
  void join() noexcept;

  const geometry of_;
  emulated_link link_;
  std::unique_ptr<device::detail::call_queue[]> queues_;
  std::unique_ptr<device::detail::block_state[]> states_;
  std::unique_ptr<device::detail::outbox[]> messages_;
  std::vector<device::detail::table_row> table_;
  std::vector<std::unique_ptr<block>> blocks_;
  std::unique_ptr<thread_barrier> grid_;
  std::vector<std::thread> threads_;
  std::atomic<std::uint32_t> running_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  failure_report failure_;  // guarded by mutex_
  bool failed_ = false;     // the same
};

}  // namespace ham::transport::cuda
