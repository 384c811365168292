// What debug builds say about addresses that are sent.
#include "ham/offload/detail/address_check.hpp"

#include <pthread.h>

#include <cstdint>

#include "base/log.hpp"
#include "ham/msg/names.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
namespace {

/// The calling thread's stack, from what is in use now to its end.
struct stack_range {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;

  [[nodiscard]] bool has(std::uintptr_t address) const noexcept { return low <= address && address < high; }
};

std::uintptr_t end_of_stack() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &low, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<std::uintptr_t>(low) + size : 0;
}

stack_range stack_in_use() noexcept {
  static thread_local const std::uintptr_t high = end_of_stack();
  return {reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), high};
}

}  // namespace

void report_stack_address(const engine& at, const call_place& to, std::span<const std::byte> object,
                          const std::type_info& type, std::atomic<bool>& said) noexcept {
  if (to.node == at.self()) return;
  const stack_range stack = stack_in_use();
  for (std::size_t offset = 0; offset + sizeof(std::uintptr_t) <= object.size(); offset += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, object.data() + offset, sizeof word);
    if (!stack.has(word)) continue;
    if (said.exchange(true)) return;
    try {
      base::log("runtime", base::log_level::warning,
                "node %d: an object of type %s in a call to node %d holds, %zu bytes from its beginning, the address "
                "of something on this thread's stack, which means nothing there; pass the value, a container or a "
                "ham::offload::buffer_ptr (found in a debug build, said once; -DHAM_CHECK_ADDRESSES=0 turns the check "
                "off)",
                at.self(), msg::pretty_name(msg::canonical_name(type.name())).c_str(), to.node, offset);
    } catch (const std::bad_alloc&) {
      // Whoever has no memory left does not look for this.
    }
    return;
  }
}

}  // namespace ham::detail
