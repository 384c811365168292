// Puts one row block into the memory of its target.
#include "resident_block.hpp"

#include <exception>

namespace cg {
namespace {

namespace offload = ham::offload;

}  // namespace

distributed_system::resident_block::resident_block(ham::node_t node, const row_block& block,
                                                   std::span<const double> inverse_diagonal, std::span<const double> b)
    : rows_(block.rows),
      row_start_(node, block.matrix.row_start.size()),
      column_(node, block.matrix.column.size()),
      value_(node, block.matrix.value.size()),
      inverse_diagonal_(node, block.rows.size()),
      b_(node, block.rows.size()),
      x_(node, block.rows.size()),
      r_(node, block.rows.size()),
      p_(node, block.rows.size() + block.halo_size()),
      q_(node, block.rows.size()) {
  const auto first = static_cast<std::size_t>(rows_.first);
  std::vector<offload::future<void>> puts;
  puts.push_back(offload::put(block.matrix.row_start.data(), row_start_.ptr(), row_start_.size()));
  puts.push_back(offload::put(block.matrix.column.data(), column_.ptr(), column_.size()));
  puts.push_back(offload::put(block.matrix.value.data(), value_.ptr(), value_.size()));
  puts.push_back(offload::put(inverse_diagonal.data() + first, inverse_diagonal_.ptr(), rows_.size()));
  puts.push_back(offload::put(b.data() + first, b_.ptr(), rows_.size()));
  for (auto& put : puts) put.get();

  resident_memory memory;
  memory.rows = rows_.size();
  memory.halo = block.halo_size();
  memory.row_start = row_start_;
  memory.column = column_;
  memory.value = value_;
  memory.inverse_diagonal = inverse_diagonal_;
  memory.b = b_;
  memory.x = x_;
  memory.r = r_;
  memory.p = p_;
  memory.q = q_;
  worker_ = offload::sync(node, ham::fn<&on_target::make_worker>, memory);
}

distributed_system::resident_block::~resident_block() {
  try {
    offload::sync(node(), ham::fn<&on_target::drop_worker>, worker_);
  } catch (const std::exception&) {
    // The target is gone, and the worker with it.
  }
}

offload::future<void> distributed_system::resident_block::copy_solution(std::span<double> to) const {
  return offload::get(x_.ptr(), to.data() + rows_.first, rows_.size());
}

}  // namespace cg
