// HAM_FIELDS: a struct that crosses field by field, also to nodes with another byte order.
// expect: centre of mass of 2 particles: 1 2 3
#include <ham/offload.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace ham;

// A trivially copyable struct needs no help, but then its bytes travel as they are, which is refused between nodes
// that lay out data differently. With the list it is converted, and members such as strings are welcome.
struct particle {
  std::string name;
  double mass = 0.0;
  double position[3] = {};

  HAM_FIELDS(name, mass, position)
};

particle centre(const std::vector<particle>& all) {
  particle result{"centre", 0.0, {}};
  for (const auto& p : all) {
    result.mass += p.mass;
    for (int i = 0; i < 3; ++i) result.position[i] += p.mass * p.position[i];
  }
  for (double& x : result.position) x /= result.mass;
  return result;
}

int main() {
  const std::vector<particle> pair{{"a", 1.0, {0, 0, 0}}, {"b", 1.0, {2, 4, 6}}};
  const particle result = offload::sync(1, fn<&centre>, pair);
  std::cout << result.name << " of mass of " << pair.size() << " particles: " << result.position[0] << ' '
            << result.position[1] << ' ' << result.position[2] << '\n';
}
