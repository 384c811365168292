// The kernels: plain loops over plain memory, since a buffer_ptr on its own node is an address.
#include "row_block.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace cg::on_target {
namespace {

class stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

residual_share apply_preconditioner(const row_block& block) {
  const double* inverse_diagonal = block.inverse_diagonal.get();
  const double* residual = block.residual.get();
  double* preconditioned = block.preconditioned.get();
  residual_share share;
  for (std::uint64_t row = 0; row < block.rows; ++row) {
    preconditioned[row] = inverse_diagonal[row] * residual[row];
    share.residual_dot_preconditioned += residual[row] * preconditioned[row];
    share.residual_dot_residual += residual[row] * residual[row];
  }
  return share;
}

}  // namespace

void install(ham::offload::buffer_ptr<row_block> at, const row_block& block) {
  std::construct_at(at.get(), block);
  std::fill_n(block.solution.get(), block.rows, 0.0);
}

residual_share precondition(block_ptr block) {
  const stopwatch watch;
  residual_share share = apply_preconditioner(*block);
  share.seconds = watch.seconds();
  return share;
}

product_share multiply(block_ptr block) {
  const stopwatch watch;
  const std::uint64_t* row_start = block->row_start.get();
  const std::int32_t* column = block->column.get();
  const double* value = block->value.get();
  const double* window = block->window.get();
  const double* own = window + block->own_begin;
  double* product = block->product.get();

  product_share share;
  for (std::uint64_t row = 0; row < block->rows; ++row) {
    double sum = 0.0;
    for (std::uint64_t k = row_start[row]; k < row_start[row + 1]; ++k) sum += value[k] * window[column[k]];
    product[row] = sum;
    share.direction_dot_product += own[row] * sum;
  }
  share.seconds = watch.seconds();
  return share;
}

residual_share advance(block_ptr block, double step) {
  const stopwatch watch;
  const double* direction = block->window.get() + block->own_begin;
  const double* product = block->product.get();
  double* solution = block->solution.get();
  double* residual = block->residual.get();
  for (std::uint64_t row = 0; row < block->rows; ++row) {
    solution[row] += step * direction[row];
    residual[row] -= step * product[row];
  }
  residual_share share = apply_preconditioner(*block);
  share.seconds = watch.seconds();
  return share;
}

void nothing() {}

}  // namespace cg::on_target
