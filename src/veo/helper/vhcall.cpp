// libvhcall.h, as kernels find it in a helper.
#include "libvhcall.h"

#include <errno.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "../call/argument_list.hpp"
#include "host_line.hpp"

using namespace ham::veo;

struct vhcall_args : argument_list {};

namespace {

/// What `work` gives, an answer of the host; or its failure and the errno of it.
template <class Work>
host_answer asked(Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return {ENOMEM, 0, {}};
  } catch (const ham::node_failure& problem) {
    std::fprintf(stderr, "vhcall: %s\n", problem.what());
    return {ECONNRESET, 0, {}};
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "vhcall: %s\n", problem.what());
    return {EIO, 0, {}};
  }
}

/// The value of an answer, or -1 and errno.
std::uint64_t value_of(const host_answer& answer) noexcept {
  if (std::get<0>(answer) == 0) return std::get<1>(answer);
  errno = std::get<0>(answer);
  return ~std::uint64_t{0};
}

template <class T>
T fail(int error, T failure) noexcept {
  errno = error;
  return failure;
}

template <class Set>
int to(vhcall_args* args, Set set) noexcept {
  return args == nullptr ? fail(EINVAL, -1) : set(*args);
}
int set_signed(vhcall_args* args, int n, std::int64_t value) noexcept {
  return to(args, [=](vhcall_args& list) { return list.set_signed(n, value); });
}
int set_bits(vhcall_args* args, int n, std::uint64_t value) noexcept {
  return to(args, [=](vhcall_args& list) { return list.set_bits(n, value); });
}

/// What stands for the veos_handle until the line of a call is known.
char veos_handle_mark;

void pack_filled(const vhcall_args* args, std::vector<std::byte>& into) {
  if (args == nullptr) return pack(nullptr, into);
  argument_list filled = *args;
  for (argument& one : filled.all) {
    if (one.kind == argument_kind::integer && one.buffer == &veos_handle_mark) one.bits = own_line().handle;
  }
  pack(&filled, into);
}

}  // namespace

extern "C" {

vhcall_handle vhcall_install(const char* lib) {
  if (lib == nullptr) return fail(EINVAL, VHCALL_HANDLE_INVALID);
  return value_of(asked([&] { return ask_host(install_request, std::string_view(lib)); }));
}

int64_t vhcall_find(vhcall_handle handle, const char* symname) {
  if (symname == nullptr) return fail(EINVAL, std::int64_t{-1});
  return static_cast<std::int64_t>(
      value_of(asked([&] { return ask_host(find_request, handle, std::string_view(symname)); })));
}

long vhcall_invoke(int64_t symid, const void* in, size_t insz, void* out, size_t outsz) {
  if (symid < 0 || (in == nullptr && insz != 0) || (out == nullptr && outsz != 0)) return fail(EINVAL, -1L);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(in), insz);
  const host_answer got = asked([&] {
    return ask_host(invoke_request, static_cast<std::uint64_t>(symid), bytes, static_cast<std::uint64_t>(outsz));
  });
  const std::vector<std::byte>& back = std::get<2>(got);
  if (outsz != 0 && back.size() == outsz) std::memcpy(out, back.data(), outsz);
  return static_cast<long>(value_of(got));
}

int vhcall_invoke_with_args(int64_t symid, vhcall_args* args, uint64_t* retval) {
  if (symid < 0 || !is_complete(args)) return fail(EINVAL, -1);
  const host_answer got = asked([&] {
    std::vector<std::byte> message;
    pack_filled(args, message);
    host_answer answer =
        ask_host(host_call_request, static_cast<std::uint64_t>(symid), std::span<const std::byte>(message));
    if (std::get<0>(answer) == 0) deliver(deliveries_of(args), std::get<2>(answer));
    return answer;
  });
  if (std::get<0>(got) != 0) return fail(std::get<0>(got), -1);
  if (retval != nullptr) *retval = std::get<1>(got);
  return 0;
}

int vhcall_uninstall(vhcall_handle handle) {
  return static_cast<int>(value_of(asked([&] { return ask_host(uninstall_request, handle); })));
}

vhcall_args* vhcall_args_alloc(void) { return new (std::nothrow) vhcall_args; }
void vhcall_args_free(vhcall_args* args) { delete args; }
void vhcall_args_clear(vhcall_args* args) {
  if (args != nullptr) args->clear();
}

int vhcall_args_set_i8(vhcall_args* args, int argnum, int8_t value) { return set_signed(args, argnum, value); }
int vhcall_args_set_u8(vhcall_args* args, int argnum, uint8_t value) { return set_bits(args, argnum, value); }
int vhcall_args_set_i16(vhcall_args* args, int argnum, int16_t value) { return set_signed(args, argnum, value); }
int vhcall_args_set_u16(vhcall_args* args, int argnum, uint16_t value) { return set_bits(args, argnum, value); }
int vhcall_args_set_i32(vhcall_args* args, int argnum, int32_t value) { return set_signed(args, argnum, value); }
int vhcall_args_set_u32(vhcall_args* args, int argnum, uint32_t value) { return set_bits(args, argnum, value); }
int vhcall_args_set_i64(vhcall_args* args, int argnum, int64_t value) { return set_signed(args, argnum, value); }
int vhcall_args_set_u64(vhcall_args* args, int argnum, uint64_t value) { return set_bits(args, argnum, value); }
int vhcall_args_set_float(vhcall_args* args, int argnum, float value) {
  return to(args, [=](vhcall_args& list) { return list.set_single(argnum, value); });
}
int vhcall_args_set_double(vhcall_args* args, int argnum, double value) {
  return to(args, [=](vhcall_args& list) { return list.set_real(argnum, value); });
}
int vhcall_args_set_pointer(vhcall_args* args, enum vhcall_args_intent inout, int argnum, void* buff, size_t len) {
  return to(args, [=](vhcall_args& list) { return list.set_buffer(argnum, inout, buff, len); });
}
int vhcall_args_set_stack(vhcall_args* args, enum vhcall_args_intent inout, int argnum, void* buff, size_t len) {
  return vhcall_args_set_pointer(args, inout, argnum, buff, len);
}
int vhcall_args_set_veoshandle(vhcall_args* args, int argnum) {
  return to(args, [=](vhcall_args& list) { return list.set_later(argnum, &veos_handle_mark); });
}
}
