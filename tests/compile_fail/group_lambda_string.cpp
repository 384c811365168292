// expect: or bind it: ham::bind([](const std::string& text)
// The same for all nodes of a group.
#include <ham/offload/group.hpp>

#include <string>

int main() {
  const std::string text = "ham";
  const ham::offload::group all;
  ham::offload::async_all(all, [text] { return text.size(); }).get();  // named
}
