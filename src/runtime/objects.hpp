// The end of the objects that were made on a node for others.
#pragma once

namespace ham::inline v1::detail {

class engine;

/// The last one made is destroyed first. Their destructors may use the runtime. From then on the node refuses to keep
/// objects.
void destroy_objects_of(engine& at);
/// In a child of fork(): the objects are the parent's, and whatever thread had a lock is not here.
void forget_objects_after_fork() noexcept;

}  // namespace ham::detail
