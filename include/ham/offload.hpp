// HAM-Offload in one include: call functions and move data between the nodes of a job.
//
// Link ham::offload and main() runs on the host only, with the targets up. With ham::ham, or with HAM_EXPLICIT defined
// before this include, the start is explicit: ham::runtime or ham::offload::ham_init.
#pragma once

#include "ham/compat/net.hpp"
#include "ham/error.hpp"
#include "ham/error_info.hpp"
#include "ham/functor/buffer.hpp"
#include "ham/functor/function.hpp"
#include "ham/misc.hpp"
#include "ham/misc/constants.hpp"
#include "ham/msg/active_msg.hpp"
#include "ham/msg/bind.hpp"
#include "ham/msg/execution_policy.hpp"
#include "ham/msg/f2f.hpp"
#include "ham/offload/attempt.hpp"
#include "ham/offload/batch.hpp"
#include "ham/offload/block.hpp"
#include "ham/offload/buffer_ptr.hpp"
#include "ham/offload/buffer_span.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/context.hpp"
#include "ham/offload/destination.hpp"
#include "ham/offload/event.hpp"
#include "ham/offload/event_fd.hpp"
#include "ham/offload/exceptions.hpp"
#include "ham/offload/executor.hpp"
#include "ham/offload/future.hpp"
#include "ham/offload/matrix.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/node.hpp"
#include "ham/offload/on_output.hpp"
#include "ham/offload/pinned.hpp"
#include "ham/offload/progress.hpp"
#include "ham/offload/remote.hpp"
#include "ham/offload/retry.hpp"
#include "ham/offload/runtime.hpp"
#include "ham/offload/shared_future.hpp"
#include "ham/offload/span.hpp"
#include "ham/offload/stop.hpp"
#include "ham/offload/supervise.hpp"
#include "ham/offload/task.hpp"
#include "ham/offload/then_call.hpp"
#include "ham/offload/then_call_ranges.hpp"
#include "ham/offload/transfer.hpp"
#include "ham/offload/unobserved_error.hpp"
#include "ham/offload/when.hpp"
#include "ham/version.h"

namespace ham::inline v1 {
using offload::buffer;
using offload::buffer_matrix;
using offload::buffer_ptr;
using offload::buffer_span;
using offload::future;
using offload::matrix_span;
namespace Offload = offload;  // paper 3, Listing 2
}  // namespace ham

#ifdef HAM_EXPLICIT
/// Tells the implicit start, if it is linked in, that this program starts by itself.
extern "C" {
[[gnu::weak, gnu::used]] inline int ham_explicit_start = 1;
}
#endif
