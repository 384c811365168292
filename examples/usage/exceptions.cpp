// Exceptions: what a function throws on the target is thrown by get() or sync() on the caller.
// expect: standard exception: no item 12
// expect: user exception: type too_hot, message '99 degrees', from node 1
// expect: the target works on: 3
#include <ham/offload.hpp>

#include <iostream>
#include <stdexcept>
#include <string>

using namespace ham;

int item(int index) {
  if (index > 9) throw std::out_of_range("no item " + std::to_string(index));
  return index;
}

class too_hot : public std::runtime_error {
 public:
  explicit too_hot(int degrees) : std::runtime_error(std::to_string(degrees) + " degrees") {}
};

void heat(int degrees) { throw too_hot(degrees); }

int main() {
  // Standard exception types arrive as themselves.
  try {
    offload::sync(1, fn<&item>, 12);
    return 1;
  } catch (const std::out_of_range& error) {
    std::cout << "standard exception: " << error.what() << '\n';
  }

  // Others arrive as remote_error, which knows the original type, its message and where it was thrown.
  auto pending = offload::async(1, fn<&heat>, 99);
  try {
    pending.get();
    return 1;
  } catch (const remote_error& error) {
    std::cout << "user exception: type " << error.type() << ", message '" << error.message() << "', from node "
              << error.node() << '\n';
  }

  std::cout << "the target works on: " << offload::sync(1, fn<&item>, 3) << '\n';
}
