#include "runtime/device_accesses.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device_heap.hpp"
#include "runtime/held_call.hpp"

namespace ham::inline v0::detail {
namespace {

/// Answers when the device has copied.
class answering_access : public device_access {
 public:
  explicit answering_access(const incoming_call& call) : held_(call) {}
  void finish(std::span<const std::byte> bytes, const std::string& failure) noexcept final {
    held_.answer([&](incoming_call& call) {
      if (!failure.empty()) {
        throw call_error("the device of node " + std::to_string(call.at->self()) + " has not copied what it should (" +
                         failure + ")");
      }
      if (wants_reply(call)) reply(call, bytes);
    });
  }

 private:
  virtual void reply(incoming_call& call, std::span<const std::byte> bytes) = 0;
  held_call held_;
};

class answering_store final : public answering_access {
 public:
  using answering_access::answering_access;

 private:
  void reply(incoming_call& call, std::span<const std::byte>) override { reply_nothing(call); }
};

class answering_load final : public answering_access {
 public:
  using answering_access::answering_access;

 private:
  void reply(incoming_call& call, std::span<const std::byte> bytes) override { reply_value(call, bytes); }
};

}  // namespace

bool allocates_on_device(const incoming_call& call) noexcept { return call.at->memory.device() != nullptr; }

bool store_later(incoming_call& call, const device_rows& to, std::span<const std::byte> bytes) {
  device_heap& device = *call.at->memory.device();
  if (bytes.size() > device.max_access()) return false;
  device.store(to, bytes, std::make_unique<answering_store>(call));
  return true;
}

bool load_later(incoming_call& call, const device_rows& from, std::size_t bytes) {
  device_heap& device = *call.at->memory.device();
  if (bytes > device.max_access()) return false;
  device.load(from, bytes, std::make_unique<answering_load>(call));
  return true;
}

}  // namespace ham::detail
