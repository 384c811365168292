// SysV shared memory of the host (paper 1, Fig. 7), which no name and no process leaves behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ham::inline v1::transport::vedma {

/// Attached to this process until it goes.
class segment {
 public:
  /// Makes one, of huge pages if there are any, as the DMAATB of a Vector Engine wants them. It is marked for removal
  /// at once: Linux keeps it, and lets others attach by its identifier, as long as somebody is attached. Throws
  /// ham::config_error.
  [[nodiscard]] static segment make(std::size_t size);
  /// Attaches the segment of another process. Throws ham::config_error.
  [[nodiscard]] static segment attach(std::uint64_t id, std::size_t size);

  segment(segment&& other) noexcept : id_(other.id_), memory_(std::exchange(other.memory_, nullptr)) {}
  segment& operator=(segment&&) = delete;
  ~segment();

  [[nodiscard]] std::uint64_t id() const noexcept { return static_cast<std::uint64_t>(id_); }
  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }

 private:
  segment(int id, std::byte* memory) noexcept : id_(id), memory_(memory) {}
  int id_;
  std::byte* memory_;
};

}  // namespace ham::transport::vedma
