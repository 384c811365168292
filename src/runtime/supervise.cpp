// Supervised nodes, as programs ask for them.
#include "ham/offload/supervise.hpp"

#include <utility>

#include "runtime/engine.hpp"

namespace ham::inline v0::offload {

void supervise(node_number node, supervision how) {
  ham::detail::job* const ours = ham::detail::current().owner;
  if (ours == nullptr)
    throw config_error("the nodes of this job cannot be supervised (they are threads of one process, and end with it)");
  ours->supervise(node, std::move(how));
}

node_t process_of(node_number node) { return ham::detail::current().numbers.of(node).process; }
node_t number_of(node_number process) { return ham::detail::current().numbers.number_of(process); }

}  // namespace ham::offload
