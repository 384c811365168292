// The three arrays of STREAM, in the memory of whoever makes the object: a target, or a thread of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "stream/kernels.hpp"

namespace stream {

class vectors {
 public:
  /// Arrays of `size` elements, initialised by the calling thread, which is the one that uses them.
  explicit vectors(std::uint64_t size);

  /// So many passes, each of which gives the same: no kernel reads what it writes.
  void run(kernel which, std::uint64_t passes);
  /// How many elements are not, to the last bit, what they must be after the kernels up to `last`.
  [[nodiscard]] std::uint64_t wrong(kernel last) const;

 private:
  struct release {
    void operator()(double* array) const;
  };
  using array = std::unique_ptr<double[], release>;
  static array make(std::size_t size);

  std::size_t size_;
  array a_, b_, c_;
};

}  // namespace stream
