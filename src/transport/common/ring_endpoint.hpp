// An endpoint over two line rings and the peer's bell.
#pragma once

#include <atomic>
#include <utility>

#include "base/heavy_fence.hpp"
#include "base/memory_file.hpp"
#include "base/unique_fd.hpp"
#include "transport/common/bell.hpp"
#include "transport/common/owned_endpoint.hpp"
#include "transport/common/ring_reader.hpp"
#include "transport/common/ring_writer.hpp"

namespace ham::inline v1::transport {

/// What the two ends of a connection share: both directions' control words, then both directions' lines.
struct ring_pair {
  static constexpr unsigned lines_log2 = 12;  ///< 4096 lines, 256 KiB a direction
  static constexpr std::size_t bytes = 2 * sizeof(ring_control) + 2 * (line_bytes << lines_log2);

  std::byte* memory;
  std::uint32_t epoch;     ///< differs per connection, so that stray frames do not fit
  bool has_areas = false;  ///< for long messages, behind `bytes`
  static constexpr std::size_t areas_offset =
      (bytes + area_layout::page_bytes - 1) / area_layout::page_bytes * area_layout::page_bytes;
  static constexpr std::size_t bytes_with_areas = areas_offset + 2 * area_layout::bytes;

  /// Length of a file for it: with areas, unless the limit of file sizes forbids that.
  [[nodiscard]] static std::size_t file_bytes() noexcept {
    return base::max_file_bytes() < bytes_with_areas ? bytes : bytes_with_areas;
  }
  /// Maps a file of at least `bytes`: with areas, if it has some and the addresses of this process are not limited.
  /// Throws ham::config_error.
  [[nodiscard]] static base::mapping map(int file);
  [[nodiscard]] static ring_pair in(const base::mapping& file, std::uint32_t epoch) noexcept {
    return {file.data(), epoch, file.size() == bytes_with_areas};
  }

  [[nodiscard]] ring_control& control(unsigned direction) const noexcept {
    return reinterpret_cast<ring_control*>(memory)[direction];
  }
  [[nodiscard]] std::byte* lines(unsigned direction) const noexcept {
    return memory + 2 * sizeof(ring_control) + direction * (line_bytes << lines_log2);
  }
  [[nodiscard]] std::span<std::byte> area(unsigned direction) const noexcept {
    if (!has_areas) return {};
    return {memory + areas_offset + direction * area_layout::bytes, area_layout::bytes};
  }
};

/// Learns of each peer that this node wakes, just before, on any thread.
class wake_listener {
 public:
  virtual void wakes(node_t peer) noexcept = 0;

 protected:
  wake_listener() = default;
  wake_listener(const wake_listener&) = default;
  wake_listener& operator=(const wake_listener&) = default;
  ~wake_listener() = default;
};

/// The bell of another node and the descriptor that ends its sleep.
struct remote_bell {
  bell* page;
  int event_fd;                       ///< not owned
  wake_listener* listener = nullptr;  ///< not owned
};

class ring_endpoint final : public owned_endpoint, private message_memory {
 public:
  /// `side` 0 writes direction 0 and reads direction 1; `self` is the number under which the peer knows us.
  ring_endpoint(node_t peer, node_t self, const ring_pair& rings, unsigned side, remote_bell peer_bell)
      : owned_endpoint(peer),
        writer_(rings.lines(side), ring_pair::lines_log2, rings.control(side), rings.epoch),
        reader_(rings.lines(1 - side), ring_pair::lines_log2, rings.control(1 - side), rings.epoch,
                rings.area(1 - side)),
        area_(rings.area(side)),
        peer_bell_(peer_bell),
        self_(static_cast<std::uint32_t>(place_of(self))),
        ordered_by_others_(base::register_heavy_fence()) {}

  [[nodiscard]] std::size_t max_payload() const noexcept override { return writer_.max_payload(); }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override { return writer_.reserve(size); }
  void cancel() noexcept override { writer_.cancel(); }
  void commit(const frame_head& head) noexcept override {
    const std::size_t size = writer_.commit({head.key, head.call, head.kind});
    sent_ = writer_.sent();
    expect_next(writer_.next(), size);
    if (fenced_) [[unlikely]]
      fence();
    else
      base::light_fence();
    if (writer_.receiver_armed()) [[unlikely]]
      wake_peer();
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return writer_.consumed(); }
  [[nodiscard]] message_memory* long_messages() noexcept override {
    return area_.max_size() != 0 && writer_.receiver_takes_long() ? this : nullptr;
  }

