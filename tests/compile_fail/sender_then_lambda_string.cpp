// expect: or bind it: ham::bind([](const std::string& text)
// A function that is to run on a node has to cross.
#include <ham/offload/senders.hpp>

#include <string>

int main() {
  const std::string text = "ham";
  auto work = ham::offload::schedule(1) | ham::offload::then([text] { return text.size(); });  // named
}
