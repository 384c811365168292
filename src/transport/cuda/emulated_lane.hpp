// One thread of an emulated device, as the resident loop and the functions that it executes see it.
#pragma once

#include <cstdint>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "ham/device/place.hpp"
#include "transport/cuda/emulated_device.hpp"

namespace ham::inline v1::transport::cuda {

/// A Unit of resident_loop (ham/device/loop.hpp).
class emulated_lane final : public device::detail::lane {
 public:
  emulated_lane(emulated_device& of, std::uint32_t block, std::uint32_t thread) noexcept
      : of_(of), block_(block), thread_(thread) {}

  // ---- the loop
  [[nodiscard]] std::uint32_t block() const noexcept { return block_; }
  [[nodiscard]] bool leads_block() const noexcept { return thread_ == 0; }
  [[nodiscard]] bool in_first_warp() const noexcept { return thread_ < of_.of_.lanes; }
  void sync_block() { of_.blocks_[block_]->all.wait(of_.ended_); }
  [[nodiscard]] device::detail::block_state& enter(const device::detail::loop_parameters& with) const noexcept {
    return with.blocks[block_];
  }
  void leave(const device::detail::loop_parameters&, const device::detail::block_state&) const noexcept {}
  [[nodiscard]] static const device::detail::table_row& row(const device::detail::loop_parameters& with,
                                                            std::uint32_t number) noexcept {
    return with.table[number];
  }
  [[nodiscard]] const emulated_link& link() const noexcept { return of_.link_; }
  [[nodiscard]] bool polls() const noexcept { return leads_block(); }
  void poll(device::detail::call_queue& queue, device::detail::block_state& own) const noexcept;
  [[nodiscard]] static bool agree(bool found) noexcept { return found; }
  [[nodiscard]] static std::int64_t now() noexcept { return base::now_ns(); }
  /// As long as five reads: none, if they take no time.
  [[nodiscard]] std::int64_t max_age() const noexcept { return 5 * of_.link_.costs().read; }
  void idle();
  void worked() noexcept {
    pause_.reset();
    asked_ns_ = base::now_ns();
  }
  [[nodiscard]] bool asks_for_stop() noexcept;
  void begin(const device::detail::table_row& row, const std::uint64_t& stop, std::uint64_t stamp,
             device::detail::kept_replies& kept) noexcept;
  void run(const device::detail::table_row& row, device::detail::execution& call);

  // ---- the functions
  [[nodiscard]] std::uint32_t rank() const noexcept override;
  [[nodiscard]] std::uint32_t size() const noexcept override;
  void sync() override;
  [[nodiscard]] bool stop_requested() noexcept override;
  [[noreturn]] void trap(const char* why) override;
  std::uint64_t post(const device::detail::message_head& head, const std::byte* bytes) override;
  [[nodiscard]] std::uint32_t claim_answer() override;
  [[nodiscard]] device::detail::answer_status take_answer(std::uint32_t slot, std::uint64_t ticket, std::byte* value,
                                                          std::size_t size) override;
  void drop_answer(std::uint32_t slot) noexcept override;
  [[nodiscard]] bool pause() override;

 private:
  void pass_time();
  [[nodiscard]] device::detail::outbox& messages() const noexcept;
  [[nodiscard]] device::detail::outbox_state& sent() const noexcept;
  [[nodiscard]] std::uint32_t function() const noexcept;
  /// Before the function waits for the host, or asks it.
  void send_kept_replies() noexcept;

  emulated_device& of_;
  const std::uint32_t block_;
  const std::uint32_t thread_;  // of its block
  device::scope runs_on_ = device::scope::thread;
  const std::uint64_t* stop_ = nullptr;
  device::detail::kept_replies* kept_ = nullptr;  // of its block
  std::uint64_t stamp_ = 0;
  bool stopped_ = false;
  std::int64_t asked_ns_ = 0;
  base::backoff<base::backoff_schedule{.spins = 20, .yields = 200, .sleep_ns = 20'000, .max_sleep_ns = 200'000}> pause_;
};

}  // namespace ham::transport::cuda
