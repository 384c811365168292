// The way of an emulated device to the memory of its host: plain memory, in which accesses take the time of a link.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "ham/device/words.hpp"

namespace ham::inline v1::transport::cuda {

/// How long what a device does takes, in ns.
struct link_costs {
  std::int64_t read = 0;   ///< over the link, there and back
  std::int64_t write = 0;  ///< until it has arrived
  std::int64_t fence = 0;  ///< among the device's own threads; one for memory of the host takes twice as long
};

/// What a device has done, but for polls that have found no call. Those for an answer are counted, whatever they find.
struct link_counts {
  std::uint64_t reads;   ///< for which it has waited: one for each access, however long that is
  std::uint64_t writes;  ///< for which it has not
  std::uint64_t fences;
};

/// Reads look at the memory half-way. Writes are posted: the device goes on at once, and what it has written says when
/// the host may see it (arrival_ns). Any thread.
class emulated_link {
 public:
  explicit emulated_link(const link_costs& costs) noexcept : costs_(costs) {}

  /// The second one is written before the first one, which is zero until then, or not what the device awaits.
  [[nodiscard]] device::detail::word_pair read_pair(const std::uint64_t* words) const noexcept {
    const std::uint64_t first = read_word(words[0]);
    return {first, first == 0 ? 0 : device::detail::acquire(words[1])};
  }
  [[nodiscard]] std::uint64_t read_word(const std::uint64_t& from) const noexcept {
    count_read();
    std::uint64_t word = 0;
    poll([&] { word = device::detail::acquire(from); });
    return word;
  }
  void read_block(const std::byte* from, std::byte* to, std::size_t size) const noexcept {
    count_read();
    std::memcpy(to, from, size);
    pass(costs_.read);
  }
  void write_block(std::byte* to, const std::byte* from, std::size_t size) const noexcept {
    count(writes_);
    std::memcpy(to, from, size);
  }
  void order_pairs() const noexcept { fence(costs_.fence); }
  void write_pair(std::uint64_t* to, const device::detail::word_pair& words) const noexcept {
    order_pairs();
    store_pair(to, words);
  }
  void store_pair(std::uint64_t* to, const device::detail::word_pair& words) const noexcept {
    count(writes_);
    device::detail::store_pair(to, words);
  }
  void write_word(std::uint64_t& to, std::uint64_t word) const noexcept {
    count(writes_);
    fence(2 * costs_.fence);
    device::detail::release(to, word);
  }
  void note_word(std::uint64_t& to, std::uint64_t word) const noexcept {
    count(writes_);
    device::detail::note(to, word);
  }
  /// A read, which is what `access` does. It is counted by count_read(), if it has found something.
  template <class Access>
  void poll(Access access) const noexcept {
    if (costs_.read == 0) {
      access();
      return;
    }
    const std::int64_t begin = base::now_ns();
    wait_until(begin + costs_.read / 2);
    access();
    wait_until(begin + costs_.read);
  }
  void count_read() const noexcept { count(reads_); }

  [[nodiscard]] const link_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] std::int64_t arrival_ns() const noexcept {
    return costs_.write == 0 ? 0 : base::now_ns() + costs_.write;
  }
  [[nodiscard]] link_counts counts() const noexcept {
    const auto value = [](const std::atomic<std::uint64_t>& of) { return of.load(std::memory_order_relaxed); };
    return {value(reads_), value(writes_), value(fences_)};
  }

 private:
  static void wait_until(std::int64_t until_ns) noexcept {
    while (base::now_ns() < until_ns) {
    }
  }
  static void pass(std::int64_t ns) noexcept {
    if (ns != 0) wait_until(base::now_ns() + ns);
  }
  static void count(std::atomic<std::uint64_t>& one) noexcept { one.fetch_add(1, std::memory_order_relaxed); }
  void fence(std::int64_t ns) const noexcept {
    count(fences_);
    pass(ns);
  }

  const link_costs costs_;
  mutable std::atomic<std::uint64_t> reads_{0}, writes_{0}, fences_{0};
};

}  // namespace ham::transport::cuda
