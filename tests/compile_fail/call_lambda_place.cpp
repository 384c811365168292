// expect: call_lambda_place.cpp:10:
// The error of a lambda that cannot cross leads to the line of the lambda, not only to that of the call.
#include <ham/offload.hpp>

#include <string>

int main() {
  const std::string text = "ham";
  // Its place:
  auto length = [text](int more) { return static_cast<int>(text.size()) + more; };

  return ham::offload::sync(1, length, 1);
}
