// The arguments of a VEO kernel out of a host's message: every buffer of its own, with what came for it.
// fuzz: -max_len=512
#include "veo/call/kernel_arguments.hpp"

#include <cstdint>
#include <vector>

#include "ham/error.hpp"
#include "input.hpp"

using namespace ham;
using namespace ham::veo;

namespace {

constexpr std::size_t max_bytes = 4096;

/// What a kernel does: writes to all of its buffers. A word of an argument is the length of its buffer.
void write_all(kernel_arguments& arguments, const std::vector<std::uint64_t>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_stack(arguments.kinds()[i])) continue;
    fuzz::require(words[i] <= max_bytes, "a buffer beyond the limit");
    auto* const buffer = static_cast<unsigned char*>(*static_cast<void**>(arguments.places()[i]));
    fuzz::require(buffer != nullptr, "a buffer without an address");
    for (std::uint64_t at = 0; at < words[i]; ++at) {
      if (!goes_in(arguments.kinds()[i])) fuzz::require(buffer[at] == 0, "a buffer with somebody's bytes");
    }
    for (std::uint64_t at = 0; at < words[i]; ++at) buffer[at] = static_cast<unsigned char>(i + 1);
  }
}

}  // namespace

HAM_FUZZ(from) {
  const auto given = from.take(SIZE_MAX);
  // Exactly as long as it is, so that a byte read behind it is found.
  const std::vector<std::byte> message(given.begin(), given.end());
  try {
    kernel_arguments arguments(message, max_bytes);
    const std::size_t count = arguments.kinds().size();
    std::vector<std::uint64_t> words(count);
    if (count != 0) std::memcpy(words.data(), message.data() + padded(sizeof(call_head) + count), count * 8);
    write_all(arguments, words);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (comes_back(arguments.kinds()[i])) expected += padded(words[i]);
    }
    fuzz::require(arguments.returned().size() == expected, "an answer of another size");
  } catch (const protocol_error&) {
  } catch (const call_error&) {
  }
}
