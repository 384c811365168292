// expect: ham: named(), pooled() and with_policy() cannot be around one of several functions of a node
// Several functions are one message, which runs under one policy.
#include <ham/offload/senders.hpp>

int first();
int second(int);

int main() {
  auto work = ham::offload::schedule(1) | ham::offload::then(ham::pooled(ham::fn<&first>)) |
              ham::offload::then(ham::fn<&second>);
}
