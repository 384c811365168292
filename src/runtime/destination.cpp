// Numbers of nodes and deadlines, as far as they are not computed in place.
#include "ham/offload/destination.hpp"

#include <chrono>
#include <string>

namespace ham::inline v1::offload::detail {

void throw_no_node(unsigned long long number, bool is_signed) {
  const std::string text = is_signed ? std::to_string(static_cast<long long>(number)) : std::to_string(number);
  throw call_error("node " + text + " does not exist (numbers of nodes have 32 bits) use one below num_nodes()",
                   call_error_reason::no_such_node);
}

std::int64_t clamped_nanoseconds(long double time_ns) noexcept {
  if (time_ns >= static_cast<long double>(INT64_MAX)) return INT64_MAX;
  if (time_ns <= 0) return 0;
  return static_cast<std::int64_t>(time_ns);
}

std::int64_t nanoseconds_from_now(long double wanted_ns) noexcept {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (wanted_ns >= static_cast<long double>(INT64_MAX - now)) return INT64_MAX;
  if (wanted_ns <= 0) return now;
  return now + static_cast<std::int64_t>(wanted_ns);
}

}  // namespace ham::offload::detail
