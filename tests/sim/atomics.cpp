// What the compiler calls for atomic operations, and for reads and writes, of code that is built with
// -fsanitize=thread: seams of the simulation instead of ThreadSanitizer. Stores that are not sequentially consistent
// stay in the thread's store buffer for a while, which is what x86 does (total store order).
#include <cstddef>
#include <cstdint>

#include "sim/scheduler.hpp"

namespace ham::inline v0::sim {
namespace {

/// Memory that the calling thread is about to touch in another way.
inline void touch(const void* at, std::size_t size) noexcept {
  if (simulated() && me->stores.may_touch(at, size) && me->stores.touches(at, size)) [[unlikely]]
    me->stores.write_all();
}

/// The same within a word.
inline void touch_word(const void* at, std::size_t size) noexcept {
  if (simulated() && me->stores.may_touch_word(at) && me->stores.touches(at, size)) [[unlikely]]
    me->stores.write_all();
}

[[nodiscard]] bool on_own_stack(const void* at) noexcept {
  const auto* const byte = static_cast<const char*>(at);
  return byte >= me->stack_begin && byte < me->stack_end;
}

template <class T>
T load(const volatile void* at, int) noexcept {
  const auto* const place = const_cast<const T*>(static_cast<const volatile T*>(at));
  if (simulated()) {
    running->pass_load();
    if constexpr (sizeof(T) <= 8) {
      if (me->stores.may_touch_word(place)) {
        if (const auto* const mine = me->stores.find(place, sizeof(T))) return static_cast<T>(mine->value);
        touch(place, sizeof(T));
      }
    }
  }
  return __atomic_load_n(place, __ATOMIC_SEQ_CST);
}

template <class T>
void store(volatile void* at, T value, int order) noexcept {
  auto* const place = const_cast<T*>(static_cast<volatile T*>(at));
  if (simulated()) {
    running->note_change();
    running->pass(seam::atomic);
    if (sizeof(T) <= 8 && order != __ATOMIC_SEQ_CST && running->buffers_stores() && !on_own_stack(place)) {
      if (me->stores.full()) me->stores.write_first();
      me->stores.push({place, static_cast<std::uint64_t>(value), sizeof(T)});
      return;
    }
    me->stores.write_all();
  }
  __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

/// Before a read-modify-write, which writes the store buffer out.
inline void before_exchange() noexcept {
  if (!simulated()) return;
  running->note_change();
  running->pass(seam::atomic);
  me->stores.write_all();
}

}  // namespace
}  // namespace ham::sim

#define HAM_SIM_ATOMICS(bits, type)                                                                             \
  type __tsan_atomic##bits##_load(const volatile type* a, int order) { return ham::sim::load<type>(a, order); } \
  void __tsan_atomic##bits##_store(volatile type* a, type v, int order) { ham::sim::store<type>(a, v, order); } \
  type __tsan_atomic##bits##_exchange(volatile type* a, type v, int) {                                          \
    ham::sim::before_exchange();                                                                                \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_add(volatile type* a, type v, int) {                                         \
    ham::sim::before_exchange();                                                                                \
    return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_sub(volatile type* a, type v, int) {                                         \
    ham::sim::before_exchange();                                                                                \
    return __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_and(volatile type* a, type v, int) {                                         \
    ham::sim::before_exchange();                                                                                \
    return __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_or(volatile type* a, type v, int) {                                          \
    ham::sim::before_exchange();                                                                                \
    return __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_xor(volatile type* a, type v, int) {                                         \
    ham::sim::before_exchange();                                                                                \
    return __atomic_fetch_xor(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                             \
  type __tsan_atomic##bits##_fetch_nand(volatile type* a, type v, int) {                                        \
    ham::sim::before_exchange();                                                                                \
    return __atomic_fetch_nand(a, v, __ATOMIC_SEQ_CST);                                                         \
  }                                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* a, type* c, type v, int, int) {              \
    ham::sim::before_exchange();                                                                                \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
  }                                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* a, type* c, type v, int, int) {                \
    ham::sim::before_exchange();                                                                                \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
  }                                                                                                             \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* a, type c, type v, int, int) {                 \
    ham::sim::before_exchange();                                                                                \
    __atomic_compare_exchange_n(a, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                           \
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
