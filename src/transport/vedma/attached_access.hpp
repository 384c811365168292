// In place of a Vector Engine's way to the ring: a process of the host attaches the segment, and copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/common/local_access.hpp"
#include "transport/vedma/segment.hpp"

namespace ham::inline v1::transport::vedma {

/// For VEO libraries whose processes are processes of the host: set-up and protocol are those of a Vector Engine.
class attached_access : public ordinary_stages {
 public:
  static constexpr bool in_place = false;
  attached_access(std::uint64_t segment, std::size_t size)
      : segment_(segment::attach(segment, size)), memory_(segment_.memory()) {}

  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept { return memory_.read_word(at); }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept { memory_.write_word(at, word); }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept { memory_.read_block(at, to, size); }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    memory_.write_block(at, from, size);
  }
  void fence() noexcept { memory_.fence(); }
  [[nodiscard]] bool failed() const noexcept { return false; }

 private:
  segment segment_;
  local_access memory_;
};
static_assert(memory_access<attached_access>);

}  // namespace ham::transport::vedma
