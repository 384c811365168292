// Steps of the solver as asynchronous calls to all targets, so that they compute at the same time.
#include "distributed_system.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "resident_block.hpp"

namespace cg {
namespace {

namespace offload = ham::offload;

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

}  // namespace

distributed_system::distributed_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal) {
  if (offload::num_nodes() < 2) {
    throw std::runtime_error(
        "no targets (this process is the only node); unset HAM_NODES or set it to shm:2, for example");
  }
  ham::node_t node = 1;
  for (const row_range rows : partition_by_nonzeros(matrix, offload::num_nodes() - 1)) {
    blocks_.push_back(std::make_unique<resident_block>(node++, matrix, rows, inverse_diagonal));
  }
}

distributed_system::~distributed_system() = default;

residual_share distributed_system::set_residual(std::span<const double> residual) {
  std::vector<offload::future<void>> puts;
  for (const auto& block : blocks_) {
    const auto part = block->own_part(residual);
    puts.push_back(offload::put(part.data(), block->residual(), part.size()));
  }
  for (auto& put : puts) put.get();
  std::vector<offload::future<residual_share>> shares;
  for (const auto& block : blocks_) {
    shares.push_back(offload::async(block->node(), ham::fn<&on_target::precondition>, block->descriptor()));
  }
  return sum(std::move(shares));
}

double distributed_system::multiply(std::span<const double> direction) {
  std::vector<offload::future<void>> puts(blocks_.size());
  std::vector<offload::future<product_share>> shares(blocks_.size());
  const auto start = [&](std::size_t i) {
    puts[i].get();
    shares[i] = offload::async(blocks_[i]->node(), ham::fn<&on_target::multiply>, blocks_[i]->descriptor());
  };
  // A target whose piece has arrived starts to compute while the pieces of the others are on their way.
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto part = blocks_[i]->window_part(direction);
    puts[i] = offload::put(part.data(), blocks_[i]->window(), part.size());
    if (puts[i].test()) start(i);
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!shares[i].valid()) start(i);
  }
  double product = 0.0;
  double slowest = 0.0;
  for (auto& pending : shares) {
    const product_share share = pending.get();
    product += share.direction_dot_product;
    slowest = std::max(slowest, share.seconds);
  }
  costs_.computing += slowest;
  return product;
}

residual_share distributed_system::advance(double step) {
  const auto begin = clock::now();
  std::vector<offload::future<residual_share>> shares;
  shares.reserve(blocks_.size());
  for (const auto& block : blocks_) {
    shares.push_back(offload::async(block->node(), ham::fn<&on_target::advance>, block->descriptor(), step));
  }
  const residual_share total = sum(std::move(shares));
  costs_.calling += std::max(0.0, seconds_since(begin) - total.seconds);
  costs_.calls += blocks_.size();
  return total;
}

void distributed_system::gather_preconditioned(std::span<double> z) const {
  std::vector<offload::future<void>> gets;
  for (const auto& block : blocks_) {
    const auto part = block->own_part(z);
    gets.push_back(offload::get(block->preconditioned(), part.data(), part.size()));
  }
  for (auto& get : gets) get.get();
}

void distributed_system::gather_solution(std::span<double> x) const {
  std::vector<offload::future<void>> gets;
  for (const auto& block : blocks_) {
    const auto part = block->own_part(x);
    gets.push_back(offload::get(block->solution(), part.data(), part.size()));
  }
  for (auto& get : gets) get.get();
}

std::vector<distributed_system::share> distributed_system::shares() const {
  std::vector<share> result;
  for (const auto& block : blocks_) result.push_back({block->node(), block->rows(), block->nonzeros()});
  return result;
}

residual_share distributed_system::sum(std::vector<offload::future<residual_share>> shares) {
  residual_share total;
  for (auto& pending : shares) {
    const residual_share share = pending.get();
    total.residual_dot_preconditioned += share.residual_dot_preconditioned;
    total.residual_dot_residual += share.residual_dot_residual;
    total.seconds = std::max(total.seconds, share.seconds);
  }
  costs_.computing += total.seconds;
  return total;
}

}  // namespace cg
