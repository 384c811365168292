// Stopping calls: the caller's side of futures, and what a function in C learns of it.
#include "ham/offload/stop.hpp"

#include <algorithm>
#include <chrono>

#include "c_api/future.hpp"
#include "c_api/status.hpp"
#include "ham/ham.h"

bool ham_future::request_stop() noexcept {
  auto* const call = std::get_if<ham::offload::future<ham::c_api::bytes>>(&state);
  return call != nullptr && call->request_stop();
}

int ham_request_stop(ham_future* future) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(future, "the future");
    if (future->request_stop()) return static_cast<int>(HAM_OK);
    return ham::c_api::fail(HAM_NOT_YET, "it has ended, or is none that can be stopped");
  });
}

int ham_stop_requested(void) {
  int requested = 0;
  (void)ham::c_api::guarded([&] {
    requested = ham::this_call::stop_token().stop_requested() ? 1 : 0;
    return HAM_OK;
  });
  return requested;
}

int64_t ham_time_left(void) {
  using namespace std::chrono;
  const auto deadline = ham::this_call::deadline();
  if (deadline == steady_clock::time_point::max()) return -1;
  return std::max<std::int64_t>(0, ceil<milliseconds>(deadline - steady_clock::now()).count());
}
