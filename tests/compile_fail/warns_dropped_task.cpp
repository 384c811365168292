// expect: warnings declared with
// A task that is dropped is waited for where it is made: seldom what is meant. So are futures of continuations.
#include <ham/offload.hpp>

namespace offload = ham::offload;

int f(int x) { return x; }
offload::task<int> solve() { co_return co_await offload::async(1, ham::fn<&f>, 1); }

int main() {
  solve();                                                                  // warns
  offload::async(1, ham::fn<&f>, 1).then([](int value) { return value; });  // warns
  auto kept = solve();
  offload::async(1, ham::fn<&f>, 1).on_result([](offload::future<int>) {});
  return kept.get();
}
