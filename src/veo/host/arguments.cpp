// Arguments: the setters of the API.
#include "arguments.hpp"

#include <errno.h>

#include <new>

#include "guard.hpp"
#include "ve_offload.h"
#include "veo_ham.h"

using namespace ham::veo;

namespace {

/// What a setter does to the list, if there is one.
template <class Set>
int to(veo_args* arguments, Set set) noexcept {
  return arguments == nullptr ? fail(EINVAL, -1) : set(*arguments);
}
int set_signed(veo_args* arguments, int n, std::int64_t value) noexcept {
  return to(arguments, [=](veo_args& list) { return list.set_signed(n, value); });
}
int set_integer(veo_args* arguments, int n, std::uint64_t bits) noexcept {
  return to(arguments, [=](veo_args& list) { return list.set_bits(n, bits); });
}

}  // namespace

extern "C" {

struct veo_args* veo_args_alloc(void) {
  return new (std::nothrow) veo_args;
}
void veo_args_free(struct veo_args* args) { delete args; }
void veo_args_clear(struct veo_args* args) {
  if (args != nullptr) args->clear();
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
  return to(args, [=](veo_args& list) { return list.set_hmem(n, p); });
}
int veo_args_set_double(struct veo_args* args, int n, double value) {
  return to(args, [=](veo_args& list) { return list.set_real(n, value); });
}
int veo_args_set_float(struct veo_args* args, int n, float value) {
  return to(args, [=](veo_args& list) { return list.set_single(n, value); });
}
int veo_args_set_stack(struct veo_args* args, enum veo_args_intent intent, int n, char* buf, size_t len) {
  const int number = intent;  // clients may pass one that the enumeration does not have
  return to(args, [=](veo_args& list) { return list.set_buffer(n, number, buf, len); });
}

int veo_ham_args_set_result(struct veo_args* args, enum veo_ham_result kind) {
  if (args == nullptr || kind < VEO_HAM_RESULT_BITS || kind > VEO_HAM_RESULT_FLOAT) return fail(EINVAL, -1);
  args->result = static_cast<result_kind>(kind);
  return 0;
}
}
