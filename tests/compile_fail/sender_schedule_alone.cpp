// expect: ham: schedule(node) does nothing by itself
// Of what is connected to schedule(), nothing would run on the node.
#include <ham/offload/senders.hpp>

int main() { return static_cast<int>(ham::offload::sync_wait(ham::offload::schedule(1)).has_value()); }
