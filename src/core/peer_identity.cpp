#include "core/peer_identity.hpp"

#include <utility>

#include "base/renew.hpp"
#include "core/node_loss.hpp"

namespace ham::inline v1::detail {

void peer_identity::introduce(info of, std::string address) {
  std::lock_guard guard(mutex_);
  info_ = std::move(of);
  address_ = std::move(address);
}

void peer_identity::set_device_type(const char* type) {
  std::lock_guard guard(mutex_);
  info_.device_type = type;
}

void peer_identity::set_device(offload::device_info device) {
  std::lock_guard guard(mutex_);
  info_.device = std::move(device);
}

peer_identity::info peer_identity::description() const {
  std::lock_guard guard(mutex_);
  return info_;
}

std::string peer_identity::address() const {
  std::lock_guard guard(mutex_);
  return address_;
}

std::string peer_identity::host() const {
  std::lock_guard guard(mutex_);
  return info_.name;
}

std::int64_t peer_identity::pid() const noexcept {
  std::lock_guard guard(mutex_);
  return info_.pid;
}

void peer_identity::set_loss(std::string why, bool orderly, std::string last_events) noexcept {
  std::lock_guard guard(mutex_);
  loss_ = std::move(why);
  last_events_ = std::move(last_events);
  orderly_ = orderly;
}

std::exception_ptr peer_identity::failure(node_failure::details of) const {
  std::string reason;
  std::string last_events;
  {
    std::lock_guard guard(mutex_);
    if (!info_.name.empty()) of.host = info_.name;
    if (info_.pid >= 0) of.pid = info_.pid;
    reason = loss_;
    last_events = last_events_;
    of.orderly = orderly_;
  }
  return make_node_failure(std::move(of), reason, last_events);
}

void peer_identity::detach_after_fork(std::string why) {
  base::renew(mutex_);
  loss_ = std::move(why);
}

}  // namespace ham::detail
