// What is known of a node for people and for its job: what it has told of itself, and why it was lost.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#include "ham/error.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

/// All members may be called from any thread, unless said otherwise.
class peer_identity {
 public:
  using info = offload::node_descriptor::info;

  /// By its greeting. `address`: where others can connect to it; empty: nowhere.
  void introduce(info of, std::string address);
  void set_device_type(const char* type);
  void set_device(offload::device_info device);
  [[nodiscard]] info description() const;
  [[nodiscard]] std::string address() const;
  /// The name of its machine; empty: it has told nothing.
  [[nodiscard]] std::string host() const;
  /// Negative: it has told nothing.
  [[nodiscard]] std::int64_t pid() const noexcept;

  /// With the receiving lock; again, where what is said of the number changes. `orderly`: see node_failure.
  /// `last_events`: what it did last, or empty.
  void set_loss(std::string why, bool orderly = false, std::string last_events = {}) noexcept;
  /// Empty: it was not lost. For who has the receiving lock.
  [[nodiscard]] const std::string& loss() const noexcept { return loss_; }
  /// The ham::node_failure of a call. What the node has told of itself replaces host and pid. Throws std::bad_alloc.
  [[nodiscard]] std::exception_ptr failure(node_failure::details of) const;

  /// In a child after fork: nobody holds the lock, and the node was lost because of `why`.
  void detach_after_fork(std::string why);

 private:
  mutable std::mutex mutex_;
  info info_;
  std::string address_;
  std::string loss_;
  std::string last_events_;
  bool orderly_ = false;
};

}  // namespace ham::detail
