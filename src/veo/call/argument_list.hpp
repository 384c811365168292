// A list of arguments that a caller fills (struct veo_args, struct vhcall_args), and a message made of it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packed_call.hpp"

namespace ham::inline v1::veo {

/// A buffer of the caller that bytes of the answer go to.
struct delivery {
  void* to = nullptr;
  std::size_t bytes = 0;
};

struct argument {
  bool set = false;
  argument_kind kind = argument_kind::integer;
  std::uint64_t bits = 0;  ///< of buffers: their length
  void* buffer = nullptr;
};

/// One thread at a time.
struct argument_list {
  std::vector<argument> all;
  result_kind result = result_kind::as_typed;

  void clear();

  // ---- what setters of the APIs do: 0, or -1 and errno
  int set_bits(int n, std::uint64_t bits) noexcept { return set(n, {true, argument_kind::integer, bits, nullptr}); }
  int set_signed(int n, std::int64_t value) noexcept { return set_bits(n, static_cast<std::uint64_t>(value)); }
  int set_hmem(int n, const void* pointer) noexcept {
    return set(n, {true, argument_kind::hmem, reinterpret_cast<std::uintptr_t>(pointer), nullptr});
  }
  int set_real(int n, double value) noexcept {
    return set(n, {true, argument_kind::real, std::bit_cast<std::uint64_t>(value), nullptr});
  }
  int set_single(int n, float value) noexcept {
    return set(n, {true, argument_kind::single, std::bit_cast<std::uint32_t>(value), nullptr});
  }
  /// An integer whose bits are 0 until who makes the call knows them; `mark`, its buffer, says which it is.
  int set_later(int n, void* mark) noexcept { return set(n, {true, argument_kind::integer, 0, mark}); }
  /// `intent`: a number of enum veo_args_intent.
  int set_buffer(int n, int intent, void* buffer, std::size_t bytes) noexcept;

 private:
  int set(int n, argument what) noexcept;
};

/// Whether all arguments below the highest one are set. No list is an empty one.
[[nodiscard]] bool is_complete(const argument_list* arguments) noexcept;
/// The message; what buffers hold is copied now. `identifier`: of the VE process that is called, if it is one.
void pack(const argument_list* arguments, std::vector<std::byte>& into, int identifier = -1);
/// Where the buffers go that come back.
[[nodiscard]] std::vector<delivery> deliveries_of(const argument_list* arguments);
/// Copies what came back to where it goes; stops where the bytes end.
void deliver(const std::vector<delivery>& to, const std::vector<std::byte>& bytes);

}  // namespace ham::veo
