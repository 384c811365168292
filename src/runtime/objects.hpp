// The end of the objects that were made on a node for others.
#pragma once

namespace ham::detail {

class engine;

/// The last one made is destroyed first. Their destructors may use the runtime.
void destroy_objects_of(engine& at);

}  // namespace ham::detail