  [[nodiscard]] bool poll(frame& out) noexcept override {
    if (!begin_reading()) [[unlikely]]
      return false;
    const ring_status status = reader_.poll(out);
    if (status == ring_status::frame) [[likely]]
      return true;
    if (status == ring_status::broken) malformed_.store(true, std::memory_order_relaxed);
    end_reading();
    return false;
  }
  [[nodiscard]] bool peek(std::uint8_t kind, std::size_t most, std::uint32_t& call) noexcept override {
    if (shared() != nullptr || reader_.empty()) return false;
    call = reader_.next_call();
    return reader_.next_is(kind, call, most);
  }
  void release() noexcept override {
    if (!reads()) [[unlikely]]
      return;
    reader_.release();
    if (shared() != nullptr) [[unlikely]] {
      reader_.give_back();  // whoever reads next may take long to come
      end_reading();
    }
  }

  // ---- reading by several threads
  [[nodiscard]] bool can_be_shared() const noexcept override { return true; }
  [[nodiscard]] reply_poll poll_reply(std::uint8_t kind, std::uint32_t call, std::size_t most, unsigned polls,
                                      frame& out) noexcept override;
  void leave_to_poll() noexcept override { attended_.store(false, std::memory_order_relaxed); }
  /// Whether a thread that waits polls it by itself.
  [[nodiscard]] bool attended() const noexcept { return attended_.load(std::memory_order_relaxed); }
  /// Keeps other threads from reading, for who holds the receiving lock.
  class reading_alone {
   public:
    explicit reading_alone(const ring_endpoint& of) noexcept : lock_(of.shared()) {
      if (lock_ != nullptr) [[unlikely]]
        lock_->lock();
    }
    reading_alone(reading_alone&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    reading_alone(const reading_alone&) = delete;
    reading_alone& operator=(const reading_alone&) = delete;
    reading_alone& operator=(reading_alone&&) = delete;
    ~reading_alone() {
      if (lock_ != nullptr) [[unlikely]]
        lock_->unlock();
    }

   private:
    base::recursive_spin_lock* lock_;
  };

  // ---- stopping calls
  [[nodiscard]] stop_word stop_word_of(std::uint32_t call) const noexcept override;
  void clear_stop_word(std::uint32_t call) noexcept override;
  void announce_stop(std::uint32_t call) noexcept override;
  /// Where the peer stops its calls: in the bell of this node, which stays as long as the transport.
  void take_stops(bell& own) noexcept { own_bell_ = &own; }
  /// The peer has gone: its words are free.
  void clear_stop_words() noexcept;

  /// What lives as long as the connection: the memory of its rings, and the peer's event descriptor.
  void keep(base::mapping rings, base::unique_fd event) noexcept {
    rings_ = std::move(rings);
    event_ = std::move(event);
  }

  // ---- for ring_transport, under the receiving lock
  [[nodiscard]] ring_reader& reader() noexcept { return reader_; }
  [[nodiscard]] bool malformed() const noexcept { return malformed_.load(std::memory_order_relaxed); }
  enum class attention : std::uint8_t { cold, arming, hot };
  attention watched = attention::cold;
  std::uint64_t last_hit = 0;

  /// Whether every send costs a full fence, because this process or the peer's cannot use membarrier.
  [[nodiscard]] bool fenced() const noexcept { return fenced_; }

 private:
  // ---- message_memory
  [[nodiscard]] std::size_t min_size() const noexcept override { return max_in_ring + 1; }
  [[nodiscard]] std::size_t max_size() const noexcept override { return area_.max_size(); }
  [[nodiscard]] std::byte* reserve_long(std::size_t size) noexcept override { return area_.reserve(size); }
  void cancel_long(std::byte* at) noexcept override { area_.cancel(at); }
  [[nodiscard]] bool send_long(std::byte* at, const frame_head& head) noexcept override;
  bool trim_long() noexcept override { return area_.trim(); }

  void wake_peer() noexcept;
  void fence() noexcept;

  base::mapping rings_;
  base::unique_fd event_;
  /// Four fit into the ring; longer ones cost less in the area.
  static constexpr std::size_t max_in_ring = ((std::size_t{1} << ring_pair::lines_log2) / 4) * line_bytes - head_bytes;
  ring_writer writer_;
  ring_reader reader_;
  message_area_writer area_;
  remote_bell peer_bell_;
  bell* own_bell_ = nullptr;
  std::uint32_t self_;
  const bool ordered_by_others_;  ///< a heavy fence of the peer's reaches this process
  bool fenced_ = true;            ///< until the peer, which may not be up yet, says that it uses heavy fences
  std::atomic<bool> malformed_{false};
  /// On a line of its own: read by whoever polls all rings, and written seldom.
  alignas(base::cache_line_bytes) std::atomic<bool> attended_{false};
};

}  // namespace ham::transport
