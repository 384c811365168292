// The floor of bandwidth: memcpy between two shared mappings whose pages have been touched.
#pragma once

#include "timing.hpp"

#include <cstddef>

namespace ham::inline v1::bench {

/// A shared mapping of a memory file, every page touched.
class shared_mapping {
 public:
  /// Throws std::system_error.
  explicit shared_mapping(std::size_t size_bytes);
  ~shared_mapping();
  shared_mapping(const shared_mapping&) = delete;
  shared_mapping& operator=(const shared_mapping&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Two such mappings and the copy from one to the other.
class copy_floor {
 public:
  explicit copy_floor(std::size_t largest_bytes) : from_(largest_bytes), to_(largest_bytes) {}

  /// One operation is a memcpy of `size_bytes`.
  [[nodiscard]] block_times copy(std::size_t size_bytes, const block_plan& plan);

 private:
  shared_mapping from_;
  shared_mapping to_;
};

}  // namespace ham::bench
