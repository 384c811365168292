// Puts one row block into the memory of its target.
#include "resident_block.hpp"

namespace cg {
namespace {

namespace offload = ham::offload;

/// Memory of a node with these elements in it.
template <class T>
offload::buffer<T> buffer_with(ham::node_t node, std::span<const T> elements) {
  offload::buffer<T> result(node, elements.size());
  offload::put_sync(elements.data(), result.ptr(), elements.size());
  return result;
}

std::span<const double> part_of(std::span<const double> all, row_range rows) {
  return all.subspan(static_cast<std::size_t>(rows.first), rows.size());
}

}  // namespace

distributed_system::resident_block::matrix_buffers::matrix_buffers(ham::node_t node, const csr_matrix& matrix)
    : row_start(buffer_with<std::uint64_t>(node, matrix.row_start)),
      column(buffer_with<std::int32_t>(node, matrix.column)),
      value(buffer_with<double>(node, matrix.value)) {}

distributed_system::resident_block::resident_block(ham::node_t node, const row_block& block,
                                                   std::span<const double> inverse_diagonal, std::span<const double> b)
    : rows_(block.rows),
      lower_(node, block.lower),
      outer_(node, block.outer),
      diagonal_(buffer_with<double>(node, block.diagonal)),
      inverse_diagonal_(buffer_with(node, part_of(inverse_diagonal, rows_))),
      b_(buffer_with(node, part_of(b, rows_))),
      x_(node, rows_.size()) {
  resident_memory memory;
  memory.rows = rows_.size();
  memory.halo = block.halo_size();
  memory.lower = lower_.pointers();
  memory.outer = outer_.pointers();
  memory.diagonal = diagonal_;
  memory.inverse_diagonal = inverse_diagonal_;
  memory.b = b_;
  memory.x = x_;
  worker_ = offload::make<worker>(node, memory);
}

offload::future<void> distributed_system::resident_block::copy_solution(std::span<double> to) const {
  return offload::get(x_.ptr(), to.data() + rows_.first, rows_.size());
}

}  // namespace cg
