// Progress by hand.
#include "ham/offload/progress.hpp"

#include "runtime/engine.hpp"

namespace ham::inline v1::offload {

bool progress() { return ham::detail::current().poll_once(); }

void detail::make_progress_until(std::int64_t until_ns) { ham::detail::current().progress_until(until_ns); }

}  // namespace ham::offload
