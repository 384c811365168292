// What is written and read at once, and how overlapping bytes are moved.
#include "runtime/device_heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

using direction = transport::device_copy::direction;

/// What one thread waits for.
struct awaited {
  std::atomic<std::size_t> left{0};
  std::atomic<bool> failed{false};
};

/// One piece of that.
class awaited_piece final : public device_access {
 public:
  /// `to`: where the bytes of a load go.
  explicit awaited_piece(awaited& of, std::byte* to = nullptr) noexcept : of_(of), to_(to) { of_.left.fetch_add(1); }
  ~awaited_piece() override { of_.left.fetch_sub(1, std::memory_order_release); }
  void finish(std::span<const std::byte> bytes, const std::string& failure) noexcept override {
    if (!failure.empty())
      of_.failed.store(true, std::memory_order_relaxed);
    else if (to_ != nullptr)
      std::memcpy(to_, bytes.data(), bytes.size());
  }

 private:
  awaited& of_;
  std::byte* const to_;
};

/// Whatever ends the scope, nothing of it is under way any more.
template <class Wait>
struct wait_at_end {
  Wait wait;
  ~wait_at_end() { wait(); }
};
template <class Wait>
wait_at_end(Wait) -> wait_at_end<Wait>;

}  // namespace

device_heap::device_heap(std::unique_ptr<transport::device_memory> memory)
    : memory_(std::move(memory)),
      locks_(*memory_),
      arenas_(*memory_),
      allocations_(memory_->arena().address, memory_->arena().bytes),
      copies_(*memory_, [this] { arenas_.wake(); }) {}

void device_heap::store(const device_rows& to, std::span<const std::byte> bytes, std::unique_ptr<device_access> after) {
  copies_.start_staged(to, direction::to_device, bytes.data(), bytes.size(), std::move(after));
}

void device_heap::load(const device_rows& from, std::size_t bytes, std::unique_ptr<device_access> after) {
  copies_.start_staged(from, direction::to_host, nullptr, bytes, std::move(after));
}

void device_heap::copy(const device_rows& where, direction which, std::byte* host, std::size_t bytes,
                       std::unique_ptr<device_access> after) {
  copies_.begin(std::move(after), [&] {
    std::uint64_t last = 0;
    where.for_each_copy(which, host, bytes, [&](const transport::device_copy& copy) { last = memory_->start(copy); });
    return last;
  });
}

void device_heap::copy_from_peer(const transport::peer_copy& what, std::unique_ptr<device_access> after) {
  copies_.begin(std::move(after), [&] { return memory_->start_from_peer(what); });
}

/// The thread of the copies wakes whoever follows the kernel: that may need locks behind which the engine's come.
void device_heap::forget_peer(node_t node) noexcept {
  if (arenas_.forget(node)) copies_.ask();
}

void device_heap::throw_failure() {
  throw call_error("the device has not copied what it should (" + copies_.failure() + ")");
}

void device_heap::store_now(const device_rows& to, const std::byte* from, std::size_t bytes) {
  awaited all;
  {
    const wait_at_end end{[&] { copies_.poll_until([&] { return all.left.load(std::memory_order_acquire) == 0; }); }};
    for (std::size_t done = 0; done < bytes; done += copies_.piece_bytes()) {
      const std::size_t piece = std::min(copies_.piece_bytes(), bytes - done);
      copies_.start_staged(to.behind(done), direction::to_device, from + done, piece,
                           std::make_unique<awaited_piece>(all));
    }
  }
  if (all.failed.load()) throw_failure();
}

void device_heap::load_now(const device_rows& from, std::byte* to, std::size_t bytes) {
  awaited all;
  {
    const wait_at_end end{[&] { copies_.poll_until([&] { return all.left.load(std::memory_order_acquire) == 0; }); }};
    for (std::size_t done = 0; done < bytes; done += copies_.piece_bytes()) {
      const std::size_t piece = std::min(copies_.piece_bytes(), bytes - done);
      copies_.start_staged(from.behind(done), direction::to_host, nullptr, piece,
                           std::make_unique<awaited_piece>(all, to + done));
    }
  }
  if (all.failed.load()) throw_failure();
}

template <class Start>
void device_heap::start_and_wait(Start start) {
  awaited all;
  copies_.begin(std::make_unique<awaited_piece>(all), start);
  copies_.poll_until([&] { return all.left.load(std::memory_order_acquire) == 0; });
  if (all.failed.load()) throw_failure();
}

/// Overlapping bytes go through this process, from the end that is not overwritten before it is read.
void device_heap::copy_now(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  if (bytes == 0 || to == from) return;
  const std::uint64_t distance = to > from ? to - from : from - to;
  if (distance < bytes) {
    std::vector<std::byte> piece(std::min(bytes, copies_.piece_bytes()));
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t size = std::min(piece.size(), bytes - done);
      const std::size_t at = to < from ? done : bytes - done - size;
      load_now({from + at}, piece.data(), size);
      store_now({to + at}, piece.data(), size);
      done += size;
    }
    return;
  }
  start_and_wait([&] { return memory_->start_within(to, from, bytes); });
}

void device_heap::copy_from_peer_now(const transport::peer_copy& what) {
  start_and_wait([&] { return memory_->start_from_peer(what); });
}

}  // namespace ham::detail
