// The outer rows first: they are in transit while the others are computed.
#include "shallow_water/worker.hpp"

#include <algorithm>
#include <csignal>

namespace shallow_water {

worker::worker(std::uint64_t columns, std::uint64_t rows, std::uint64_t first, std::uint64_t last,
               ham::offload::buffer_ptr<double> memory)
    : of_{columns, rows}, part_(of_, first, last), memory_(memory) {}

void worker::load() {
  const double* from = memory_.get();
  const std::size_t begin = part_.first() == 0 ? 0 : part_.first() - 1;
  for (std::size_t number = begin; number < std::min<std::size_t>(part_.last() + 1, of_.rows); ++number) {
    std::copy_n(from, of_.row(), part_.row(number).begin());
    from += of_.row();
  }
}

void worker::store() { std::ranges::copy(part_.own_rows(), memory_.get() + own_rows_at(of_, part_.first())); }

ham::offload::task<void> worker::advancing(std::uint64_t steps, std::uint64_t kill_after) {
  using app::side;
  const std::size_t first = part_.first();
  const std::size_t last = part_.last();
  for (std::uint64_t i = 0; i < steps; ++i) {
    if (i == kill_after) std::raise(SIGKILL);
    ++step_;
    part_.reflect();
    part_.advance(first, first + 1);
    send(side::below, step_, part_.next_row(first));
    if (last - first > 1) part_.advance(last - 1, last);
    send(side::above, step_, part_.next_row(last - 1));
    if (last - first > 2) part_.advance(first + 1, last - 1);
    co_await halos(step_);
    if (has_neighbour(side::below)) std::ranges::copy(halo(side::below, step_), part_.next_row(first - 1).begin());
    if (has_neighbour(side::above)) std::ranges::copy(halo(side::above, step_), part_.next_row(last).begin());
    part_.swap();
  }
}

}  // namespace shallow_water
