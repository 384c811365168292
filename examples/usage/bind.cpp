// bind: a lambda with a string and a container of its own crosses to another node.
// expect: ^node 1: a, b, c$
// expect: ^node 1: 4 of 5 are above 2.5$
#include <ham/offload.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

using namespace ham;

int main() {
  const std::string separator = ", ";
  const std::vector<std::string> names{"a", "b", "c"};

  // [separator](const std::vector<std::string>& words) {...} would not compile: a std::string does not cross by its
  // bytes, and what a lambda captures cannot be seen from outside.
  const auto join = ham::bind(
      [](const std::string& between, const std::vector<std::string>& words) {
        std::string text;
        for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
        return text;
      },
      separator);
  std::cout << "node 1: " << offload::sync(1, join, names) << '\n';

  const std::vector<double> samples{1.5, 2.75, 3, 9, 4};
  const auto above = ham::bind(
      [](const std::vector<double>& of, double limit) {
        return std::count_if(of.begin(), of.end(), [limit](double value) { return value > limit; });
      },
      samples);
  std::cout << "node 1: " << offload::sync(1, above, 2.5) << " of " << samples.size() << " are above 2.5\n";
}
