// expect: or bind it: ham::bind([](const std::string& text)
// What the bound lambda captures itself has to cross by its bytes.
#include <ham/offload.hpp>

#include <string>

int main() {
  const std::string text = "ham";
  const auto add = [text](int more) { return text.size() + more; };  // named
  ham::offload::sync(1, ham::bind(add, 1));
}
