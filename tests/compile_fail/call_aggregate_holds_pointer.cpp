// expect: ham: argument 1 cannot cross to another node: it has a member that cannot
// lines: 15
// A range alone is sent with a warning, as programs do; inside what was never sent before it is refused.
#include <ham/offload.hpp>

#include <string>
#include <vector>

struct range {
  const double* first;
  std::size_t count;
};
struct named_ranges {
  std::string name;
  std::vector<range> ranges;
};
double sum(const named_ranges&);

int main() { return ham::offload::sync(1, ham::fn<&sum>, named_ranges{}) > 0 ? 0 : 1; }
