// expect: ham: this verb takes no stop token
// lines: 15
// A stop token for what gives memory back.
#include <ham/offload.hpp>

int main() {
  const std::stop_source source;
  ham::offload::free(ham::offload::stoppable(1, source.get_token()), ham::offload::allocate<int>(1, 1));
}
