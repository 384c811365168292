// Checks every access against the heap before a byte moves, and again at every piece of a long one.
#include "transport/tcp/bulk_server.hpp"

#include <algorithm>
#include <cstring>

#include "transport/tcp/bulk_format.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

class bulk_service {
 public:
  bulk_service(lane& on, base::heap* memory) : on_(on), memory_(memory) {}

  bool serve_one() {
    std::array<std::byte, bulk_request::bytes> head;
    bulk_request what;
    if (!on_.receive(head) || !read_request(head, what)) return false;
    switch (what.verb) {
      case bulk_verb::put: return what.size <= eager_bytes ? take_small(what) : take_large(what);
      case bulk_verb::get: return give(what);
      case bulk_verb::check: return answer(check(what));
    }
    return false;
  }

 private:
  [[nodiscard]] bulk_answer check(const bulk_request& what) const {
    if (memory_ == nullptr) return bulk_answer::unsupported;
    switch (memory_->check(what.address, what.tag, what.size)) {
      case base::heap_check::valid: return bulk_answer::go;
      case base::heap_check::stale: return bulk_answer::stale;
      case base::heap_check::out_of_range: break;
    }
    return bulk_answer::out_of_range;
  }

  bool answer(bulk_answer what) {
    std::array<std::byte, answer_bytes> bytes;
    store_answer(bytes.data(), what);
    return on_.send(bytes);
  }

  static std::byte* place(std::uint64_t address) noexcept {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  }

  bool take_small(const bulk_request& what) {
    std::span<std::byte> data{scratch(), static_cast<std::size_t>(what.size)};
    if (!on_.receive(data)) return false;
    const bulk_answer allowed = check(what);
    if (allowed == bulk_answer::go && !data.empty()) std::memcpy(place(what.address), data.data(), data.size());
    return answer(allowed);
  }

  bool take_large(const bulk_request& what) {
    bulk_answer allowed = check(what);
    if (!answer(allowed)) return false;
    if (allowed != bulk_answer::go) return true;
    for (std::uint64_t done = 0; done < what.size;) {
      const std::uint64_t piece = std::min<std::uint64_t>(what.size - done, piece_bytes);
      if (allowed == bulk_answer::go) allowed = check({what.verb, what.address + done, what.tag, piece});
      const bool there = allowed == bulk_answer::go ? on_.receive({place(what.address + done), piece}) : drop(piece);
      if (!there) return false;
      done += piece;
    }
    return answer(allowed);
  }

  bool give(const bulk_request& what) {
    bulk_answer allowed = check(what);
    if (!answer(allowed)) return false;
    if (allowed != bulk_answer::go) return true;
    for (std::uint64_t done = 0; done < what.size;) {
      const std::uint64_t piece = std::min<std::uint64_t>(what.size - done, piece_bytes);
      if (allowed == bulk_answer::go) allowed = check({what.verb, what.address + done, what.tag, piece});
      const bool gone = allowed == bulk_answer::go ? on_.send_part({place(what.address + done), piece}) : pad(piece);
      if (!gone) return false;
      done += piece;
    }
    return answer(allowed);
  }

  /// The allocation was freed in the middle: the rest goes nowhere.
  bool drop(std::uint64_t bytes) {
    for (std::uint64_t left = bytes; left != 0;) {
      const std::uint64_t piece = std::min<std::uint64_t>(left, eager_bytes);
      if (!on_.receive({scratch(), piece})) return false;
      left -= piece;
    }
    return true;
  }
  bool pad(std::uint64_t bytes) {
    std::memset(scratch(), 0, eager_bytes);
    for (std::uint64_t left = bytes; left != 0;) {
      const std::uint64_t piece = std::min<std::uint64_t>(left, eager_bytes);
      if (!on_.send_part({scratch(), piece})) return false;
      left -= piece;
    }
    return true;
  }

  std::byte* scratch() {
    if (scratch_ == nullptr) scratch_ = std::make_unique<std::byte[]>(eager_bytes);
    return scratch_.get();
  }

  lane& on_;
  base::heap* memory_;
  std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace

void serve_bulk(lane& on, base::heap* memory) noexcept {
  try {
    bulk_service service(on, memory);
    while (service.serve_one()) {
    }
  } catch (const std::bad_alloc&) {
    // The peer sees the lane end.
  }
  on.end();
  on.cut();
  on.mark_over();
}

}  // namespace ham::transport::tcp
