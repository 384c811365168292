// The list of arguments that clients fill (struct veo_args), and a message made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../packed_call.hpp"

namespace ham::veo {

/// A buffer of the client that bytes of the answer go to.
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

}  // namespace ham::veo

struct veo_args {
  std::vector<ham::veo::argument> all;
  ham::veo::result_kind result = ham::veo::result_kind::bits;
};

namespace ham::veo {

/// Whether all arguments below the highest one are set. No list is an empty one.
[[nodiscard]] bool is_complete(const veo_args* arguments) noexcept;
/// The message; what buffers hold is copied now.
void pack(const veo_args* arguments, std::vector<std::byte>& into);
/// Where the buffers go that come back.
[[nodiscard]] std::vector<delivery> deliveries_of(const veo_args* arguments);

}  // namespace ham::veo
