// Reverse offload: the function on the target calls back to the host, while the host waits for it.
// expect: node 1 asked the host for 3 prices and paid 6
// expect: a chain of calls 8 deep came back
#include <ham/offload.hpp>

#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace ham;

std::map<std::string, int> prices;  // filled on the host only

int price_of(const std::string& item) { return prices.at(item); }

// Runs on the target. For each item it calls the host, node 0, which serves the call inside its own sync().
int total_price(const std::vector<std::string>& items) {
  int total = 0;
  for (const auto& item : items) total += offload::sync(0, fn<&price_of>, item);
  return total;
}

// Calls may nest further: host, target, host, target, ...
int there_and_back(int depth) {
  if (depth == 0) return 0;
  const node_t other = offload::is_host() ? 1 : 0;
  return 1 + offload::sync(other, fn<&there_and_back>, depth - 1);
}

int main() {
  prices = {{"bread", 3}, {"milk", 2}, {"salt", 1}};
  const std::vector<std::string> items{"bread", "milk", "salt"};
  const int total = offload::sync(1, fn<&total_price>, items);
  std::cout << "node 1 asked the host for " << items.size() << " prices and paid " << total << '\n';
  std::cout << "a chain of calls " << there_and_back(8) << " deep came back\n";
}
