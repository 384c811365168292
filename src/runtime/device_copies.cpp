#include "runtime/device_copies.hpp"

#include <array>
#include <exception>
#include <vector>

#include "runtime/block_parts.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/message_transfer.hpp"
#include "runtime/peer_copies.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::device_heap;

/// Pieces that are under way, each with its bytes in this process. Its end waits for all, whatever became of them.
class pieces_under_way {
 public:
  struct piece {
    std::vector<std::byte> bytes;
    future<void> travel;
    copied_part part{};
  };

  pieces_under_way() = default;
  pieces_under_way(const pieces_under_way&) = delete;
  pieces_under_way& operator=(const pieces_under_way&) = delete;
  ~pieces_under_way() {
    for (piece& one : all_) {
      if (!one.travel.valid()) continue;
      try {
        static_cast<void>(one.travel.error());  // which counts as seen: an earlier error is thrown
      } catch (const std::exception&) {         // it cannot be waited for: its future's end does what can be done
      }
    }
  }

  /// The one that is the longest under way, and becomes the last. Calls arrived(piece) if it has travelled.
  template <class Arrived>
  piece& next(Arrived arrived) {
    piece& one = all_[count_++ % all_.size()];
    if (one.travel.valid()) {
      one.travel.get();
      arrived(one);
    }
    return one;
  }
  /// Waits for all that are under way, in their order.
  template <class Arrived>
  void finish(Arrived arrived) {
    for (std::size_t i = 0; i < all_.size(); ++i) static_cast<void>(next(arrived));
  }

 private:
  std::array<piece, 4> all_;
  std::size_t count_ = 0;
};

void copy_inside(device_heap& device, raw_buffer from, raw_buffer to, const block_rows& what) {
  if (what.rows == 1) {
    device.copy_now(to.address, from.address, what.row_bytes);
    return;
  }
  std::vector<std::byte> packed;
  for_each_part(what, piece_bytes, [&](const copied_part& part) {
    packed.resize(part.bytes());
    device.load_now(part.on_device(from.address, what.source_pitch), packed.data(), packed.size());
    device.store_now(part.on_device(to.address, what.target_pitch), packed.data(), packed.size());
  });
}

}  // namespace

void copy_from_device(engine& at, raw_buffer from, node_t to_node, raw_buffer to, const block_rows& what, element of,
                      transfer_terms how) {
  device_heap& device = *at.memory.device();
  if (to_node == at.self() && to.tag != 0) {
    check_local(at, to, row_layout{what.row_bytes, 0, what.target_pitch}.remote_extent(what.rows * what.row_bytes));
    copy_inside(device, from, to, what);
    return;
  }
  if (copy_to_peer_device(at, from, to_node, to, what, of, how)) return;
  pieces_under_way under_way;
  const auto nothing = [](const pieces_under_way::piece&) {};
  for_each_part(what, piece_bytes, [&](const copied_part& part) {
    pieces_under_way::piece& one = under_way.next(nothing);
    one.bytes.resize(part.bytes());
    device.load_now(part.on_device(from.address, what.source_pitch), one.bytes.data(), one.bytes.size());
    one.travel = put_rows(at, one.bytes.data(), to_node, {part.place(to.address, what.target_pitch), to.tag},
                          part.from_packed(what.target_pitch), of, how);
  });
  under_way.finish(nothing);
}

void copy_to_device(engine& at, node_t from_node, raw_buffer from, raw_buffer to, const block_rows& what, element of,
                    transfer_terms how) {
  if (copy_from_peer_device(at, from_node, from, to, what, of, how)) return;
  device_heap& device = *at.memory.device();
  pieces_under_way under_way;
  const auto store = [&](const pieces_under_way::piece& one) {
    device.store_now(one.part.on_device(to.address, what.target_pitch), one.bytes.data(), one.bytes.size());
  };
  for_each_part(what, piece_bytes, [&](const copied_part& part) {
    pieces_under_way::piece& one = under_way.next(store);
    one.part = part;
    one.bytes.resize(part.bytes());
    one.travel = get_rows(at, from_node, {part.place(from.address, what.source_pitch), from.tag}, one.bytes.data(),
                          part.to_packed(what.source_pitch), of, how);
  });
  under_way.finish(store);
}

}  // namespace ham::offload::detail
