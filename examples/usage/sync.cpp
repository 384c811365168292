// sync: calls a function on a target and waits for its result.
// expect: 6 times 7 is 42
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

int multiply(int a, int b) { return a * b; }

int main() {
  const node_t target = 1;

  // fn<&multiply> turns the function into a type; the arguments travel in the message.
  const int result = offload::sync(target, fn<&multiply>, 6, 7);

  // The same in the spelling of the papers, function and arguments bound together by a macro ...
  const int by_macro = offload::sync(target, f2f(&multiply, 6, 7));
  // ... and without the macro.
  const int by_template = offload::sync(target, ham::f2f<&multiply>(6, 7));

  if (by_macro != result || by_template != result) return 1;
  std::cout << "6 times 7 is " << result << '\n';
}
