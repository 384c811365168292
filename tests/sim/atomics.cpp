// What the compiler calls for atomic operations, and for reads and writes, of code that is built with
// -fsanitize=thread: seams of the simulation instead of ThreadSanitizer. Stores that are not sequentially consistent
// stay in the thread's store buffer for a while, which is what x86 does (total store order).
#include <cstddef>
#include <cstdint>

#include "sim/scheduler.hpp"

namespace ham::inline v1::sim {
namespace {

// What is rare is a function of its own, called last, so that the others save no registers.

/// Memory that the calling thread is about to touch may be that of a store.
[[gnu::noinline]] void write_what_overlaps(const void* at, std::size_t size) noexcept {
  if (me->stores.touches(at, size)) me->stores.write_all();
}

/// Memory that the calling thread is about to touch in another way.
inline void touch(const void* at, std::size_t size) noexcept {
  if (simulated() && me->stores.may_touch(at, size)) [[unlikely]]
    write_what_overlaps(at, size);
}

/// The same within a word.
inline void touch_word(const void* at, std::size_t size) noexcept {
  if (simulated() && me->stores.may_touch_word(at)) [[unlikely]]
    write_what_overlaps(at, size);
}

[[nodiscard]] inline bool on_own_stack(const void* at) noexcept {
  const auto* const byte = static_cast<const char*>(at);
  return byte >= me->stack_begin && byte < me->stack_end;
}

/// What the thread has stored, if it has, else what all see.
template <class T>
[[gnu::noinline]] T load_stored(const T* place) noexcept {
  bool overlaps = false;
  if (const auto* const mine = me->stores.find(place, sizeof(T), overlaps)) return static_cast<T>(mine->value);
  if (overlaps) me->stores.write_all();
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

template <class T>
[[gnu::noinline]] T load_later(const T* place) noexcept {
  running->hand_on_at_load();
  return me->stores.may_touch_word(place) ? load_stored(place) : __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

template <class T>
T load(const volatile void* at, int) noexcept {
  const auto* const place = const_cast<const T*>(static_cast<const volatile T*>(at));
  if (!simulated()) [[unlikely]]
    return __atomic_load_n(place, __ATOMIC_SEQ_CST);
  if (running->ends_run_at_load()) [[unlikely]]
    return load_later(place);
  if (me->stores.may_touch_word(place)) [[unlikely]]
    return load_stored(place);
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/// In the calling thread's turn.
template <class T>
inline void store_now(T* place, T value, int order) noexcept {
  if (order != __ATOMIC_SEQ_CST && running->buffers_stores() && !on_own_stack(place)) {
    if (me->stores.full()) me->stores.write_first();
    me->stores.push({place, static_cast<std::uint64_t>(value), sizeof(T)});
    return;
  }
  me->stores.write_all();
  __atomic_store_n(place, value, __ATOMIC_RELEASE);
}

template <class T>
[[gnu::noinline]] void store_later(T* place, T value, int order) noexcept {
  running->hand_on_at_change();
  store_now(place, value, order);
}

template <class T>
void store(volatile void* at, T value, int order) noexcept {
  auto* const place = const_cast<T*>(static_cast<volatile T*>(at));
  if (!simulated()) [[unlikely]]
    return __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
  if (running->ends_run_at_change()) [[unlikely]]
    return store_later(place, value, order);
  store_now(place, value, order);
}

/// A read-modify-write, which writes the store buffer out. A simulated thread's needs no atomic instruction: the kernel
/// has one thread for all of them.
template <class T, class Change>
inline T exchange(volatile void* at, Change change) noexcept {
  auto* const place = const_cast<T*>(static_cast<volatile T*>(at));
  if (!simulated()) [[unlikely]] {
    T before = __atomic_load_n(place, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(place, &before, change(before), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return before;
  }
  if (running->ends_run_at_change()) [[unlikely]]
    running->hand_on_at_change();
  me->stores.write_all();
  const T before = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  __atomic_store_n(place, change(before), __ATOMIC_RELEASE);
  return before;
}

/// Stores `value` if `expected` is there, else what is there in `expected`.
template <class T>
inline bool compare_exchange(volatile void* at, T& expected, T value) noexcept {
  auto* const place = const_cast<T*>(static_cast<volatile T*>(at));
  if (!simulated()) [[unlikely]]
    return __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (running->ends_run_at_change()) [[unlikely]]
    running->hand_on_at_change();
  me->stores.write_all();
  const T before = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (before == expected) {
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    return true;
  }
  expected = before;
  return false;
}

}  // namespace
}  // namespace ham::sim

#define HAM_SIM_EXCHANGE(bits, type, name, result)                                                            \
  type __tsan_atomic##bits##_##name(volatile type* a, type v, int) {                                          \
    return ham::sim::exchange<type>(a, [v]([[maybe_unused]] type old) { return static_cast<type>(result); }); \
  }

#define HAM_SIM_COMPARE_EXCHANGE(bits, type, name)                                                 \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile type* a, type* c, type v, int, int) { \
    return ham::sim::compare_exchange<type>(a, *c, v);                                             \
  }

#define HAM_SIM_ATOMICS(bits, type)                                                                             \
  type __tsan_atomic##bits##_load(const volatile type* a, int order) { return ham::sim::load<type>(a, order); } \
  void __tsan_atomic##bits##_store(volatile type* a, type v, int order) { ham::sim::store<type>(a, v, order); } \
  HAM_SIM_EXCHANGE(bits, type, exchange, v)                                                                     \
  HAM_SIM_EXCHANGE(bits, type, fetch_add, old + v)                                                              \
  HAM_SIM_EXCHANGE(bits, type, fetch_sub, old - v)                                                              \
  HAM_SIM_EXCHANGE(bits, type, fetch_and, old& v)                                                               \
  HAM_SIM_EXCHANGE(bits, type, fetch_or, old | v)                                                               \
  HAM_SIM_EXCHANGE(bits, type, fetch_xor, old ^ v)                                                              \
  HAM_SIM_EXCHANGE(bits, type, fetch_nand, ~(old & v))                                                          \
  HAM_SIM_COMPARE_EXCHANGE(bits, type, strong)                                                                  \
  HAM_SIM_COMPARE_EXCHANGE(bits, type, weak)                                                                    \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* a, type c, type v, int, int) {                 \
    ham::sim::compare_exchange<type>(a, c, v);                                                                  \
    return c;                                                                                                   \
  }

#define HAM_SIM_PLAIN(bytes, how)                                             \
  void __tsan_read##bytes(void* at) { ham::sim::how(at, bytes); }             \
  void __tsan_write##bytes(void* at) { ham::sim::how(at, bytes); }            \
  void __tsan_volatile_read##bytes(void* at) { ham::sim::how(at, bytes); }    \
  void __tsan_volatile_write##bytes(void* at) { ham::sim::how(at, bytes); }   \
  void __tsan_unaligned_read##bytes(void* at) { ham::sim::touch(at, bytes); } \
  void __tsan_unaligned_write##bytes(void* at) { ham::sim::touch(at, bytes); }

extern "C" {
HAM_SIM_ATOMICS(8, std::uint8_t)
HAM_SIM_ATOMICS(16, std::uint16_t)
HAM_SIM_ATOMICS(32, std::uint32_t)
HAM_SIM_ATOMICS(64, std::uint64_t)
HAM_SIM_PLAIN(1, touch_word)
HAM_SIM_PLAIN(2, touch_word)
HAM_SIM_PLAIN(4, touch_word)
HAM_SIM_PLAIN(8, touch_word)
HAM_SIM_PLAIN(16, touch)

void __tsan_atomic_thread_fence(int order) {
  if (!ham::sim::simulated()) return;
  ham::sim::running->pass(ham::sim::seam::atomic);
  if (order == __ATOMIC_SEQ_CST) ham::sim::me->stores.write_all();
}
void __tsan_atomic_signal_fence(int) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** at, void*) { ham::sim::touch(at, sizeof(void*)); }
void __tsan_vptr_read(void** at) { ham::sim::touch(at, sizeof(void*)); }
void __tsan_read_range(void* at, unsigned long size) { ham::sim::touch(at, size); }
void __tsan_write_range(void* at, unsigned long size) { ham::sim::touch(at, size); }

// Functions of the C library that touch much memory (linked with --wrap).
void* __real_memcpy(void* to, const void* from, std::size_t size);
void* __real_memmove(void* to, const void* from, std::size_t size);
void* __real_memset(void* to, int value, std::size_t size);
void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  ham::sim::touch(to, size);
  ham::sim::touch(from, size);
  return __real_memcpy(to, from, size);
}
void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  ham::sim::touch(to, size);
  ham::sim::touch(from, size);
  return __real_memmove(to, from, size);
}
void* __wrap_memset(void* to, int value, std::size_t size) {
  ham::sim::touch(to, size);
  return __real_memset(to, value, size);
}
}
