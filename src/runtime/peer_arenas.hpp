// Arenas of other nodes' devices that are mapped for the device of this node: which, and when that is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "ham/offload/node.hpp"
#include "runtime/absence_request.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::detail {

/// To open an arena, and to close it, waits for the resident kernel to leave, as to lock pages does (page_locks): who
/// needs one asks, and goes another way until the thread that follows the kernel has opened it. wanted() says whether
/// there are any to open or to close. Nodes are processes, whose numbers are not used again. All members may be called
/// from any thread.
class peer_arenas : public absence_request {
 public:
  static constexpr std::size_t max_peers = 1024;  ///< of what is asked for beyond nothing is opened

  enum class state : std::uint8_t { wanted, open, refused };

  explicit peer_arenas(transport::device_memory& of) noexcept : of_(of), own_(of.export_arena()) {}

  /// By what others open the arena of this node; empty: they cannot.
  [[nodiscard]] const transport::arena_handle& own() const noexcept { return own_; }

  /// What has become of the arena of a node, which is opened by its first handle; empty: it has none. If nobody has
  /// asked for it so far: wanted. Throws std::bad_alloc.
  [[nodiscard]] state ask(node_t node, const transport::arena_handle& handle);
  /// The arena of a node; nullptr: it is not open. In use until the pointer has gone, of which the device must have
  /// done with it.
  [[nodiscard]] std::shared_ptr<transport::peer_arena> find(node_t node) const noexcept;
  /// Whether it will never be opened.
  [[nodiscard]] bool refuses(node_t node) const noexcept;
  /// The node is lost: its arena is closed at the next occasion at which no copy uses it. True: wake() is due. Calls
  /// nothing: locks of the engine may be held.
  [[nodiscard]] bool forget(node_t node) noexcept;

  /// Opens and closes. The resident kernel is absent, and stays so meanwhile; one thread at a time.
  void open_wanted() noexcept;
  /// Due after forget(). No lock of the engine is held.
  using absence_request::wake;

 private:
  struct entry {
    transport::arena_handle handle;
    state how = state::wanted;
    bool lost = false;
    std::shared_ptr<transport::peer_arena> arena;
  };

  void close_lost() noexcept;

  transport::device_memory& of_;
  const transport::arena_handle own_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<node_t, entry> all_;
};

}  // namespace ham::detail
