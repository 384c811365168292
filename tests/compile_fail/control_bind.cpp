// expect: compiles
// What a lambda may not capture is bound to it; lambdas with captures that cross by their bytes are bound, and are
// values.
#include <ham/offload.hpp>

#include <string>
#include <vector>

int main() {
  const std::string text = "ham";
  const std::vector<int> numbers{1, 2};
  const int base = 1;
  const auto add = [base](int more) { return base + more; };
  ham::offload::sync(
      1, ham::bind([](const std::string& of, const std::vector<int>& more) { return of.size() + more.size(); }, text,
                   numbers));
  ham::offload::sync(1, ham::bind(add, 1));
  ham::offload::sync(1, ham::bind([](const auto& first, int value) { return first(value); }, add), 1);
}
