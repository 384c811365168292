// Epoll and event descriptors, as threads that wait for several things use them.
#pragma once

#include <cstdint>

#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// All throw ham::config_error. The timer is of the clock of base::now_ns().
[[nodiscard]] base::unique_fd make_epoll();
[[nodiscard]] base::unique_fd make_event();
[[nodiscard]] base::unique_fd make_timer();
/// Throws ham::config_error if a filter of system calls lets nobody use it, nor poll.
void expect_epoll_calls(const unique_fd& epoll);

/// Makes `event` readable, and unreadable again.
void signal_event(int event) noexcept;
void drain_event(int event) noexcept;

/// Adds `fd` to `epoll`, with `tag` as what its events bring.
void watch(int epoll, int fd, std::uint32_t events, void* tag) noexcept;
void change_watch(int epoll, int fd, std::uint32_t events, void* tag) noexcept;
void unwatch(int epoll, int fd) noexcept;

/// How long epoll_wait or poll may sleep until `time_ns` of base::now_ns(); -1: without end.
[[nodiscard]] int milliseconds_until(std::int64_t time_ns) noexcept;

}  // namespace ham::base
