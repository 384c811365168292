// What is asked of every peer's server, and what it answers: the same functions for all of them.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

namespace ham::inline v1::peers {

enum class op : std::uint32_t {
  touch,    ///< next to nothing: 1 + length + first and last byte of the argument
  sum,      ///< the sum of all bytes, for the check of correctness
  process,  ///< the process id of the server
  hang,     ///< never answers
};

/// The head of a request where a peer moves bytes and has no calls of its own.
struct request_head {
  op what = op::touch;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;  ///< of the argument
};

/// A request that carries at most so many bytes of argument is one message where the peer leaves that to the program.
inline constexpr std::size_t inline_bytes = 4096;
/// The longest argument.
inline constexpr std::size_t max_bytes = std::size_t{64} << 20;

/// Executes a call in the server.
inline std::uint64_t execute(op what, std::span<const std::byte> argument) {
  switch (what) {
    case op::touch:
      if (argument.empty()) return 1;
      return 1 + argument.size() + static_cast<std::uint64_t>(argument.front()) +
             static_cast<std::uint64_t>(argument.back());
    case op::sum:
      return std::accumulate(argument.begin(), argument.end(), std::uint64_t{0},
                             [](std::uint64_t sum, std::byte one) { return sum + static_cast<std::uint64_t>(one); });
    case op::process: return static_cast<std::uint64_t>(::getpid());
    case op::hang:
      while (true) ::pause();
  }
  throw std::runtime_error("a request for operation " + std::to_string(static_cast<unsigned>(what)));
}

}  // namespace ham::peers
