// expect: ham: argument 1 cannot cross to another node: it is a raw pointer
// What is bound crosses as an argument does: no pointers.
#include <ham/offload.hpp>

int main() {
  int value = 1;
  ham::offload::sync(1, ham::bind([](const int* at) { return *at; }, &value));
}
