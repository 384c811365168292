// libffi.
#include "kernel_call.hpp"

#include <ffi.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ham/error.hpp"

namespace ham::veo {
namespace {

ffi_type* type_of(argument_kind kind) noexcept {
  if (kind == argument_kind::real) return &ffi_type_double;
  if (kind == argument_kind::single) return &ffi_type_float;
  return is_stack(kind) ? &ffi_type_pointer : &ffi_type_uint64;
}

ffi_type* type_of(result_kind kind) noexcept {
  if (kind == result_kind::real) return &ffi_type_double;
  if (kind == result_kind::single) return &ffi_type_float;
  return &ffi_type_uint64;
}

/// The description of the last call of a thread: kernels tend to be called again with the same types.
struct call_shape {
  std::vector<argument_kind> kinds;
  result_kind result = result_kind::bits;
  std::vector<ffi_type*> types;
  ffi_cif cif{};
  bool usable = false;

  [[nodiscard]] bool fits(std::span<const argument_kind> wanted, result_kind returned) const noexcept {
    return usable && result == returned && std::ranges::equal(kinds, wanted);
  }
  void prepare(std::span<const argument_kind> wanted, result_kind returned) {
    usable = false;
    kinds.assign(wanted.begin(), wanted.end());
    result = returned;
    types.clear();
    for (const argument_kind one : kinds) types.push_back(type_of(one));
    usable = ffi_prep_cif(&cif, FFI_DEFAULT_ABI, static_cast<unsigned>(types.size()), type_of(result), types.data()) ==
             FFI_OK;
    if (!usable) throw call_error("libffi cannot make a call with these arguments");
  }
};

template <class Narrow>
std::uint64_t widened(std::uint64_t bits) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<Narrow>(bits)));
}

std::uint64_t word_of(result_kind kind, std::uint64_t bits) noexcept {
  switch (kind) {
    case result_kind::i32: return widened<std::int32_t>(bits);
    case result_kind::i16: return widened<std::int16_t>(bits);
    case result_kind::i8: return widened<std::int8_t>(bits);
    case result_kind::u32: return static_cast<std::uint32_t>(bits);
    case result_kind::u16: return static_cast<std::uint16_t>(bits);
    case result_kind::u8: return static_cast<std::uint8_t>(bits);
    default: return bits;
  }
}

}  // namespace

std::uint64_t call_kernel(std::uint64_t kernel, kernel_arguments& arguments) noexcept {
  thread_local call_shape shape;
  if (!shape.fits(arguments.kinds(), arguments.result())) shape.prepare(arguments.kinds(), arguments.result());
  union {
    ffi_arg bits;
    std::uint64_t word;
    double real;
    float single;
  } result{};
  ffi_call(&shape.cif, reinterpret_cast<void (*)()>(static_cast<std::uintptr_t>(kernel)), &result, arguments.places());
  if (arguments.result() == result_kind::single) {
    const std::uint64_t half = std::bit_cast<std::uint32_t>(result.single);
    return half << 32U | half;  // clients read the one half or the other
  }
  return word_of(arguments.result(), result.word);
}

}  // namespace ham::veo
