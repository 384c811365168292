// operator new of ham-bench and of the libraries in its process: malloc, and a counter that is off by default.
#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counts{false};
std::atomic<std::uint64_t> allocations{0};

void count_one() noexcept {
  if (counts.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The other forms of both operators call these.
void* operator new(std::size_t size) {
  count_one();
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  count_one();
  const auto bytes = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ham::inline v1::bench {

void begin_counting_allocations() {
  allocations = 0;
  counts = true;
}

std::uint64_t end_counting_allocations() {
  counts = false;
  return allocations;
}

}  // namespace ham::bench
