// What is known of the types of a kernel.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "packed_call.hpp"

namespace ham::inline v1::veo {

/// How a kernel takes an argument; as_set: not known, as the setter says.
enum class slot_kind : std::uint8_t { as_set, word, i32, i16, i8, u32, u16, u8, real, single, pointer };

struct kernel_types {
  bool known = false;
  bool variadic = false;
  bool keeps_tags = false;  ///< the library takes tags off pointers by itself (veo_hmem.h)
  std::vector<slot_kind> parameters;
  result_kind result = result_kind::bits;
  std::string name;  ///< "scale in ./libkernels.so"
  std::string why;   ///< not known: the reason
  mutable std::atomic<bool> has_warned{false};
};

}  // namespace ham::veo
