// Setters, the message of a call, and what its answer brings back.
#include "argument_list.hpp"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "ve_offload.h"

namespace ham::inline v1::veo {

void argument_list::clear() {
  all.clear();
  result = result_kind::as_typed;
}

int argument_list::set(int n, argument what) noexcept {
  if (n < 0 || static_cast<std::size_t>(n) >= max_arguments) {
    errno = EINVAL;
    return -1;
  }
  const auto index = static_cast<std::size_t>(n);
  try {
    if (all.size() <= index) all.resize(index + 1);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
  all[index] = what;
  return 0;
}

int argument_list::set_buffer(int n, int intent, void* buffer, std::size_t bytes) noexcept {
  if ((buffer != nullptr || bytes == 0) && bytes <= PTRDIFF_MAX) {
    switch (intent) {
      case VEO_INTENT_IN: return set(n, {true, argument_kind::stack_in, bytes, buffer});
      case VEO_INTENT_INOUT: return set(n, {true, argument_kind::stack_inout, bytes, buffer});
      case VEO_INTENT_OUT: return set(n, {true, argument_kind::stack_out, bytes, buffer});
      default: break;
    }
  }
  errno = EINVAL;
  return -1;
}

bool is_complete(const argument_list* arguments) noexcept {
  return arguments == nullptr || std::ranges::all_of(arguments->all, &argument::set);
}

void pack(const argument_list* arguments, std::vector<std::byte>& into, int identifier) {
  const std::size_t count = arguments == nullptr ? 0 : arguments->all.size();
  call_head head;
  head.arguments = static_cast<std::uint32_t>(count);
  if (arguments != nullptr) head.result = arguments->result;
  head.identifier = identifier < 0 ? no_identifier : static_cast<std::uint8_t>(identifier);
  const std::size_t words_at = padded(sizeof head + count);
  std::size_t bytes = words_at + count * 8;
  for (std::size_t i = 0; i < count; ++i) {
    const argument& one = arguments->all[i];
    if (goes_in(one.kind)) bytes += padded(one.bits);
  }
  into.resize(bytes);
  std::memcpy(into.data(), &head, sizeof head);
  std::size_t buffer_at = words_at + count * 8;
  for (std::size_t i = 0; i < count; ++i) {
    const argument& one = arguments->all[i];
    into[sizeof head + i] = static_cast<std::byte>(one.kind);
    std::memcpy(into.data() + words_at + i * 8, &one.bits, 8);
    if (!goes_in(one.kind) || one.bits == 0) continue;
    std::memcpy(into.data() + buffer_at, one.buffer, one.bits);
    buffer_at += padded(one.bits);
  }
}

std::vector<delivery> deliveries_of(const argument_list* arguments) {
  std::vector<delivery> result;
  if (arguments == nullptr) return result;
  for (const argument& one : arguments->all) {
    if (comes_back(one.kind)) result.push_back({one.buffer, one.bits});
  }
  return result;
}

void deliver(const std::vector<delivery>& to, const std::vector<std::byte>& bytes) {
  std::size_t from = 0;
  for (const delivery& one : to) {
    if (one.bytes == 0) continue;
    if (bytes.size() < from + one.bytes) return;
    std::memcpy(one.to, bytes.data() + from, one.bytes);
    from += padded(one.bytes);
  }
}

}  // namespace ham::veo
