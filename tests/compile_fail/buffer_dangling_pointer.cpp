// expect: deleted
// The buffer would free its memory at the end of the statement.
#include <ham/offload.hpp>

int main() {
  ham::buffer_ptr<int> pointer = ham::buffer<int>(1, 4);
  return pointer ? 0 : 1;
}
