// expect: ham: the function of this then() does not take what the function before it returns
// The second function of a node is called there with what the first one returns.
#include <ham/offload/senders.hpp>

#include <string>

int first();

int main() {
  auto work = ham::offload::schedule(1) | ham::offload::then(ham::fn<&first>) |
              ham::offload::then([](const std::string& text) { return text.size(); });
}
