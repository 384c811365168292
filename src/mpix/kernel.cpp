// Makes kernels ready and calls them, through libffi.
#include "mpix/kernel.hpp"

#include "mpix/find_kernel.hpp"
#include "mpix/refusal.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ham::inline v1::mpix {
namespace {

std::string quoted(std::string_view name) { return "kernel \"" + std::string(name) + "\""; }

std::string bytes_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

void check_argument(std::string_view name, std::size_t index, const type& parameter, std::size_t size) {
  const std::string which =
      "argument " + std::to_string(index + 1) + " of " + quoted(name) + " (" + parameter.name + ")";
  if (parameter.kind == type_kind::opaque)
    throw refusal(failure::untyped, which + " cannot be passed: " + parameter.why);
  if (parameter.kind == type_kind::pointer) {
    if (size != 0 && size < parameter.pointee) {
      throw refusal(failure::mismatch, which + " points to " + bytes_text(parameter.pointee) +
                                           " at least, the call has " + bytes_text(size));
    }
  } else if (parameter.size != size) {
    throw refusal(failure::mismatch,
                  which + " has " + bytes_text(parameter.size) + ", the call has " + bytes_text(size));
  }
}

}  // namespace

kernel::kernel(const kernel_request& request) {
  const std::string_view name = bare_name(request.name);
  const found_kernel found = find_kernel(request.name);
  function_ = found.function;
  if (found.types)
    plan(*found.types, request);
  else
    plan_without_types({name, request.sizes}, found.why_untyped);
  const auto count = static_cast<unsigned>(ffi_types_.size());
  if (ffi_prep_cif(&call_, FFI_DEFAULT_ABI, count, ffi_result_, ffi_types_.data()) != FFI_OK) {
    throw refusal(failure::untyped, quoted(name) + " cannot be called: libffi does not know how");
  }
  values_.resize(steps_.size());
  addresses_.resize(steps_.size());
}

void kernel::plan(const signature& types, const kernel_request& request) {
  const std::string_view name = bare_name(request.name);
  const std::size_t count = types.parameters.size();
  if (count != request.sizes.size()) {
    throw refusal(failure::mismatch, quoted(name) + " takes " + std::to_string(count) + " arguments, the call has " +
                                         std::to_string(request.sizes.size()) + "; it is " + to_string(types) +
                                         ", says the " + types.source);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const type& parameter = types.parameters[i];
    check_argument(name, i, parameter, request.sizes[i]);
    if (parameter.kind == type_kind::pointer)
      add(i, pass::address, &ffi_type_pointer);
    else
      add(i, pass::value, ffi_type_of(parameter));
  }
  result_ = types.result;
  if (result_.kind == type_kind::opaque) {
    throw refusal(failure::untyped, "the result of " + quoted(name) + " (" + result_.name + ") cannot be received");
  }
  ffi_result_ = result_.kind == type_kind::pointer ? &ffi_type_pointer : ffi_type_of(result_);
  if (ffi_result_->size > 64) {
    throw refusal(failure::untyped, "the result of " + quoted(name) + " (" + result_.name + ") is too large");
  }
}

// The rule for plain sizes. Whether an argument of 4 or 8 bytes is an integer or a floating point number decides which
// register it comes in, and with it where the arguments behind it are; so only the last one may be open, and it is put
// into both registers.
void kernel::plan_without_types(const kernel_request& request, const std::string& why) {
  const std::string help = ": its types are not known" + (why.empty() ? "" : " (" + why + ")") +
                           "; compile it with -g, register it with MPIX_KERNEL, or write the types into the name, \"" +
                           std::string(request.name) + "(double, int, char)\"";
#if defined __x86_64__
  constexpr std::size_t registers = 6;
#elif defined __aarch64__
  constexpr std::size_t registers = 8;
#else
  constexpr std::size_t registers = 0;
#endif
  for (std::size_t i = 0; i < request.sizes.size(); ++i) {
    const bool is_last = i + 1 == request.sizes.size();
    switch (request.sizes[i]) {
      case 1: add(i, pass::value, &ffi_type_uint8); continue;
      case 2: add(i, pass::value, &ffi_type_uint16); continue;
      case 4:
      case 8: {
        if (!is_last || i >= registers) break;
        const bool is_word = request.sizes[i] == 4;
        add(i, pass::value, is_word ? &ffi_type_uint32 : &ffi_type_uint64);
        add(i, pass::value, is_word ? &ffi_type_float : &ffi_type_double);
        continue;
      }
      default: break;
    }
    throw refusal(failure::untyped, "argument " + std::to_string(i + 1) + " of " + quoted(request.name) + " (" +
                                        bytes_text(request.sizes[i]) + ") may be one thing or another" + help);
  }
}

ffi_type* kernel::ffi_type_of(const type& what) {
  const bool is_signed = what.kind == type_kind::signed_integer;
  switch (what.kind) {
    case type_kind::signed_integer:
    case type_kind::unsigned_integer:
      switch (what.size) {
        case 1: return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
        case 2: return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
        case 4: return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
        default: return is_signed ? &ffi_type_sint64 : &ffi_type_uint64;
      }
    case type_kind::floating:
      if (what.size == sizeof(float)) return &ffi_type_float;
      return what.size == sizeof(double) ? &ffi_type_double : &ffi_type_longdouble;
#ifdef FFI_TARGET_HAS_COMPLEX_TYPE
    case type_kind::complex: return what.size == 2 * sizeof(float) ? &ffi_type_complex_float : &ffi_type_complex_double;
#endif
    case type_kind::structure: return ffi_structure(what);
    case type_kind::nothing: return &ffi_type_void;
    default: throw refusal(failure::untyped, what.name + " cannot be passed here");
  }
}

ffi_type* kernel::ffi_structure(const type& what) {
  std::vector<ffi_type*> parts;
  for (const member& part : what.members) parts.push_back(ffi_type_of(part.what));
  parts.push_back(nullptr);
  elements_.push_back(std::move(parts));
  structures_.push_back({0, 0, FFI_TYPE_STRUCT, elements_.back().data()});
  check_layout(what, &structures_.back());
  return &structures_.back();
}

// libffi lays structures out by itself; packed or over-aligned ones come out differently and are refused.
void kernel::check_layout(const type& what, ffi_type* layout) const {
  std::vector<std::size_t> offsets(what.members.size());
  bool same = ffi_get_struct_offsets(FFI_DEFAULT_ABI, layout, offsets.data()) == FFI_OK && layout->size == what.size;
  for (std::size_t i = 0; same && i < offsets.size(); ++i) same = offsets[i] == what.members[i].offset;
  if (!same)
    throw refusal(failure::untyped, what.name + " cannot be passed: it is packed or has an alignment of its own");
}

std::int64_t kernel::run(std::span<std::byte* const> arguments) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::byte* const bytes = arguments[steps_[i].argument];
    addresses_[i] = bytes;
    values_[i] = steps_[i].how == pass::address ? static_cast<void*>(&addresses_[i]) : bytes;
  }
  alignas(16) std::array<std::byte, 64> result{};
  ffi_call(&call_, function_, result.data(), values_.data());
  const bool is_signed = result_.kind == type_kind::signed_integer;
  if (!is_signed && result_.kind != type_kind::unsigned_integer) return 0;
  // libffi widens small results to a whole register.
  ffi_sarg value = 0;
  std::memcpy(&value, result.data(), sizeof value);
  if (result_.size != 4) return value;
  if (is_signed) return static_cast<std::int32_t>(value);
  return static_cast<std::uint32_t>(value);
}

}  // namespace ham::mpix
