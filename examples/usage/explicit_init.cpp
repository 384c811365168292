// ham_init, ham_finalise: the explicit start of older HAM-Offload programs.
// expect: the host got 42 and ends the targets
// link: ham::ham
#define HAM_EXPLICIT
#include <ham/offload.hpp>

#include <iostream>

int answer() { return 42; }

int main(int argc, char* argv[]) {
  // Every process executes main, as in an MPI program: what stands before ham_init runs everywhere.
  if (ham::offload::ham_init(&argc, &argv)) {
    // Only the host gets here; targets serve calls inside ham_init, which returns false to them in the end.
    std::cout << "the host got " << ham::offload::sync(1, f2f(&answer)) << " and ends the targets\n";
    ham::offload::ham_finalise();
  }
}
