// expect: ham: argument 2 cannot cross to another node: it has a member that cannot
// lines: 15
// The object that the view refers to stays behind.
#include <ham/offload.hpp>

#include <string>
#include <string_view>

struct word {
  std::string language;
  std::string_view letters;
};
int count(int, const word&);

int main() { return ham::offload::sync(1, ham::fn<&count>, 1, word{"en", "ham"}); }
