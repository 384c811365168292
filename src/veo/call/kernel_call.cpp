// libffi.
#include "kernel_call.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

#include "../tagged_pointers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::veo {
namespace {

ffi_type* type_of(argument_kind kind) noexcept {
  if (kind == argument_kind::real) return &ffi_type_double;
  if (kind == argument_kind::single) return &ffi_type_float;
  return is_stack(kind) ? &ffi_type_pointer : &ffi_type_uint64;
}

/// Integers take a whole register, extended by their own type.
ffi_type* type_of(slot_kind kind) noexcept {
  if (kind == slot_kind::real) return &ffi_type_double;
  if (kind == slot_kind::single) return &ffi_type_float;
  return kind == slot_kind::pointer ? &ffi_type_pointer : &ffi_type_uint64;
}

ffi_type* type_of(result_kind kind) noexcept {
  if (kind == result_kind::real) return &ffi_type_double;
  if (kind == result_kind::single) return &ffi_type_float;
  return &ffi_type_uint64;
}

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

std::uint64_t word_of(slot_kind kind, std::uint64_t bits) noexcept {
  switch (kind) {
    case slot_kind::i32: return word_of(result_kind::i32, bits);
    case slot_kind::i16: return word_of(result_kind::i16, bits);
    case slot_kind::i8: return word_of(result_kind::i8, bits);
    case slot_kind::u32: return word_of(result_kind::u32, bits);
    case slot_kind::u16: return word_of(result_kind::u16, bits);
    case slot_kind::u8: return word_of(result_kind::u8, bits);
    default: return bits;
  }
}

/// Numbers that change their type with their value; all others keep the bits of their slot.
void convert_one(kernel_arguments& arguments, std::size_t i, slot_kind to) noexcept {
  const argument_kind kind = arguments.kinds()[i];
  const std::uint64_t slot = arguments.slot(i);
  if (to == slot_kind::real) {
    const bool widens = kind == argument_kind::single;
    arguments.set_real(
        i, widens ? std::bit_cast<float>(static_cast<std::uint32_t>(slot >> 32U)) : std::bit_cast<double>(slot));
  } else if (to == slot_kind::single) {
    const bool narrows = kind == argument_kind::real;
    arguments.set_single(i, narrows ? static_cast<float>(std::bit_cast<double>(slot))
                                    : std::bit_cast<float>(static_cast<std::uint32_t>(slot >> 32U)));
  } else {
    arguments.set_word(i, word_of(to, slot));
  }
}

}  // namespace

bool prepared_call::fits(std::uint64_t kernel, std::uint32_t generation,
                         const kernel_arguments& arguments) const noexcept {
  return kernel_ == kernel && generation_ == generation && asked_ == arguments.result() &&
         std::ranges::equal(kinds_, arguments.kinds());
}

void prepared_call::prepare(std::uint64_t kernel, std::shared_ptr<const kernel_types> types, std::uint32_t generation,
                            const kernel_arguments& arguments) {
  kernel_ = 0;
  generation_ = generation;
  kinds_.assign(arguments.kinds().begin(), arguments.kinds().end());
  asked_ = arguments.result();
  types_ = std::move(types);
  result_ = asked_ == result_kind::as_typed ? types_->result : asked_;
  conversions_.clear();
  ffi_types_.clear();
  const auto& parameters = types_->parameters;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    slot_kind type = i < parameters.size() ? parameters[i] : slot_kind::as_set;
    if (types_->variadic && i >= parameters.size() && kinds_[i] == argument_kind::single) type = slot_kind::real;
    add(kinds_[i], type, i);
  }
  missing_ = parameters.size() > kinds_.size() ? parameters.size() - kinds_.size() : 0;
  for (std::size_t i = kinds_.size(); i < parameters.size(); ++i) ffi_types_.push_back(type_of(parameters[i]));
  make_interface(kinds_.size());
  kernel_ = kernel;
}

