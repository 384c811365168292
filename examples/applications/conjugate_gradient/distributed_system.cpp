// The host's part of the iteration: asynchronous calls to all targets, each with a few scalars.
#include "distributed_system.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "resident_block.hpp"
#include "row_block.hpp"

namespace cg {
namespace {

namespace offload = ham::offload;

constexpr std::chrono::seconds give_up_after{2};

/// Calls all workers at once: their results. A target that has lost another one waits for it for ever: so the first
/// failure, also of a call that cannot be made, is thrown at once, and the other futures let go, since their
/// destructors would wait.
template <class Blocks, class Start>
auto call_all(const Blocks& blocks, Start start) {
  using namespace std::chrono_literals;
  using future = decltype(start(*blocks.front()));
  std::vector<future> pending;
  std::vector<decltype(std::declval<future&>().get())> results(blocks.size());
  try {
    for (const auto& block : blocks) pending.push_back(start(*block));
    for (std::size_t i = 0; i < pending.size(); ++i) {
      while (pending[i].valid() && !pending[i].wait_for(50ms)) {
        for (std::size_t j = i + 1; j < pending.size(); ++j) {
          if (pending[j].test()) results[j] = pending[j].get();
        }
      }
      if (pending[i].valid()) results[i] = pending[i].get();
    }
  } catch (...) {
    for (auto& one : pending) one.detach();
    throw;
  }
  return results;
}

}  // namespace

distributed_system::distributed_system(const csr_matrix& matrix, std::span<const double> inverse_diagonal,
                                       std::span<const double> b, std::size_t targets) {
  if (targets == 0) {
    throw std::runtime_error(
        "no targets (this process is the only node); unset HAM_NODES or set it to shm:2, for example");
  }
  const std::vector<row_range> ranges = partition_by_nonzeros(matrix, targets);
  const auto halos = find_halos(matrix, ranges);
  std::vector<introduction> introductions(ranges.size());
  std::vector<worker_ref> workers;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const row_block block = make_block(matrix, ranges[i], halos[i]);
    const auto node = static_cast<ham::node_t>(i + 1);
    blocks_.push_back(std::make_unique<resident_block>(node, block, inverse_diagonal, b));
    workers.push_back(blocks_.back()->remote_worker());
    shares_.push_back(
        {node, ranges[i], matrix.row_start[ranges[i].last] - matrix.row_start[ranges[i].first], block.halo_size()});
    introductions[i].index = i;
    introductions[i].boundary = block.boundary;
    for (halo_message& message : find_messages(ranges, halos, i)) {
      ++introductions[message.to].senders;
      introductions[i].halo_targets.push_back({message.to, std::move(message.rows), message.offset});
    }
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    introductions[i].workers = workers;
    workers[i].call<&worker::introduce>(introductions[i]);
  }
}

/// Whoever still waits for another worker is stopped before the first one goes.
distributed_system::~distributed_system() {
  for (const auto& block : blocks_) {
    try {
      const worker_ref to = block->remote_worker();
      offload::sync(offload::within(to.node(), give_up_after), ham::fn<&worker::stop>, to);
    } catch (const std::exception&) {
      // The target is gone, and the worker with it.
    }
  }
}

double distributed_system::restart(start_at x) {
  return call_all(blocks_, [x](const resident_block& one) { return one.remote_worker().async<&worker::restart>(x); })
      .front();
}

iteration_report distributed_system::iterate(std::int64_t most, double goal) {
  std::vector<iteration_report> reports = call_all(
      blocks_, [&](const resident_block& one) { return one.remote_worker().async<&worker::iterate>(most, goal); });
  double waiting = 0.0;
  for (const iteration_report& one : reports) waiting += one.waiting;
  reports.front().waiting = waiting / static_cast<double>(reports.size());
  return std::move(reports.front());
}

void distributed_system::copy_solution(std::span<double> to) {
  std::vector<offload::future<void>> gets;
  for (const auto& block : blocks_) gets.push_back(block->copy_solution(to));
  for (auto& get : gets) get.get();
}

}  // namespace cg
