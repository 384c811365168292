#include "transport/cuda/emulated_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

[[nodiscard]] std::byte* pointer(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

[[noreturn]] void refuse_memory(std::size_t bytes, const std::string& why) {
  throw config_error("an emulated device cannot have " + std::to_string(bytes >> 20) + " MiB of memory (" + why +
                     "); ask for less, cuda-emulated:1/arena=64");
}

[[nodiscard]] emulated_arena make_arena(std::size_t bytes) {
  try {
    return emulated_arena(bytes);
  } catch (const config_error& problem) {
    refuse_memory(bytes, problem.what());
  }
}

}  // namespace

emulated_memory::emulated_memory(const geometry& of)
    : to_device_ns_(of.write_ns),
      to_host_ns_(of.read_ns),
      bytes_per_us_(of.bandwidth_mb_s),
      arena_(make_arena(of.arena_bytes)) {
  void* const got = ::mmap(nullptr, staging_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED)
    refuse_memory(staging_bytes, "the system gives this process no such part of its address space");
  staging_ = static_cast<std::byte*>(got);
}

emulated_memory::~emulated_memory() { ::munmap(staging_, staging_bytes); }

std::uint64_t emulated_memory::start(const device_copy& what) noexcept {
  const bool in = what.which == device_copy::direction::to_device;
  return add({task::kind::copy, what}, in ? to_device_ns_ : to_host_ns_, true);
}

std::uint64_t emulated_memory::start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept {
  return add({task::kind::within, {device_copy::direction::to_device, to, nullptr, bytes}, from}, 0, false);
}

std::uint64_t emulated_memory::start_from_peer(const peer_copy& what) noexcept {
  const device_copy here{device_copy::direction::to_device, what.to, nullptr, what.row_bytes, what.rows, what.to_pitch};
  return add({task::kind::from_peer, here, what.from, what.from_pitch}, to_device_ns_, true);
}

std::uint64_t emulated_memory::start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept {
  return add({task::kind::fill, {device_copy::direction::to_device, to, nullptr, bytes}, 0, 0, value}, 0, false);
}

std::uint64_t emulated_memory::add(task what, std::int64_t latency_ns, bool over_link) noexcept {
  if (latency_ns != 0 || bytes_per_us_ != 0) {
    const std::int64_t now = base::now_ns();
    if (over_link && bytes_per_us_ != 0) {
      const auto bytes = static_cast<std::int64_t>(what.copy.bytes());
      link_free_ns_ = std::max(link_free_ns_, now) + bytes * 1000 / bytes_per_us_;
    }
    last_due_ns_ = std::max(last_due_ns_, std::max(now, over_link ? link_free_ns_ : 0) + latency_ns);
  }
  what.due_ns = last_due_ns_;
  try {
    tasks_.push_back(what);
  } catch (const std::bad_alloc&) {
    no_memory_ = true;
  }
  return ++started_;
}

std::uint64_t emulated_memory::finished() noexcept {
  while (!no_memory_ && !tasks_.empty()) {
    const task& next = tasks_.front();
    if (next.due_ns != 0 && next.due_ns > base::now_ns()) break;
    execute(next);
    tasks_.pop_front();
    ++finished_;
  }
  return finished_;
}

void emulated_memory::execute(const task& what) noexcept {
  const device_copy& copy = what.copy;
  switch (what.what) {
    case task::kind::copy: execute_copy(copy); return;
    case task::kind::within: std::memcpy(pointer(copy.device), pointer(what.from), copy.row_bytes); return;
    case task::kind::fill: std::memset(pointer(copy.device), std::to_integer<int>(what.value), copy.row_bytes); return;
    case task::kind::from_peer:
      for (std::size_t row = 0; row < copy.rows; ++row)
        std::memcpy(pointer(copy.device + row * copy.pitch), pointer(what.from + row * what.from_pitch),
                    copy.row_bytes);
      return;
  }
}

void emulated_memory::execute_copy(const device_copy& copy) noexcept {
  for (std::size_t row = 0; row < copy.rows; ++row) {
    std::byte* const there = pointer(copy.device + row * copy.pitch);
    std::byte* const here = copy.host + row * copy.row_bytes;
    if (copy.which == device_copy::direction::to_device)
      std::memcpy(there, here, copy.row_bytes);
    else
      std::memcpy(here, there, copy.row_bytes);
  }
}

}  // namespace ham::transport::cuda
