// put, get, allocate, free: memory on a target, filled and read from the host.
// expect: 1 2 3 4 became 10 20 30 40
#include <ham/offload.hpp>

#include <array>
#include <iostream>

using namespace ham;

// Runs on the node that owns the memory: there, data[i] is a plain load or store.
void scale(offload::buffer_ptr<double> data, std::size_t size, double factor) {
  for (std::size_t i = 0; i < size; ++i) data[i] *= factor;
}

int main() {
  const node_t target = 1;
  std::array<double, 4> numbers{1, 2, 3, 4};
  std::array<double, 4> results{};

  auto on_target = offload::allocate<double>(target, numbers.size());

  // put returns a future. Kept, it is asynchronous: `numbers` must not change before it is done.
  auto transfer = offload::put(numbers.data(), on_target, numbers.size());
  transfer.get();

  offload::sync(target, fn<&scale>, on_target, numbers.size(), 10.0);

  // Discarded, the transfer is complete when the statement ends. get_sync says the same more loudly.
  offload::get(on_target, results.data(), results.size());
  offload::free(on_target);

  for (const double x : numbers) std::cout << x << ' ';
  std::cout << "became";
  for (const double x : results) std::cout << ' ' << x;
  std::cout << '\n';
}
