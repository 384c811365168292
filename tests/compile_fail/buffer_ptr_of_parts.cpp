// expect: private
// The tag of an allocation is not to be made up: a buffer_ptr is copied, or sent to other nodes.
#include <ham/offload.hpp>

int main() { return ham::offload::buffer_ptr<int>(std::uint64_t{4096}, std::uint64_t{7}, ham::node_t{1}) ? 1 : 0; }
