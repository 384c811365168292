// Collects the results of the calls of one batch into one message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "core/batch_records.hpp"
#include "core/peer.hpp"
#include "core/reply_sender.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// Deletes itself after the last result. Only a batch with calls that run elsewhere (pooled) takes the lock. Results
/// that are together longer than a message may be travel in several.
struct batch_reply {
  static constexpr std::size_t head_bytes = result_head_bytes;  // in front of each result
  static constexpr std::size_t largest_result = 0x7fffffff - head_bytes;

  batch_reply(reply_sender& replies, peer& to, std::uint32_t calls) : replies_(replies), to_(to), left_(calls) {
    try {
      bytes_.resize(calls * std::size_t{16});
    } catch (const std::bad_alloc&) {
      bytes_.resize(head_bytes);  // for an empty error
    }
  }

  /// Called before the first copy is handed to another thread; later calls only read.
  void share() noexcept {
    if (!shared_) shared_ = true;
  }

  /// Room for a result, which holds the lock until it is sent or given back.
  void begin(std::uint32_t call, std::size_t size, reply_room& out) {
    if (size > largest_result)
      throw call_error("a result of more than 2 GiB cannot be sent in a batch; call it alone",
                       call_error_reason::too_long);
    lock();
    try {
      out.data = add(call, size);
    } catch (...) {
      unlock();
      throw;
    }
    out.batch = this;
  }
  void finish() noexcept {
    const bool last = --left_ == 0;
    if (last) send();
    unlock();
    if (last) delete this;
  }
  /// In place of finish.
  void cancel() noexcept {
    used_ = before_;
    unlock();
  }
  void fail(std::uint32_t call, std::span<const std::byte> error) noexcept {
    std::byte* room = nullptr;
    lock();
    try {
      room = add(call, error.size());
    } catch (const std::bad_alloc&) {  // an empty error says that nothing is known, and fits what is there
      error = {};
      send();
      room = add(call, 0);
    }
    if (!error.empty()) std::memcpy(room, error.data(), error.size());
    head(call, static_cast<std::uint32_t>(error.size()) | failed_bit);
    finish();
  }

 private:
  /// The lock is held. Room for one result.
  [[nodiscard]] std::byte* add(std::uint32_t call, std::size_t size) {
    if (used_ + head_bytes + size > max_bytes()) send();
    const std::size_t end = used_ + head_bytes + size;
    if (end > bytes_.size()) [[unlikely]]
      bytes_.resize(std::max(end, 2 * bytes_.size()));
    before_ = used_;
    used_ = end;
    head(call, static_cast<std::uint32_t>(size));
    return bytes_.data() + before_ + head_bytes;
  }
  void head(std::uint32_t call, std::uint32_t size_and_state) noexcept {
    msg::writer to(bytes_.data() + before_, head_bytes);
    to.number(call);
    to.number(size_and_state);
  }
  /// Of one message.
  [[nodiscard]] std::uint64_t max_bytes() const noexcept {
    return std::min<std::uint64_t>(to_.max_message, largest_result);
  }
  void send() noexcept {
    if (used_ != 0) replies_.reply_with(to_, frame_header::of(wire_kind::batch_reply), {bytes_.data(), used_});
    used_ = 0;
  }
  void lock() {
    if (shared_) mutex_.lock();
  }
  void unlock() noexcept {
    if (shared_) mutex_.unlock();
  }

  reply_sender& replies_;
  peer& to_;
  std::uint32_t left_;
  std::vector<std::byte> bytes_;  // room; filled up to used_
  std::size_t used_ = 0;
  std::size_t before_ = 0;  // of it before the last result
  bool shared_ = false;
  std::mutex mutex_;
};

}  // namespace ham::detail
