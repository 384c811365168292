#include "runtime/bounced_transfer.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/paired_copy.hpp"
#include "base/process.hpp"
#include "runtime/message_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::pinned_pool;

constexpr std::size_t piece_size = std::size_t{2} << 20;
constexpr std::size_t pieces = 4;
/// The thread of a shorter one would cost what it saves.
constexpr std::size_t min_bounced_bytes = std::size_t{8} << 20;
/// Each has a thread, and memory that stays pinned.
constexpr int max_at_once = 4;
std::atomic<int> at_once{0};

class one_at_once {
 public:
  one_at_once() : is_one_(at_once.fetch_add(1, std::memory_order_relaxed) < max_at_once) {}
  ~one_at_once() { at_once.fetch_sub(1, std::memory_order_relaxed); }
  one_at_once(const one_at_once&) = delete;
  one_at_once& operator=(const one_at_once&) = delete;
  [[nodiscard]] bool is_one() const noexcept { return is_one_; }

 private:
  const bool is_one_;
};

/// One transfer, until its last part has settled.
class bounced {
 public:
  bounced(engine& at, const one_sided& what, std::shared_ptr<one_at_once> counted)
      : counted_(std::move(counted)),
        at_(at),
        what_(what),
        memory_(at.memory.pinned().allocate(pieces * piece_size)),
        place_(at.memory.pinned().find(memory_.get(), pieces * piece_size)),
        copies_(base::usable_cores()) {}

  [[nodiscard]] static future<void> put(const std::shared_ptr<bounced>& self) {
    std::vector<future<void>> parts;
    for (std::size_t done = 0; done < self->what_.bytes; done += piece_size) {
      if (parts.size() >= pieces) parts[parts.size() - pieces].wait();  // its piece of memory is free again
      self->copies_.copy(self->piece_of(done), self->what_.local + done, self->count_from(done));
      parts.push_back(self->send(done).then([self] {}));
    }
    return join(self->at_, self->what_, std::move(parts));
  }
  [[nodiscard]] static future<void> get(const std::shared_ptr<bounced>& self) {
    std::vector<future<void>> parts;
    for (std::size_t done = 0; done < std::min(self->what_.bytes, pieces * piece_size); done += piece_size)
      parts.push_back(get_from(self, done));
    return join(self->at_, self->what_, std::move(parts));
  }

 private:
  /// All that goes through one piece of memory, one after the other.
  [[nodiscard]] static future<void> get_from(const std::shared_ptr<bounced>& self, std::size_t done) {
    return self->send(done).then([self, done]() -> future<void> {
      const engine_scope scope(&self->at_);
      self->copies_.copy(self->what_.local + done, self->piece_of(done), self->count_from(done));
      const std::size_t next = done + pieces * piece_size;
      if (next < self->what_.bytes) return get_from(self, next);
      return ready_or_failed(self->at_, self->what_.verb(), self->what_.node, [] {});
    });
  }

  [[nodiscard]] future<void> send(std::size_t done) {
    const std::uint64_t offset = place_.offset + done % (pieces * piece_size);
    return send_mapped(at_, what_, {place_.block, place_.tag, place_.block_bytes, offset}, done, count_from(done));
  }
  [[nodiscard]] std::byte* piece_of(std::size_t done) const noexcept {
    return memory_.get() + done % (pieces * piece_size);
  }
  [[nodiscard]] std::size_t count_from(std::size_t done) const noexcept {
    return std::min(piece_size, what_.bytes - done);
  }

  const std::shared_ptr<one_at_once> counted_;
  engine& at_;
  const one_sided what_;
  const std::shared_ptr<std::byte> memory_;
  const pinned_pool::place place_;
  base::paired_copy copies_;
};

}  // namespace

std::optional<future<void>> bounced_transfer(engine& at, const one_sided& what, std::uint32_t swapped) {
  if (what.bytes < min_bounced_bytes || !may_be_mapped(at, what, swapped)) return std::nullopt;
  const engine_scope scope(&at);
  std::shared_ptr<bounced> all;
  try {
    auto counted = std::make_shared<one_at_once>();
    if (!counted->is_one()) return std::nullopt;
    all = std::make_shared<bounced>(at, what, std::move(counted));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return what.which == one_sided::direction::put ? bounced::put(all) : bounced::get(all);
}

}  // namespace ham::offload::detail
