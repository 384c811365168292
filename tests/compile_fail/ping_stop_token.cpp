// expect: ham: this verb takes no stop token
// lines: 15
// A stop token for a call without a future, which it could not stop.
#include <ham/offload.hpp>

void work();

int main() {
  const std::stop_source source;
  ham::offload::ping(ham::offload::stoppable(1, source.get_token()), ham::fn<&work>);
}
