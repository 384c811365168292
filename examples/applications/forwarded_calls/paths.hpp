// The paths that a system call may take: it is made here, or forwarded from a target by a HAM call or by VHcall.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace forwarded_calls {

enum class operation : std::uint8_t { write, read };

/// `seconds_of` makes `count` calls of `bytes` bytes each, one after the other, and measures them where they are made.
/// It checks what was read last; after it the host's file holds what was written last. Throws if something is wrong.
class path {
 public:
  virtual ~path() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual double seconds_of(operation which, std::uint64_t bytes, std::uint64_t count) = 0;
  /// Whether the file that is written holds `bytes` bytes of the pattern.
  [[nodiscard]] virtual bool file_is_right(std::uint64_t bytes) = 0;
  /// Overwrites that many bytes of it with zeros.
  virtual void clear_file(std::uint64_t bytes) = 0;
};

/// System calls of this process.
[[nodiscard]] std::unique_ptr<path> make_local();
/// Calls from the target to the host.
[[nodiscard]] std::unique_ptr<path> make_ham(ham::node_t target);
/// A kernel of a VEO helper calls functions of the host. Nothing if this program was built without libveo. Throws
/// std::runtime_error if there is no helper.
[[nodiscard]] std::unique_ptr<path> make_vhcall();

}  // namespace forwarded_calls
