// expect: or bind it: ham::bind([](const std::string& text)
// The lambda within pooled() and named() is named, and what to do instead.
#include <ham/offload.hpp>

#include <vector>

int main() {
  const std::vector<double> values{1, 2};
  ham::offload::sync(1, ham::named<"first">(ham::pooled([values] { return values[0]; })));  // named
}
