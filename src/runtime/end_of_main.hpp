// A main that ends by pthread_exit.
#pragma once

namespace ham::inline v1::detail {

/// On the thread of main: if that one ends by pthread_exit, the process ends with status 0 when the last thread of the
/// application has ended, as it does without a runtime, whose threads would keep it. On other threads: nothing.
void exit_with_last_thread();

}  // namespace ham::detail
