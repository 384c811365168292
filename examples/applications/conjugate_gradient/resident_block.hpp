// Host side of one row block: the buffers that it owns on its target.
#pragma once

#include <ham/offload.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "csr_matrix.hpp"
#include "distributed_system.hpp"
#include "row_block.hpp"

namespace cg {

class distributed_system::resident_block {
 public:
  resident_block(ham::node_t node, const csr_matrix& matrix, row_range rows, std::span<const double> inverse_diagonal);

  [[nodiscard]] ham::node_t node() const { return descriptor_.node(); }
  [[nodiscard]] row_range rows() const { return rows_; }
  [[nodiscard]] std::uint64_t nonzeros() const { return value_.size(); }

  /// What the functions on the target take.
  [[nodiscard]] on_target::block_ptr descriptor() const { return descriptor_.ptr(); }

  /// The rows of a vector that is as long as the matrix; what this block reads of the search direction.
  template <class T>
  [[nodiscard]] std::span<T> own_part(std::span<T> vector) const {
    return vector.subspan(static_cast<std::size_t>(rows_.first), rows_.size());
  }
  [[nodiscard]] std::span<const double> window_part(std::span<const double> vector) const {
    return vector.subspan(window_begin_, window_.size());
  }

  [[nodiscard]] ham::offload::buffer_ptr<double> window() const { return window_.ptr(); }
  [[nodiscard]] ham::offload::buffer_ptr<double> residual() const { return residual_.ptr(); }
  [[nodiscard]] ham::offload::buffer_ptr<double> preconditioned() const { return preconditioned_.ptr(); }
  [[nodiscard]] ham::offload::buffer_ptr<double> solution() const { return solution_.ptr(); }

 private:
  row_range rows_;
  std::size_t window_begin_ = 0;
  ham::offload::buffer<std::uint64_t> row_start_;
  ham::offload::buffer<std::int32_t> column_;
  ham::offload::buffer<double> value_;
  ham::offload::buffer<double> inverse_diagonal_;
  ham::offload::buffer<double> window_;
  ham::offload::buffer<double> product_;
  ham::offload::buffer<double> solution_;
  ham::offload::buffer<double> residual_;
  ham::offload::buffer<double> preconditioned_;
  ham::offload::buffer<row_block> descriptor_;
};

}  // namespace cg
