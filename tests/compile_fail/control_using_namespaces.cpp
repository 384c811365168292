// expect: compiles
// Programs of the published HAM-Offload with using directives for everything: what they say means one thing only.
#include <ham/offload.hpp>

#include <cstddef>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <string>
#include <vector>

using namespace std;
using namespace std::placeholders;
using namespace ham;
using namespace ham::offload;

double dot_of(buffer_ptr<double> left, buffer_ptr<double> right, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += left[i] * right[i];
  return sum;
}
int increment(int number) { return number + 1; }

int main() {
  for (node_t node = 1; static_cast<size_t>(node) < num_nodes(); ++node) {
    vector<double> values(10, 1.0);
    buffer_ptr<double> there = allocate<double>(node, values.size());
    put(values.data(), there, values.size());
    list<offload::future<double>> results;
    results.emplace_back(async(node, f2f(&dot_of, there, there, values.size())));
    for (auto& result : results) cout << result.get() << '\n';
    copy_sync(there, there + 5, 5);
    get_sync(there, values.data(), values.size());
    get(there, values.data(), values.size()).get();
    cout << sync(node, f2f(&increment, 1)) << get_node_descriptor(node).name() << is_host(node) << this_node() << '\n';
    ping(node, f2f(&increment, 1));
    free(there);
  }
  const string text = to_string(increment(1));
  auto later = async(launch::async, increment, 1);
  const auto plus = [](int left, int right) { return left + right; };
  return bind(increment, _1)(1) + bind(plus, _1, 2)(3) + later.get();
}
