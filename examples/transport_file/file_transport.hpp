// What host and targets have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "file_endpoint.hpp"
#include "transport/common/supervised_transport.hpp"

namespace ham::inline v1::transport::file {

/// What a target is told first, beside the descriptors of the file it reads and of the one it writes.
struct welcome {
  static constexpr std::uint32_t protocol = 2;
  std::uint32_t version = protocol;
  std::int32_t node = 0;
  std::int32_t host = 0;      ///< who has started it
  std::uint32_t nodes = 0;    ///< numbers that the job has given so far
  std::uint32_t running = 0;  ///< nodes of the job on this machine
};

class file_transport : public supervised_transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "file"; }

 protected:
  explicit file_transport(observer& to) : supervised_transport(to) {}

  void add(node_t peer, file_pair files) { adopt(std::make_unique<file_endpoint>(peer, std::move(files))); }
  /// A poll is a system call.
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return false; }
};

}  // namespace ham::transport::file
