// The part of ham-bench for a helper of libveo, which loads it as a library (paper 1, Fig. 4): what ham-bench calls
// there.
#include <ham/offload.hpp>

namespace ham::inline v1::bench {

void nothing();
void nothing() {}

/// Never called: what it calls is what the library can execute.
void call_everything();
void call_everything() { offload::sync(1, fn<&nothing>); }

}  // namespace ham::bench
