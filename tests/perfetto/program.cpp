// Makes calls of all kinds; perfetto_test.py reads the trace.
#include <ham/offload.hpp>
#include <ham/offload/trace.hpp>

#include <vector>

using namespace ham;

int add(int one, int other) { return one + other; }
int relay(node_t to, int value) { return offload::sync(to, fn<&add>, value, 1); }
void note(int) {}

int main() {
  const trace::span all("all calls");
  std::vector<future<int>> results;
  for (int i = 0; i < 300; ++i) results.push_back(offload::async(1 + i % 2, fn<&add>, i, 1));
  int sum = 0;
  for (auto& one : results) sum += one.get();
  for (int i = 0; i < 100; ++i) sum += offload::sync(1, fn<&relay>, 2, i);
  for (int i = 0; i < 10; ++i) offload::ping(2, fn<&note>, i);
  offload::batch batch(1);
  auto one = batch.add(fn<&add>, 1, 2);
  batch.submit();
  sum += one.get() + offload::sync(1, pooled(fn<&add>), 1, 2);
  offload::buffer<int> there(1, 100'000);
  const std::vector<int> here(100'000, 3);
  offload::put_sync(here.data(), there.ptr(), here.size());
  trace::counter("sum", sum);
  return sum > 0 ? 0 : 1;
}
