// future::then: work to be done when a result arrives, as a new future.
// expect: the answer is 42
#include <ham/offload.hpp>

#include <iostream>
#include <string>

using namespace ham;

int half_of_the_answer() { return 21; }

int main() {
  // Continuations run in the thread that makes progress, here inside get(); they should be short.
  offload::future<std::string> text =
      offload::async(1, fn<&half_of_the_answer>).then([](int half) { return 2 * half; }).then([](int whole) {
        return "the answer is " + std::to_string(whole);
      });
  std::cout << text.get() << '\n';
}
