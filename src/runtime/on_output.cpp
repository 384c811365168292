// The program's handler of what a target prints.
#include <utility>

#include "ham/offload/on_output.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload {

void on_output(node_number node, output_handler handler) {
  ham::detail::job* const ours = ham::detail::current().owner;
  if (ours == nullptr)
    throw config_error("the nodes of this job are threads of this process: what they print is its own output");
  ours->on_output(node, std::move(handler));
}

}  // namespace ham::offload
