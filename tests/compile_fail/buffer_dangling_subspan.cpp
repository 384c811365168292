// expect: deleted
// As with a pointer to it.
#include <ham/offload.hpp>

int main() {
  const auto part = ham::buffer<int>(1, 4).subspan(1);
  return part.empty() ? 1 : 0;
}