void prepared_call::add(argument_kind kind, slot_kind type, std::size_t index) {
  if (kind == argument_kind::hmem && type == slot_kind::as_set && !types_->known) type = slot_kind::pointer;
  ffi_types_.push_back(type == slot_kind::as_set ? type_of(kind) : type_of(type));
  const bool is_address = type == slot_kind::pointer || type == slot_kind::word;
  if (type == slot_kind::as_set || (is_stack(kind) && is_address)) return;
  if (type == slot_kind::pointer && !is_floating(kind) && types_->keeps_tags) return;
  if (type == slot_kind::word && !is_floating(kind)) return;
  const bool stays = (type == slot_kind::real && kind == argument_kind::real) ||
                     (type == slot_kind::single && kind == argument_kind::single);
  if (!stays) conversions_.push_back({index, type});
}

void prepared_call::make_interface(std::size_t arguments) {
  const auto all = static_cast<unsigned>(ffi_types_.size());
  const auto fixed = static_cast<unsigned>(types_->parameters.size());
  const bool has_more = types_->variadic && arguments > fixed;
  const ffi_status status =
      has_more ? ffi_prep_cif_var(&interface_, FFI_DEFAULT_ABI, fixed, all, type_of(result_), ffi_types_.data())
               : ffi_prep_cif(&interface_, FFI_DEFAULT_ABI, all, type_of(result_), ffi_types_.data());
  if (status != FFI_OK) throw call_error("libffi cannot make a call with these arguments");
}

void prepared_call::convert_all(kernel_arguments& arguments) const {
  for (const conversion& one : conversions_) {
    convert_one(arguments, one.argument, one.to);
    if (one.to != slot_kind::pointer || types_->keeps_tags) continue;
    if (const std::uint64_t bits = arguments.word(one.argument); is_tagged_address(bits)) {
      arguments.set_word(one.argument, untagged(bits, one.argument, arguments));
    }
  }
  if (missing_ != 0) arguments.add_zeros(kinds_.size() + missing_);
}

std::uint64_t prepared_call::untagged(std::uint64_t bits, std::size_t index, const kernel_arguments& in) const {
  const auto* const pointer = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(bits));  // NOLINT
  if (in.identifier() != no_identifier && identifier_in(pointer) != in.identifier()) {
    throw call_error("argument " + std::to_string(index) + " of kernel " + types_->name +
                     " points into the memory of the VE process with identifier " +
                     std::to_string(identifier_in(pointer)) + ", but the kernel runs in the one with identifier " +
                     std::to_string(in.identifier()) + "; copy the data there through the host (veo_hmemcpy)");
  }
  return address_in(pointer);
}

std::uint64_t prepared_call::run(kernel_arguments& arguments) noexcept {
  const result_kind kind = result_;  // a call from within the kernel may prepare another one here
  union {
    ffi_arg bits;
    std::uint64_t word;
    double real;
    float single;
  } result{};
  ffi_call(&interface_, reinterpret_cast<void (*)()>(static_cast<std::uintptr_t>(kernel_)), &result,
           arguments.places());
  if (kind == result_kind::single) {
    const std::uint64_t half = std::bit_cast<std::uint32_t>(result.single);
    return half << 32U | half;  // clients read the one half or the other
  }
  return word_of(kind, result.word);
}

/// Without memory of the C library, which the fault may have left locked.
void prepared_call::explain_fault(int signal, const kernel_arguments& arguments) const noexcept {
  for (std::size_t i = 0; i < arguments.kinds().size(); ++i) {
    if (is_floating(arguments.kinds()[i]) || !is_tagged_address(arguments.word(i))) continue;
    std::array<char, 512> text{};
    const int length =
        std::snprintf(text.data(), text.size(),
                      "veo: kernel %.200s was ended by signal %d. Its argument %zu was the hmem pointer %#llx with its "
                      "tag, which must "
                      "not be dereferenced: veo_get_hmem_addr gives the address (docs/veo.md, \"Tagged pointers\").\n",
                      types_->name.c_str(), signal, i, static_cast<unsigned long long>(arguments.word(i)));
    const auto bytes = std::min(static_cast<std::size_t>(std::max(length, 0)), text.size() - 1);
    static_cast<void>(!::write(STDERR_FILENO, text.data(), bytes));
  }
}

std::uint64_t call_kernel(std::uint64_t kernel, kernel_arguments& arguments) noexcept {
  static const auto no_types = std::make_shared<const kernel_types>();
  thread_local prepared_call call;
  if (!call.fits(kernel, 0, arguments)) call.prepare(kernel, no_types, 0, arguments);
  return call.run(arguments);
}

}  // namespace ham::veo
