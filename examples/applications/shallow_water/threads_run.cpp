// Neighbours copy each other's outer rows between two barriers.
#include "shallow_water/threads_run.hpp"

#include <algorithm>
#include <chrono>

namespace shallow_water {
namespace {

void copy_row(block& from, std::size_t number, block& to) {
  std::ranges::copy(from.next_row(number), to.next_row(number).begin());
}

}  // namespace

threads_run::threads_run(const domain& of, const std::vector<int>& cores)
    : of_(of), team_(cores), parts_(cores.size()), all_(static_cast<std::ptrdiff_t>(cores.size())) {
  team_.run([this](std::size_t i) {
    const auto [first, last] = part_of(of_, i, parts_.size());
    parts_[i] = std::make_unique<block>(of_, first, last);
  });
}

double threads_run::advance(const std::vector<double>& from, std::uint64_t steps) {
  team_.run([&](std::size_t i) { parts_[i]->load(from); });
  const auto start = std::chrono::steady_clock::now();
  team_.run([&](std::size_t i) {
    for (std::uint64_t count = 0; count < steps; ++count) step(i);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void threads_run::step(std::size_t i) {
  block& here = *parts_[i];
  here.reflect();
  here.advance(here.first(), here.last());
  all_.arrive_and_wait();
  if (i > 0) copy_row(*parts_[i - 1], here.first() - 1, here);
  if (i + 1 < parts_.size()) copy_row(*parts_[i + 1], here.last(), here);
  all_.arrive_and_wait();
  here.swap();
}

std::vector<double> threads_run::state() const {
  std::vector<double> all;
  all.reserve(of_.size());
  for (const auto& one : parts_) all.insert(all.end(), one->own_rows().begin(), one->own_rows().end());
  return all;
}

}  // namespace shallow_water
