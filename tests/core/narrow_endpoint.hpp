// The end of a connection that takes what the test allows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace ham::inline v1::test {

/// Takes frames of at most 64 bytes, as many as it is allowed; and has memory for long messages, if it is given some.
class narrow_endpoint : public transport::endpoint, public transport::message_memory {
 public:
  narrow_endpoint() : endpoint(1) {}
  [[nodiscard]] std::size_t max_payload() const noexcept override { return 64; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    if (allowed == 0) return nullptr;
    room_.resize(size);
    return room_.data();
  }
  void cancel() noexcept override {}
  void commit(const transport::frame_head& head) noexcept override {
    --allowed;
    heads.push_back(head);
    payloads.push_back(room_);
    if (on_commit) on_commit();
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return consumed_so_far; }
  [[nodiscard]] bool poll(transport::frame& out) noexcept override {
    if (arriving.empty()) return false;
    out = arriving.front();
    arriving.erase(arriving.begin());
    return true;
  }
  void release() noexcept override { ++released; }
  [[nodiscard]] transport::endpoint_state state() const noexcept override { return transport::endpoint_state::open; }
  [[nodiscard]] std::string reason() const override { return {}; }
  void close(const std::string& why) noexcept override { closed_because = why; }
  [[nodiscard]] message_memory* long_messages() noexcept override { return long_memory.empty() ? nullptr : this; }

  [[nodiscard]] std::size_t min_size() const noexcept override { return 65; }
  [[nodiscard]] std::size_t max_size() const noexcept override { return long_memory.size(); }
  [[nodiscard]] std::byte* reserve_long(std::size_t size) noexcept override {
    if (long_used || size > long_memory.size()) return nullptr;
    long_used = true;
    return long_memory.data();
  }
  void cancel_long(std::byte*) noexcept override { long_used = false; }
  [[nodiscard]] bool send_long(std::byte*, const transport::frame_head& head) noexcept override {
    if (allowed == 0) return false;
    room_ = long_memory;
    commit(head);
    return true;
  }
  bool trim_long() noexcept override { return !long_used; }

  std::vector<std::byte> long_memory;  ///< room for one message
  bool long_used = false;              ///< reserved, or sent and not returned
  int allowed = 0;
  int released = 0;
  std::vector<transport::frame> arriving;
  std::uint64_t consumed_so_far = 0;
  std::string closed_because;
  std::function<void()> on_commit;
  std::vector<transport::frame_head> heads;
  std::vector<std::vector<std::byte>> payloads;

 private:
  std::vector<std::byte> room_{1};
};

}  // namespace ham::test
