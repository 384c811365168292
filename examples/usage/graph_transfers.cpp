// Graph with transfers: a replay copies between targets and brings data back; try_start does not wait for room.
// expect: ^divided: 0 1 2 1 0$
// expect: ^room for a replay: yes$
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <array>
#include <cstddef>
#include <iostream>
#include <optional>

using namespace ham;

void divide(offload::buffer_ptr<double> values, std::size_t count, double by) {
  for (std::size_t i = 1; i + 1 < count; ++i) values[i] /= by;
}

int main() {
  std::array<double, 5> here{0, 2, 4, 2, 0}, back{};
  offload::buffer<double> first(1, here.size()), second(2, here.size());

  offload::graph g;
  auto by = g.input<double>();
  auto sent = g.put(here, first);
  auto divided = g.call(1, fn<&divide>, first.ptr(), here.size(), by).after(sent);
  auto copied = g.copy(first.ptr(), second.ptr(), here.size()).after(divided);  // from target to target
  auto step = g.compile(g.get(second, back).after(copied), {.in_flight = 1});   // what it names outlives `step`

  step(2.0).get();
  std::cout << "divided:";
  for (const double one : back) std::cout << ' ' << one;
  std::cout << '\n';

  // Gives nothing while as many replays are in flight as `in_flight` says, where step(...) would wait.
  std::optional<offload::future<void>> next = step.try_start(4.0);
  std::cout << "room for a replay: " << (next ? "yes" : "no") << '\n';
  if (next) next->get();
}
