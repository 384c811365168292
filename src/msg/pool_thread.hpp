// Which pool the calling thread serves.
#pragma once

#include "ham/msg/thread_pool.hpp"

namespace ham::inline v1::msg {

/// nullptr on threads that are of no pool.
extern constinit thread_local thread_pool* pool_of_this_thread;

}  // namespace ham::msg
