// The outer planes first: they are in transit while the others are computed.
#include "himeno/worker.hpp"

#include <algorithm>

namespace himeno {

worker::worker(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::uint64_t first, std::uint64_t last)
    : part_({i, j, k}, first, last) {}

ham::offload::task<std::vector<double>> worker::iterating(std::uint64_t iterations) {
  using app::side;
  const std::size_t first = part_.first();
  const std::size_t last = part_.last();
  std::vector<double> residuals(last - first);
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    ++step_;
    part_.sweep(first, first + 1, residuals.data());
    send(side::below, step_, part_.next_plane(first));
    if (last - first > 1) part_.sweep(last - 1, last, &residuals.back());
    send(side::above, step_, part_.next_plane(last - 1));
    if (last - first > 2) part_.sweep(first + 1, last - 1, &residuals[1]);
    co_await halos(step_);
    if (has_neighbour(side::below)) std::ranges::copy(halo(side::below, step_), part_.next_plane(first - 1).begin());
    if (has_neighbour(side::above)) std::ranges::copy(halo(side::above, step_), part_.next_plane(last).begin());
    part_.swap();
  }
  co_return residuals;
}

}  // namespace himeno
