// expect: compiles
// The control: what the cases beside it do wrong, done right, with the same headers.
#include <ham/offload.hpp>

#include <string>
#include <vector>

static std::size_t total(const std::vector<std::string>& words) {
  std::size_t size = 0;
  for (const auto& word : words) {
    size += word.size();
  }
  return size;
}

int main() { return ham::offload::sync(1, f2f(&total, std::vector<std::string>{"ham"})) == 3 ? 0 : 1; }
