// Host side of one row block: the buffers that it owns on its target, and the worker there.
#pragma once

#include <ham/offload.hpp>

#include <cstddef>
#include <span>

#include "distributed_system.hpp"
#include "row_block.hpp"
#include "worker.hpp"

namespace cg {

class distributed_system::resident_block {
 public:
  /// `inverse_diagonal` and `b` are those of the whole matrix.
  resident_block(ham::node_t node, const row_block& block, std::span<const double> inverse_diagonal,
                 std::span<const double> b);
  resident_block(const resident_block&) = delete;
  resident_block& operator=(const resident_block&) = delete;

  /// Must not be sent anything any more when this ends.
  [[nodiscard]] const ham::offload::remote<worker>& remote_worker() const { return worker_; }
  [[nodiscard]] ham::offload::future<void> copy_solution(std::span<double> to) const;

 private:
  struct matrix_buffers {
    matrix_buffers(ham::node_t node, const csr_matrix& matrix);
    [[nodiscard]] resident_matrix pointers() const { return {row_start, column, value}; }

    ham::offload::buffer<std::uint64_t> row_start;
    ham::offload::buffer<std::int32_t> column;
    ham::offload::buffer<double> value;
  };

  row_range rows_;
  matrix_buffers lower_, outer_;
  ham::offload::buffer<double> diagonal_, inverse_diagonal_, b_;
  ham::offload::buffer<double> x_;
  ham::offload::remote<worker> worker_;  ///< destroyed before the memory that it uses
};

}  // namespace cg
