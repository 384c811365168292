// Shared memory beside a ring, in which long messages are built where their receiver reads them.
//
// Layout: a page with one word per block, which the receiver writes; behind it the messages, each in whole pages. Only
// addresses are taken at first: pages come with the messages that need them, and go when there have been none for a
// while.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ham::inline v1::transport {

/// Where a long message is, in the payload of the frame that announces it.
struct message_place {
  std::uint64_t offset;  ///< from the start of the area
  std::uint64_t size;
  std::uint32_t block;
  std::uint32_t generation;  ///< what the receiver writes into the block's word to give it back
};
static_assert(sizeof(message_place) == 24);

struct area_layout {
  static constexpr std::size_t page_bytes = 65536;  ///< the largest that a supported kernel has
  static constexpr std::size_t blocks = 256;        ///< messages that may be under way at once
  static constexpr std::size_t first_message = page_bytes;
  /// In front of each message. Where the target of a copy lies a few bytes further in its page than the source, `rep
  /// movsb` of recent AMD cores is up to 20 times slower, and large allocations of the C library begin 16 bytes behind
  /// a page.
  static constexpr std::size_t lead_bytes = 128;
  static constexpr std::size_t bytes = std::size_t{512} << 20;  ///< of addresses, a direction

  std::array<std::atomic<std::uint32_t>, blocks> returned;
};
static_assert(sizeof(area_layout) <= area_layout::first_message);
static_assert(area_layout::blocks * area_layout::page_bytes < area_layout::bytes);

/// The sender's side: finds room, and takes back what the receiver has returned. All it decides by is its own; a
/// receiver that lies harms its own messages only. One thread at a time.
class message_area_writer {
 public:
  /// `area`: whole pages, zeros; empty: there is none.
  explicit message_area_writer(std::span<std::byte> area) noexcept : area_(area) {}

  /// Longest message for which there may ever be room.
  [[nodiscard]] std::size_t max_size() const noexcept {
    return area_.empty() ? 0 : area_.size() - area_layout::first_message - area_layout::lead_bytes;
  }
  /// Room for a message, aligned to 64; nullptr: none now.
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept;
  /// Gives room back that was not sent.
  void cancel(const std::byte* at) noexcept;
  /// What to tell the receiver, which gives the room back from then on.
  [[nodiscard]] message_place send(const std::byte* at) noexcept;
  /// If nothing is under way: gives the pages back. True if none are left.
  bool trim() noexcept;

 private:
  struct block {
    std::uint64_t offset;
    std::uint64_t size;    ///< of the message
    std::uint64_t extent;  ///< in whole pages
    std::uint32_t word;
    bool sent;
  };
  struct free_place {
    std::vector<block>::iterator before;  ///< the block that follows
    std::uint64_t offset;
  };
  struct state {
    std::uint64_t next = area_layout::first_message;  ///< end of what was reserved last
    std::vector<block> live;                          ///< by offset
    std::vector<std::uint32_t> free_words;
    std::array<std::uint32_t, area_layout::blocks> generation{};

    /// First fit from `from` on, wherever that ends.
    [[nodiscard]] free_place find_free(std::uint64_t from, std::uint64_t extent) noexcept;
  };

  [[nodiscard]] area_layout& shared() noexcept { return *reinterpret_cast<area_layout*>(area_.data()); }
  [[nodiscard]] bool begin() noexcept;
  void reap() noexcept;
  [[nodiscard]] std::vector<block>::iterator find(const std::byte* at) noexcept;
  [[nodiscard]] bool populate(std::uint64_t end) noexcept;

  std::span<std::byte> area_;
  std::unique_ptr<state> state_;  ///< from the first message on
  std::uint64_t populated_ = 0;   ///< pages exist up to here
};

/// The receiver's side. The sender is not trusted.
class message_area_reader {
 public:
  explicit message_area_reader(std::span<std::byte> area) noexcept : area_(area) {}

  /// The message that `announcement`, the payload of a frame, tells of; nothing (data() is nullptr) if that is
  /// malformed. Until release() it is held.
  [[nodiscard]] std::span<const std::byte> take(std::span<const std::byte> announcement) noexcept;
  /// Returns what was taken last.
  void release() noexcept;

 private:
  std::span<std::byte> area_;
  std::uint32_t block_ = 0;
  std::uint32_t generation_ = 0;
  bool held_ = false;
};

}  // namespace ham::transport
