// with_policy: an execution policy of the user's own, here one that counts and times what it runs.
// expect: the policy saw 3 calls
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

int seen = 0;  // on the target

// A policy is a class template with one static function that is given the received message.
template <class Message>
struct counting_policy {
  static void handler(void* buffer) {
    ++seen;
    msg::execution_policy_direct<Message>::handler(buffer);
  }
};

int twice(int x) { return 2 * x; }
int calls_seen() { return seen; }

int main() {
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += offload::sync(1, with_policy<counting_policy>(fn<&twice>), i);
  if (sum != 6) return 1;
  std::cout << "the policy saw " << offload::sync(1, fn<&calls_seen>) << " calls\n";
}
