#include "runtime/device_accesses.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "runtime/device_heap.hpp"
#include "runtime/held_call.hpp"

namespace ham::inline v1::detail {
namespace {

using direction = transport::device_copy::direction;

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

/// Keeps the memory that is copied until then.
template <class Memory>
class answering_copy final : public device_access {
 public:
  answering_copy(const incoming_call& call, Memory memory) : memory_(std::move(memory)), answer_(call) {}
  void finish(std::span<const std::byte>, const std::string& failure) noexcept override { answer_.finish({}, failure); }

 private:
  const Memory memory_;
  answering_store answer_;
};

/// A copy in pieces through staging memory; its end answers.
class staged_copy {
 public:
  staged_copy(const incoming_call& call, mapped_pages pages) : pages_(std::move(pages)), answer_(call) {}
  ~staged_copy() { answer_.finish({}, failure_); }
  staged_copy(const staged_copy&) = delete;
  staged_copy& operator=(const staged_copy&) = delete;

  /// Any thread.
  void note(const std::string& failure) noexcept {
    if (failure.empty()) return;
    try {
      std::lock_guard guard(mutex_);
      failure_ = failure;
    } catch (...) {  // no memory for the words
      failure_.assign(1, '?');
    }
  }

 private:
  const mapped_pages pages_;
  answering_store answer_;
  std::mutex mutex_;
  std::string failure_;
};

class staged_piece final : public device_access {
 public:
  /// `to`: where the bytes of a load go.
  staged_piece(std::shared_ptr<staged_copy> of, std::byte* to) noexcept : of_(std::move(of)), to_(to) {}
  void finish(std::span<const std::byte> bytes, const std::string& failure) noexcept override {
    of_->note(failure);
    if (failure.empty() && to_ != nullptr) std::memcpy(to_, bytes.data(), bytes.size());
  }

 private:
  const std::shared_ptr<staged_copy> of_;
  std::byte* const to_;
};

/// The thread waits while all staging memory is in use.
void copy_staged(device_heap& device, incoming_call& call, const device_rows& where, direction which,
                 mapped_pages pages, std::byte* host, std::size_t bytes) {
  const auto all = std::make_shared<staged_copy>(call, std::move(pages));
  try {
    for (std::size_t done = 0; done < bytes; done += device.max_access()) {
      const std::size_t piece = std::min(device.max_access(), bytes - done);
      if (which == direction::to_device)
        device.store(where.behind(done), {host + done, piece}, std::make_unique<staged_piece>(all, nullptr));
      else
        device.load(where.behind(done), piece, std::make_unique<staged_piece>(all, host + done));
    }
  } catch (const std::bad_alloc&) {
    all->note("no memory for another copy");
  }
}

}  // namespace

void copy_mapped_later(incoming_call& call, const device_rows& where, direction which, mapped_pages pages,
                       std::size_t offset, std::size_t bytes) {
  device_heap& device = *call.at->memory.device();
  std::byte* const host = pages.bytes.get() + offset;
  if (device.locks().has({pages.bytes.get(), pages.size}))
    device.copy(where, which, host, bytes, std::make_unique<answering_copy<mapped_pages>>(call, std::move(pages)));
  else
    copy_staged(device, call, where, which, std::move(pages), host, bytes);
}

void copy_peer_later(incoming_call& call, std::shared_ptr<transport::peer_arena> from,
                     const transport::peer_copy& what) {
  using access = answering_copy<std::shared_ptr<transport::peer_arena>>;
  call.at->memory.device()->copy_from_peer(what, std::make_unique<access>(call, std::move(from)));
}

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
