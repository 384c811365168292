// The vectors that the loops of kernels.hpp go over together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cg {

/// So many vectors of `rows` zeros. None begins at the same place of a page as another, which allocations of some size
/// often do: then a processor takes what a loop stores in one vector for what it loads of another one next, and waits
/// (on a first-generation EPYC an iteration took 2.3 times as long).
class vector_set {
 public:
  vector_set(std::size_t count, std::size_t rows)
      : rows_(rows), stride_((rows + page - 1) / page * page + apart), elements_(count * stride_) {}

  [[nodiscard]] std::span<double> operator[](std::size_t which) {
    return std::span(elements_).subspan(which * stride_, rows_);
  }

 private:
  static constexpr std::size_t page = 4096 / sizeof(double);
  static constexpr std::size_t apart = 5 * 64 / sizeof(double);

  std::size_t rows_;
  std::size_t stride_;
  std::vector<double> elements_;
};

}  // namespace cg
