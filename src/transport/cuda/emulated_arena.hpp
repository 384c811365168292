// The arena of an emulated device: a file in memory, which other processes of the same user map to read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/memory_file.hpp"
#include "base/unique_fd.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::transport::cuda {

/// Readable and writable here. Pages are taken from the system when they are first written.
class emulated_arena {
 public:
  /// Throws ham::config_error if the process has no room for it.
  explicit emulated_arena(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }

  /// What others open it by: process, descriptor and a name that nobody can guess.
  [[nodiscard]] arena_handle handle() const noexcept;
  /// Maps such an arena, of this process or another, so that it can be read and not written. nullptr unless the handle
  /// names one that belongs to the user of this process, and from which nothing can be taken away.
  [[nodiscard]] static std::unique_ptr<peer_arena> open(const arena_handle& of) noexcept;

 private:
  std::uint64_t key_[2];
  base::unique_fd file_;
  base::mapping memory_;
};

}  // namespace ham::transport::cuda
