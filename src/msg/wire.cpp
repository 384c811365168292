// What the cursors of a message say when something is wrong.
#include "ham/msg/wire.hpp"

#include "base/huge_pages.hpp"

namespace ham::msg::detail {

void throw_underrun(std::size_t wanted, std::size_t there) {
  throw protocol_error("message too short: " + std::to_string(wanted) + " more bytes expected, " +
                       std::to_string(there) + " there (damaged or sent by an incompatible peer)");
}

void throw_malformed(const char* what) {
  throw protocol_error(std::string("malformed message: ") + what + " (damaged or sent by an incompatible peer)");
}

void expect_writes(void* memory, std::size_t bytes) noexcept { base::prefer_huge_pages(memory, bytes); }

void throw_too_deep() {
  throw error("value cannot be sent (it is nested deeper than " + std::to_string(max_nesting) +
              " levels) send it in a flat form");
}

}  // namespace ham::msg::detail
