// Calls through memory that both processes map: a slot of one cache line for each request and each answer. How a side
// waits for a slot is left to `Waiting`.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "client.hpp"

namespace ham::inline v1::peers {

/// Number and content in one line, so that a message is one transfer of a line.
struct alignas(64) shared_slot {
  std::atomic<std::uint32_t> number{0};  ///< of the message that is in it
  op what = op::touch;
  std::uint64_t value = 0;  ///< of a request: bytes of argument; else the answer
};

/// One direction. `Waiting` has await(slot's number, wanted) and notify(slot's number).
template <class Waiting>
struct shared_direction {
  static constexpr std::size_t count = 1024;
  std::array<shared_slot, count> slots;
  Waiting waiting;

  void send(std::uint32_t number, op what, std::uint64_t value) {
    shared_slot& slot = slots[number % count];
    slot.what = what;
    slot.value = value;
    slot.number.store(number, std::memory_order_release);
    waiting.notify(slot.number);
  }
  const shared_slot& receive(std::uint32_t number) {
    shared_slot& slot = slots[number % count];
    waiting.await(slot.number, number);
    return slot;
  }
};

template <class Waiting>
struct shared_area {
  shared_direction<Waiting> requests;
  shared_direction<Waiting> answers;
  alignas(4096) std::array<std::byte, max_bytes> argument;

  /// Inherited by a forked child.
  static shared_area& make() {
    void* const memory =
        ::mmap(nullptr, sizeof(shared_area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory of 64 MiB");
    return *new (memory) shared_area;
  }
};

template <class Waiting>
[[noreturn]] void serve_shared(shared_area<Waiting>& area) {
  // Short arguments are copied out, because the caller may use their place again; long ones have arrived where they
  // are.
  std::vector<std::byte> own(inline_bytes);
  for (std::uint32_t number = 1;; ++number) {
    const shared_slot& request = area.requests.receive(number);
    const op what = request.what;
    const std::size_t bytes = request.value;
    const std::byte* argument = area.argument.data();
    if (bytes <= own.size()) argument = static_cast<const std::byte*>(std::memcpy(own.data(), argument, bytes));
    area.answers.send(number, op::touch, execute(what, {argument, bytes}));
  }
}

template <class Waiting>
class shared_client final : public client {
 public:
  explicit shared_client(shared_area<Waiting>& area) : area_(area) {}

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    if (!argument.empty()) std::memcpy(area_.argument.data(), argument.data(), argument.size());
    area_.requests.send(++number_, what, argument.size());
    return area_.answers.receive(number_).value;
  }

  std::uint64_t call_many(std::size_t count) override {
    if (count > shared_direction<Waiting>::count) throw std::runtime_error("more calls than slots");
    for (std::size_t i = 1; i <= count; ++i) {
      area_.requests.send(number_ + static_cast<std::uint32_t>(i), op::touch, 0);
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += area_.answers.receive(++number_).value;
    return sum;
  }

 private:
  shared_area<Waiting>& area_;
  std::uint32_t number_ = 0;
};

}  // namespace ham::peers
