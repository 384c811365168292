// What a target does: the steps of its rows, together with its neighbours.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>

#include "common/halo_port.hpp"
#include "shallow_water/flow.hpp"

namespace shallow_water {

class worker : public app::halo_port<double> {
 public:
  /// Rows [first, last), at least one. `rows` is memory of this node with rows [first - 1, last + 1), as far as there
  /// are such: the host puts the state there, and gets it.
  worker(std::uint64_t columns, std::uint64_t rows, std::uint64_t first, std::uint64_t last,
         ham::offload::buffer_ptr<double> memory);

  /// Takes the state that the host has put.
  void load();
  /// Waits for messages of the neighbours, which advance at the same time. To try what happens when a target dies, the
  /// process kills itself after `kill_after` of these steps, if that is less than `steps`.
  void advance(std::uint64_t steps, std::uint64_t kill_after) { advancing(steps, kill_after).get(); }
  /// Leaves its rows where the host gets them.
  void store();

 private:
  ham::offload::task<void> advancing(std::uint64_t steps, std::uint64_t kill_after);

  domain of_;
  block part_;
  ham::offload::buffer_ptr<double> memory_;
  std::uint64_t step_ = 0;
};

/// Where rows [first, last) begin in a worker's memory, and how long that is.
[[nodiscard]] inline std::size_t own_rows_at(const domain& of, std::size_t first) { return first == 0 ? 0 : of.row(); }
[[nodiscard]] inline std::size_t memory_of(const domain& of, std::size_t first, std::size_t last) {
  return (last - first + (first > 0 ? 1 : 0) + (last < of.rows ? 1 : 0)) * of.row();
}

}  // namespace shallow_water
