// What a peer implements to be measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "protocol.hpp"

namespace ham::inline v1::peers {

/// What stands beside a measurement.
struct description {
  std::string name;     ///< as run.py calls it
  std::string version;  ///< of the library
  std::string how;      ///< how it is used: sockets, settings
};

/// A connection to the server. Functions block, and throw when the peer reports an error.
class client {
 public:
  client() = default;
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  virtual ~client() = default;

  /// One call, by the means that are the peer's best for an argument of this size. Gives what execute() does.
  virtual std::uint64_t call(op what, std::span<const std::byte> argument) = 0;
  /// `count` calls of op::touch without an argument, all under way before the first answer is waited for. Gives the sum
  /// of the answers.
  virtual std::uint64_t call_many(std::size_t count) = 0;
  /// False if calls run in this very process: there is no server that could idle or die.
  [[nodiscard]] virtual bool has_server() const { return true; }
};

}  // namespace ham::peers
