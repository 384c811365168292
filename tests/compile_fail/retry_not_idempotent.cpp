// expect: repeats calls that may have run already: say that this is right by idempotent
// A call that may be repeated, of a function of which nobody has said that it may run twice.
#include <ham/offload.hpp>

int solve(int);

int main() { return ham::offload::sync(ham::offload::retry(1, 3), ham::fn<&solve>, 1); }
