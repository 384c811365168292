// Arguments: the setters of the API, and the message of a call.
#include "arguments.hpp"

#include <errno.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "ve_offload.h"
#include "veo_ham.h"

namespace ham::veo {

bool is_complete(const veo_args* arguments) noexcept {
  return arguments == nullptr || std::ranges::all_of(arguments->all, &argument::set);
}

void pack(const veo_args* arguments, std::vector<std::byte>& into) {
  const std::size_t count = arguments == nullptr ? 0 : arguments->all.size();
  call_head head;
  head.arguments = static_cast<std::uint32_t>(count);
  if (arguments != nullptr) head.result = arguments->result;
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

std::vector<delivery> deliveries_of(const veo_args* arguments) {
  std::vector<delivery> result;
  if (arguments == nullptr) return result;
  for (const argument& one : arguments->all) {
    if (comes_back(one.kind)) result.push_back({one.buffer, one.bits});
  }
  return result;
}

namespace {

int set(veo_args* arguments, int n, argument what) noexcept {
  if (arguments == nullptr || n < 0 || static_cast<std::size_t>(n) >= max_arguments) {
    errno = EINVAL;
    return -1;
  }
  const auto index = static_cast<std::size_t>(n);
  try {
    if (arguments->all.size() <= index) arguments->all.resize(index + 1);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
  what.set = true;
  arguments->all[index] = what;
  return 0;
}

int set_integer(veo_args* arguments, int n, std::uint64_t bits) noexcept {
  return set(arguments, n, {true, argument_kind::integer, bits, nullptr});
}
int set_signed(veo_args* arguments, int n, std::int64_t value) noexcept {
  return set_integer(arguments, n, static_cast<std::uint64_t>(value));
}

}  // namespace
}  // namespace ham::veo

using namespace ham::veo;

extern "C" {

struct veo_args* veo_args_alloc(void) {
  return new (std::nothrow) veo_args;
}
void veo_args_free(struct veo_args* args) { delete args; }
void veo_args_clear(struct veo_args* args) {
  if (args == nullptr) return;
  args->all.clear();
  args->result = result_kind::bits;
}

int veo_args_set_i64(struct veo_args* args, int n, int64_t value) { return set_signed(args, n, value); }
int veo_args_set_i32(struct veo_args* args, int n, int32_t value) { return set_signed(args, n, value); }
int veo_args_set_i16(struct veo_args* args, int n, int16_t value) { return set_signed(args, n, value); }
int veo_args_set_i8(struct veo_args* args, int n, int8_t value) { return set_signed(args, n, value); }
int veo_args_set_u64(struct veo_args* args, int n, uint64_t value) { return set_integer(args, n, value); }
int veo_args_set_u32(struct veo_args* args, int n, uint32_t value) { return set_integer(args, n, value); }
int veo_args_set_u16(struct veo_args* args, int n, uint16_t value) { return set_integer(args, n, value); }
int veo_args_set_u8(struct veo_args* args, int n, uint8_t value) { return set_integer(args, n, value); }
int veo_args_set_hmem(struct veo_args* args, int n, void* p) {
  return set_integer(args, n, reinterpret_cast<std::uintptr_t>(p));
}
int veo_args_set_double(struct veo_args* args, int n, double value) {
  return set(args, n, {true, argument_kind::real, std::bit_cast<std::uint64_t>(value), nullptr});
}
int veo_args_set_float(struct veo_args* args, int n, float value) {
  return set(args, n, {true, argument_kind::single, std::bit_cast<std::uint32_t>(value), nullptr});
}

int veo_args_set_stack(struct veo_args* args, enum veo_args_intent intent, int n, char* buf, size_t len) {
  if ((buf == nullptr && len != 0) || len > PTRDIFF_MAX) {
    errno = EINVAL;
    return -1;
  }
  switch (intent) {
    case VEO_INTENT_IN: return set(args, n, {true, argument_kind::stack_in, len, buf});
    case VEO_INTENT_INOUT: return set(args, n, {true, argument_kind::stack_inout, len, buf});
    case VEO_INTENT_OUT: return set(args, n, {true, argument_kind::stack_out, len, buf});
  }
  errno = EINVAL;
  return -1;
}

int veo_ham_args_set_result(struct veo_args* args, enum veo_ham_result kind) {
  if (args == nullptr || kind < VEO_HAM_RESULT_BITS || kind > VEO_HAM_RESULT_FLOAT) {
    errno = EINVAL;
    return -1;
  }
  args->result = static_cast<result_kind>(kind);
  return 0;
}
}
