// What the cursors of a message say when something is wrong.
#include "ham/msg/wire.hpp"

#include "base/huge_pages.hpp"

namespace ham::inline v1::msg::detail {

void throw_underrun(std::size_t wanted, std::size_t there) {
  throw protocol_error("message too short: " + std::to_string(wanted) + " more bytes expected, " +
                       std::to_string(there) + " there (damaged or sent by an incompatible peer)");
}

void throw_malformed(const char* what) {
  throw protocol_error(std::string("malformed message: ") + what + " (damaged or sent by an incompatible peer)");
}

void throw_overrun(std::size_t wanted, std::size_t there) {
  throw call_error("a codec's write writes more than its size said (" + std::to_string(wanted) +
                       " more bytes, room for " + std::to_string(there) +
                       "); make the two agree, and leave the value as it is between them",
                   call_error_reason::wrong_size);
}

void throw_unfilled(std::size_t left, std::size_t size) {
  throw call_error("a codec's write writes less than its size said (" + std::to_string(left) + " bytes of " +
                       std::to_string(size) +
                       " are missing); make the two agree, and leave the value as it is between them",
                   call_error_reason::wrong_size);
}

void throw_valueless() { throw error("variant cannot be sent (it is valueless after an exception)"); }

void expect_writes(void* memory, std::size_t bytes) noexcept { base::prefer_huge_pages(memory, bytes); }

void throw_too_deep() {
  throw error("value cannot be sent (it is nested deeper than " + std::to_string(max_nesting) +
              " levels) send it in a flat form");
}

}  // namespace ham::msg::detail
