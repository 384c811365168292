// The emulated link: plain shared memory in which every remote access takes the time that it would take over PCIe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "transport/common/memory_access.hpp"
#include "transport/emulated/medium.hpp"
#include "transport/emulated/segment.hpp"

namespace ham::inline v1::transport::emulated {

/// Time on the wire. Reads look at the memory half-way; writes queue behind each other, as posted writes do. Any
/// thread.
class wire {
 public:
  explicit wire(const medium& of)
      : read_ns_(of.read_ns),
        write_ns_(of.write_ns),
        setup_ns_(of.setup_ns),
        store_ns_(of.by == initiator::target ? of.store_ns : of.setup_ns),
        posted_(of.posted != 0),
        out_ns_per_byte_(ns_per_byte(of.by == initiator::host ? of.to_target_gib_s : of.to_host_gib_s)),
        in_ns_per_byte_(ns_per_byte(of.by == initiator::host ? of.to_host_gib_s : of.to_target_gib_s)) {}

  /// Lets `look` happen at its time and returns at the end of the remote access.
  template <class Look>
  void read(std::size_t size, std::int64_t setup_ns, Look look) noexcept {
    const std::int64_t begin = base::now_ns() + setup_ns;
    wait(begin + read_ns_ / 2);
    look();
    wait(begin + read_ns_ + duration(size, in_ns_per_byte_));
  }
  template <class Look>
  void read_block(std::size_t size, Look look) noexcept {
    read(size, setup_ns_, look);
  }

  /// When `size` bytes that are sent now will be there.
  [[nodiscard]] std::int64_t send(std::size_t size) noexcept {
    const std::int64_t now = base::now_ns();
    const std::int64_t occupied = duration(size, out_ns_per_byte_);
    std::int64_t free = free_at_.load(std::memory_order_relaxed);
    std::int64_t end = 0;
    do end = std::max(now, free) + occupied;
    while (!free_at_.compare_exchange_weak(free, end, std::memory_order_acq_rel, std::memory_order_relaxed));
    return end + write_ns_;
  }
  /// Short blocks go word by word, where that takes the writer less time than to set up the DMA engine.
  [[nodiscard]] std::int64_t send_block(std::size_t size) noexcept {
    const auto words = static_cast<std::int64_t>((size + 7) / 8);
    const std::int64_t begin_ns = size <= max_stored_bytes ? std::min(setup_ns_, words * store_ns_) : setup_ns_;
    if (begin_ns != 0) wait(base::now_ns() + begin_ns);
    return send(size);
  }
  /// What a writer does until it may go on.
  void after_write(std::int64_t arrival) const noexcept {
    if (!posted_) wait(arrival);
  }

  static void wait(std::int64_t until) noexcept {
    while (base::now_ns() < until) {
    }
  }

 private:
  static double ns_per_byte(double gib_s) noexcept { return 1e9 / (gib_s * 1024 * 1024 * 1024); }
  static std::int64_t duration(std::size_t size, double ns_per_byte) noexcept {
    return static_cast<std::int64_t>(static_cast<double>(size) * ns_per_byte);
  }

  const std::int64_t read_ns_;
  const std::int64_t write_ns_;
  const std::int64_t setup_ns_;
  const std::int64_t store_ns_;
  const bool posted_;
  const double out_ns_per_byte_;
  const double in_ns_per_byte_;
  std::atomic<std::int64_t> free_at_{0};
};

/// The initiator's way to the ring: every access goes over the link.
class far_access : public ordinary_stages {
 public:
  static constexpr bool in_place = false;
  far_access(const segment& there, std::shared_ptr<wire> over) : there_(there), over_(std::move(over)) {}

  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept {
    std::uint64_t word = 0;
    over_->read(sizeof word, 0, [&] { word = there_.word(at).load(std::memory_order_acquire); });
    return word;
  }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept {
    const std::int64_t arrival = over_->send(sizeof word);
    there_.due(at).store(arrival, std::memory_order_relaxed);
    there_.word(at).store(word, std::memory_order_release);
    over_->after_write(arrival);
  }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept {
    over_->read_block(size, [&] { std::memcpy(to, there_.memory + at, size); });
  }
  /// Nobody reads a block before the word behind it has arrived.
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    const std::int64_t arrival = over_->send_block(size);
    std::memcpy(there_.memory + at, from, size);
    over_->after_write(arrival);
  }
  void fence() noexcept { std::atomic_thread_fence(std::memory_order_acq_rel); }
  [[nodiscard]] bool failed() const noexcept { return false; }

 private:
  segment there_;
  std::shared_ptr<wire> over_;
};
static_assert(memory_access<far_access>);

/// The other side's: its own memory, in which words appear when they have arrived.
class near_access {
 public:
  static constexpr bool in_place = true;
  explicit near_access(const segment& here) : here_(here) {}

  [[nodiscard]] std::byte* at(std::uint64_t at) noexcept { return here_.memory + at; }
  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept {
    const std::uint64_t word = here_.word(at).load(std::memory_order_acquire);
    if (word == 0) return 0;
    const std::int64_t due = here_.due(at).load(std::memory_order_relaxed);
    if (due <= seen_ns_.load(std::memory_order_relaxed)) return word;
    const std::int64_t now = base::now_ns();
    if (due > now) return 0;
    seen_ns_.store(now, std::memory_order_relaxed);
    return word;
  }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept {
    here_.word(at).store(word, std::memory_order_release);
  }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept {
    std::memcpy(to, here_.memory + at, size);
  }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    std::memcpy(here_.memory + at, from, size);
  }
  void fence() noexcept { std::atomic_thread_fence(std::memory_order_acq_rel); }
  [[nodiscard]] bool failed() const noexcept { return false; }

 private:
  segment here_;
  std::atomic<std::int64_t> seen_ns_{0};  // a time that has passed
};
static_assert(memory_access<near_access>);

}  // namespace ham::transport::emulated
