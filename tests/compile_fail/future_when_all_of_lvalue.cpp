// expect: no matching function for call to
// The futures are moved out of the range: it must be given away, when_all(std::move(list)).
#include <ham/offload.hpp>

#include <list>

int main() {
  std::list<ham::offload::future<int>> list;
  ham::offload::when_all(list).get();
}
