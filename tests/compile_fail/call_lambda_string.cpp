// expect: or bind it: ham::bind([](const std::string& text)
// lines: 15
// The error of a lambda that captures a container says what to do instead, and where the lambda stands.
#include <ham/offload.hpp>

#include <vector>

int main() {
  const std::vector<double> values{1, 2};
  ham::offload::sync(
      1, [values](int index) { return values[index]; },  // named
      1);
}
