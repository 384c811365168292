// The thread of a node that receives also takes the replies of its device: what it has sent is still in its cache, and
// no other thread has to be told. While it executes or sleeps, the thread of device_calls takes them.
#pragma once

#include <atomic>
#include <cstdint>

namespace ham::inline v1::detail {

class engine;

/// Calls that the devices of this process have in their queues.
inline constinit std::atomic<std::uint32_t> calls_on_devices{0};

/// Takes replies of the device of that node, if it has one that has calls. True: there was one. Without locks of the
/// engine; any thread. Not inlined: nodes without a device shall not pay for it where they wait for answers.
[[gnu::noinline, gnu::cold]] bool poll_device(const engine& at);
/// The node goes to sleep: nobody calls poll_device until it wakes up.
[[gnu::noinline, gnu::cold]] void leave_device_alone(const engine& at);

}  // namespace ham::detail
