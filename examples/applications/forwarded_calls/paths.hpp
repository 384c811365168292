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

/// The ways in which lines of output come into a file of the host.
class output_path {
 public:
  virtual ~output_path() = default;
  [[nodiscard]] virtual std::string output_name() const = 0;
  /// Prints `count` lines of `bytes` bytes each, their newlines included, one after the other; the time until the last
  /// one is in the file. Throws if that has something else in it.
  [[nodiscard]] virtual double seconds_of_lines(std::uint64_t bytes, std::uint64_t count) = 0;
};

/// One way for both.
struct paths {
  std::shared_ptr<path> calls;
  std::shared_ptr<output_path> output;
};

/// System calls of this process.
[[nodiscard]] paths make_local();
/// Calls from the target to the host, and what the target prints by itself, given to the host by on_output. Without
/// output if that cannot be captured.
[[nodiscard]] paths make_ham(ham::node_t target);
/// A kernel of a VEO helper calls functions of the host. Nothing if this program was built without libveo. Throws
/// std::runtime_error if there is no helper.
[[nodiscard]] paths make_vhcall();

}  // namespace forwarded_calls
