// A descriptor for programs that wait in an event loop of their own: epoll, libuv, asio.
//
//   epoll_ctl(loop, EPOLL_CTL_ADD, offload::event_fd(), ...);       // EPOLLIN
//   offload::async(1, fn<&f>).on_result([](offload::future<int> r) { show(r.get()); });
//   for (;;) { epoll_wait(loop, ...); if (it is event_fd()) offload::serve_event_fd(); ... }
#pragma once

namespace ham::inline v1::offload {

/// A descriptor that is readable when serve_event_fd() has something to do: a result or a call has arrived, another
/// thread has settled a future, a deadline is due. Readable at first. It is the runtime's: watch it for reading, by
/// level or by edge, and neither read nor close it; it closes when the runtime ends. Always the same one of a runtime.
/// Only one loop can use it, because serve_event_fd() takes the news back. Any thread. A runtime whose event_fd() is
/// never called pays nothing for it.
/// Throws ham::config_error if no runtime is up, or there are no descriptors left.
[[nodiscard]] int event_fd();

/// For the loop, when event_fd() is readable: executes calls that have arrived, settles futures, runs what then(),
/// on_ready() and on_result() have been given, and announces to the other nodes that this one sleeps. Does not block.
///
/// Nothing is lost: what has settled when this returns shows in ready futures now, and its continuations have begun;
/// everything later makes event_fd() readable again. It stays readable, too, if more is there than one turn handles,
/// and becomes readable without news now and then: at least each 200 ms, and after this thread has made progress by
/// other functions (sync, get, progress). Those may be called meanwhile, by this thread and by others; while other
/// threads make progress, what arrives is handled there, and what they leave is handled here 1 ms later at most.
/// Gives true if there was something. Throws as event_fd().
bool serve_event_fd();

}  // namespace ham::offload
