// expect: ham: this callable (an object with captures or members) cannot cross to another node
// lines: 15
// A lambda crosses as its bytes: what owns memory is passed as an argument.
#include <ham/offload.hpp>

#include <string>

int main() {
  const std::string text = "ham";
  ham::offload::sync(1, [text] { return text.size(); });
}
