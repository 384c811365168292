// Ring pairs in ordinary memory between threads.
#include "transport/loopback/transport.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cstring>

#include "base/event_fds.hpp"
#include "base/refused_call.hpp"
#include "transport/common/heap_access.hpp"

namespace ham::inline v1::transport::loopback {
namespace {

/// The peer's heap is in this process: check and copy.
class local_memory final : public remote_memory {
 public:
  explicit local_memory(base::heap& of) : heap_(of) {}
  [[nodiscard]] background_access background() const noexcept override { return background_access::parts; }
  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    return access(address, tag, size, [&](std::byte* there) { std::memcpy(there, from, size); });
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    return access(address, tag, size, [&](std::byte* there) { std::memcpy(to, there, size); });
  }

 private:
  template <class Copy>
  access_result access(std::uint64_t address, std::uint64_t tag, std::size_t size, Copy copy) {
    const base::heap_check why = heap_.check(address, tag, size);
    if (why == base::heap_check::valid) copy(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address)));
    return to_access_result(why);
  }
  base::heap& heap_;
};

/// Rings need lines of 64 bytes.
std::byte* align(std::byte* memory) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return memory + ((address + line_bytes - 1) / line_bytes * line_bytes - address);
}

}  // namespace

cluster::cluster(std::size_t nodes) : seats_(nodes) {
  for (seat& one : seats_) {
    one.event = base::make_event();
  }
}

bool cluster::introduce(node_t first, node_t second) {
  std::lock_guard guard(mutex_);
  seat& one = seats_[static_cast<std::size_t>(first)];
  seat& other = seats_[static_cast<std::size_t>(second)];
  if (one.here == nullptr || other.here == nullptr) return false;
  if (!introduced_.insert(std::minmax(first, second)).second) return true;
  constexpr std::size_t bytes = ring_pair::bytes + line_bytes;
  pairs_.push_back(std::unique_ptr<std::byte[]>(new std::byte[bytes]));
  std::memset(pairs_.back().get(), 0, bytes);
  const ring_pair rings{align(pairs_.back().get()), ++epoch_};
  auto mine =
      std::make_unique<ring_endpoint>(second, first, rings, 0U, remote_bell{other.ring_me.get(), other.event.get()});
  auto theirs =
      std::make_unique<ring_endpoint>(first, second, rings, 1U, remote_bell{one.ring_me.get(), one.event.get()});
  if (other.memory != nullptr) mine->set_memory(std::make_unique<local_memory>(*other.memory));
  if (one.memory != nullptr) theirs->set_memory(std::make_unique<local_memory>(*one.memory));
  other.here->adopt(std::move(theirs));
  one.here->adopt(std::move(mine));
  return true;
}

node_transport::node_transport(std::shared_ptr<cluster> job, node_t self, base::heap* memory, observer& to)
    : ring_transport(*job->seats_[static_cast<std::size_t>(self)].ring_me,
                     job->seats_[static_cast<std::size_t>(self)].event.get(), to),
      job_(std::move(job)),
      self_(self) {
  std::lock_guard guard(job_->mutex_);
  job_->seats_[static_cast<std::size_t>(self_)].here = this;
  job_->seats_[static_cast<std::size_t>(self_)].memory = memory;
}

node_transport::~node_transport() { shutdown(); }

void node_transport::connect(node_t peer) {
  if (!job_->introduce(self_, peer)) observing().on_lost(peer, "it has left");
}

void node_transport::shutdown() noexcept {
  std::lock_guard guard(job_->mutex_);
  if (job_->seats_[static_cast<std::size_t>(self_)].here != this) return;
  job_->seats_[static_cast<std::size_t>(self_)].here = nullptr;
  job_->seats_[static_cast<std::size_t>(self_)].memory = nullptr;
  for (const auto& [first, second] : job_->introduced_) {
    if (first != self_ && second != self_) continue;
    const node_t other = first == self_ ? second : first;
    node_transport* const there = job_->seats_[static_cast<std::size_t>(other)].here;
    if (there != nullptr) there->observing().on_lost(self_, "it has left");
  }
}

}  // namespace ham::transport::loopback
