// The contract between the runtime and a transport: ordered reliable frames, one-sided memory, sleeping, death.
//
// A transport moves bytes between nodes and knows no message type. The runtime serialises all calls to a transport's
// receiving side (poll, arm, disarm) with one lock, and all sends through one endpoint with another. Where an endpoint
// allows it, threads that wait for a reply read that endpoint beside it, under a lock of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "base/recursive_spin_lock.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport {

/// What travels with every frame, opaque to the transport.
struct frame_head {
  std::uint32_t key = 0;
  std::uint32_t call = 0;
  std::uint8_t kind = 0;  ///< 1 .. 127
};

/// Bytes at the begin of a payload that can be read even if the payload is shorter, so that small payloads are copied
/// without a branch on their size.
inline constexpr std::size_t readable_payload = 48;

/// A received frame. The view is into the transport's memory and valid until endpoint::release().
struct frame {
  frame_head head;
  std::span<const std::byte> payload;
  bool at_once = false;  ///< it was there at the first look: others may be there behind it
};

enum class endpoint_state : std::uint8_t { open, closed, broken };

/// Result of a one-sided access. lost: the peer went meanwhile; observer::on_lost tells more.
enum class access_result : std::uint8_t { done, unsupported, stale, out_of_range, lost };

/// An access that goes on as long as somebody tests it.
class started_access {
 public:
  /// Gives it up if it is not over: nothing is said of its bytes then.
  virtual ~started_access() = default;
  /// Moves it on; true: it is over, and `how` says how. Does not wait, but may move some of the bytes. Threads to which
  /// the memory is open, one at a time.
  [[nodiscard]] virtual bool test(access_result& how) noexcept = 0;
};

/// Memory of the peer that this process may read and write by itself.
class remote_memory {
 public:
  virtual ~remote_memory() = default;
  /// Copies `size` bytes to or from `address` of the peer inside the allocation that `tag` names; checked before any
  /// byte moves. Blocking, any thread.
  virtual access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) = 0;
  virtual access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) = 0;
  /// The peer is gone: lets go of its memory as soon as no access is under way. Later ones find it lost. Any thread.
  virtual void abandon() noexcept {}
  /// How an access can go on while its caller computes.
  enum class background_access : std::uint8_t {
    undivided,  ///< on another thread, as one block
    parts,      ///< several threads may move parts of it; a part costs nothing of its own
    started,    ///< begun by start_put and start_get, several at once, and moved on by whoever tests it
  };
  [[nodiscard]] virtual background_access background() const noexcept { return background_access::undivided; }
  /// Whether the calling thread, and whether any thread, may use it.
  [[nodiscard]] virtual bool open_to_me() const noexcept { return true; }
  [[nodiscard]] virtual bool open_to_all() const noexcept { return true; }
  /// Whether an access waits for the peer's process, which may be stopped: it has no limit in time then.
  [[nodiscard]] virtual bool waits_for_peer() const noexcept { return false; }
  /// Bytes of the peer's, checked as an access to them is, where they are mapped in this process: they stay there while
  /// the pointer lives, which goes before this object. nullptr: `how` says why not (unsupported: nothing is mapped).
  /// Any thread. Throws std::bad_alloc.
  [[nodiscard]] virtual std::shared_ptr<std::byte> map(std::uint64_t /*address*/, std::uint64_t /*tag*/,
                                                       std::size_t /*size*/, access_result& how) {
    how = access_result::unsupported;
    return nullptr;
  }
  /// With background_access::started: begin what put and get do, and do not wait for the peer. The local bytes are in
  /// use until it is over. Throw std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<started_access> start_put(std::uint64_t /*address*/, std::uint64_t /*tag*/,
                                                                  const std::byte* /*from*/, std::size_t /*size*/) {
    return nullptr;
  }
  [[nodiscard]] virtual std::unique_ptr<started_access> start_get(std::uint64_t /*address*/, std::uint64_t /*tag*/,
                                                                  std::byte* /*to*/, std::size_t /*size*/) {
    return nullptr;
  }
};

/// Memory of a connection in which messages that are longer than a frame are built where the peer reads them. As
/// sending: one thread at a time.
class message_memory {
 public:
  virtual ~message_memory() = default;
  /// From how many bytes on a message goes this way, and up to how many there may ever be room.
  [[nodiscard]] virtual std::size_t min_size() const noexcept = 0;
  [[nodiscard]] virtual std::size_t max_size() const noexcept = 0;
  /// Room for a message, aligned to 64; nullptr: none now. send or cancel follows.
  [[nodiscard]] virtual std::byte* reserve_long(std::size_t size) noexcept = 0;
  /// Gives the room back, whatever has been written there.
  virtual void cancel_long(std::byte* at) noexcept = 0;
  /// Sends it as one frame, in order with the others. False: there is no room for the frame now.
  [[nodiscard]] virtual bool send_long(std::byte* at, const frame_head& head) noexcept = 0;
  /// Nothing long was sent for a while: gives physical memory back. True if there is none left to be given back.
  virtual bool trim_long() noexcept = 0;
};

/// Where a sender tells that a call is to stop, in memory of the receiver's that both have: not the mark means that it
/// is not, or that another one needed the same word later.
struct stop_word {
  std::atomic<std::uint64_t>* word = nullptr;
  std::uint64_t mark = 0;
};

/// What poll_reply has found: nothing; a frame that is not the reply, which stays; the reply.
enum class reply_poll : std::uint8_t { nothing, other, reply };

/// One connection to one node.
class endpoint {
 public:
  explicit endpoint(node_t peer) : peer_(peer) {}
  virtual ~endpoint() = default;
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  [[nodiscard]] node_t peer() const noexcept { return peer_; }

  // ---- sending: one thread at a time
  /// Largest payload of one frame in bytes; longer messages are cut by the caller (fragments.hpp).
  [[nodiscard]] virtual std::size_t max_payload() const noexcept = 0;
  /// Room for a payload of `size` bytes in the transport's own memory; nullptr: no room now. Nothing is sent until
  /// commit. commit or cancel follows.
  [[nodiscard]] virtual std::byte* reserve(std::size_t size) noexcept = 0;
  /// Gives the reservation back, whatever has been written there.
  virtual void cancel() noexcept = 0;
  /// Sends what was reserved.
  virtual void commit(const frame_head& head) noexcept = 0;
  /// End of what was sent so far, and of what the peer has taken, as positions in the stream. A frame that began at or
  /// behind consumed() has not been seen by the peer so far; if the peer's process has ended, it never will.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] virtual std::uint64_t consumed() const noexcept = 0;

  /// For messages longer than max_payload() and those that are better off there; nullptr: the medium has no such
  /// memory, they are cut.
  [[nodiscard]] virtual message_memory* long_messages() noexcept { return nullptr; }

  /// Something will probably be sent soon: takes the cache lines of the next message from the peer, while this side is
  /// still computing. They are expected to be as many as the last message had. A hint; any thread.
  void expect_send() const noexcept {
    const std::uintptr_t next = next_message_.load(std::memory_order_relaxed);
    take_lines(next, next % base::cache_line_bytes);
  }
  /// The same for a message with a payload of `size` bytes.
  void expect_send(std::size_t size) const noexcept {
    take_lines(next_message_.load(std::memory_order_relaxed), further_lines(size));
  }

  // ---- receiving: under the transport's receiving lock
  /// The next frame of this endpoint alone; used to drain what a lost peer had sent.
  [[nodiscard]] virtual bool poll(frame& out) noexcept = 0;
  /// Whether its next frame is there, is of `kind` and has at most `most` bytes, and for which call. poll() may find
  /// that it has changed. False as well where the medium does not know, or while reading is shared.
  [[nodiscard]] virtual bool peek(std::uint8_t /*kind*/, std::size_t /*most*/, std::uint32_t& /*call*/) noexcept {
    return false;
  }
  /// Gives the polled frame back. Harmless if it was given back before.
  virtual void release() noexcept = 0;

  // ---- receiving by a thread that waits for a reply, beside the one that has the receiving lock
  /// Whether that is possible.
  [[nodiscard]] virtual bool can_be_shared() const noexcept { return false; }
  /// From now on frames are read by whoever has `lock`, which outlives the endpoint or is taken back before: poll()
  /// takes it, and finds nothing if another thread has it; release() gives it back. nullptr: it is taken back. Under
  /// the receiving lock, and under this one.
  void share_reading(base::recursive_spin_lock* lock) noexcept { shared_ = lock; }
  /// That lock, or nullptr. Under the receiving lock, or with the lock itself.
  [[nodiscard]] base::recursive_spin_lock* shared() const noexcept { return shared_; }
  /// With the lock of share_reading: polls up to `polls` times whether the next frame is of `kind`, for `call`, and has
  /// at most `most` bytes; if so, takes it, as poll does, which may find that it has changed. transport::poll polls the
  /// endpoint more seldom from now on.
  [[nodiscard]] virtual reply_poll poll_reply(std::uint8_t /*kind*/, std::uint32_t /*call*/, std::size_t /*most*/,
                                              unsigned /*polls*/, frame& /*out*/) noexcept {
    return reply_poll::other;
  }
  /// transport::poll polls it as any other again. Under the receiving lock.
  virtual void leave_to_poll() noexcept {}

  /// Whether the peer slept when it was last sent something, and was woken: its answer will take longer. Told once; any
  /// thread.
  [[nodiscard]] bool take_woken() noexcept {
    return woken_.load(std::memory_order_relaxed) && woken_.exchange(false, std::memory_order_relaxed);
  }

  /// open; closed: by order; broken: see reason().
  [[nodiscard]] virtual endpoint_state state() const noexcept = 0;
  [[nodiscard]] virtual std::string reason() const = 0;
  /// Stops sending and receiving for good.
  virtual void close(const std::string& reason) noexcept = 0;

  /// One-sided access to the peer's memory, or nullptr where the medium has none. May outlive the endpoint, and is
  /// given back before the transport is destroyed.
  [[nodiscard]] virtual std::shared_ptr<remote_memory> memory() noexcept { return nullptr; }
  /// Whether the peer has the memory of this node mapped, and copies between that and the memory of its device.
  [[nodiscard]] virtual bool peer_copies_mapped() const noexcept { return false; }

  // ---- stopping calls, under the receiving lock; beside the frame that says so
  /// The word of this node for a call of the peer, which is 0 if nothing is to stop. It stays as long as the transport;
  /// the medium may have none.
  [[nodiscard]] virtual stop_word stop_word_of(std::uint32_t /*call*/) const noexcept { return {}; }
  /// The frame has come: the word is free for others.
  virtual void clear_stop_word(std::uint32_t /*call*/) noexcept {}
  /// A call of this node to the peer is to stop.
  virtual void announce_stop(std::uint32_t /*call*/) noexcept {}

  /// The runtime's record of this peer, opaque here; nullptr until the runtime has seen the endpoint.
  void* user = nullptr;
  /// Name of the transport, set by it before observer::on_connected.
  const char* medium = "";

 protected:
  /// By commit: where the next message will be built, if that is known, and the size of this one's payload.
  void expect_next(const void* room, std::size_t size = 0) noexcept {
    const std::uintptr_t line = reinterpret_cast<std::uintptr_t>(room) / base::cache_line_bytes;
    next_message_.store(line * base::cache_line_bytes + further_lines(size), std::memory_order_relaxed);
  }

  /// By poll, before it reads; false: another thread reads.
  [[nodiscard]] bool begin_reading() noexcept { return shared_ == nullptr || shared_->try_lock(); }
  /// By release, and by poll that has found nothing: gives back what begin_reading has taken.
  void end_reading() noexcept {
    if (shared_ != nullptr) [[unlikely]]
      shared_->unlock();
  }
  /// By release: whether the calling thread has a frame that it has not given back.
  [[nodiscard]] bool reads() const noexcept { return shared_ == nullptr || shared_->held_by_me(); }

  std::uint64_t sent_ = 0;          ///< kept by commit
  std::atomic<bool> woken_{false};  ///< set by commit when it had to wake the peer

 private:
  static constexpr std::size_t max_taken = 16;  ///< more would only wait for each other

  /// Lines of a message behind its first one, as far as they are taken early.
  [[nodiscard]] static std::size_t further_lines(std::size_t size) noexcept {
    if (size <= readable_payload) [[likely]]
      return 0;
    return std::min(1 + (size - readable_payload - 1) / base::cache_line_bytes, max_taken);
  }
  /// The peer polls the first line of what comes next. That of a short message is there when it is written, in spite of
  /// that; that of a longer one, which is written last, would go there and back once more.
  static void take_lines(std::uintptr_t room, std::size_t further) noexcept {
    if (further <= 1) [[likely]] {
      base::prefetch_for_write(room);
      base::prefetch_for_write(room + base::cache_line_bytes);
      return;
    }
    for (std::size_t i = 1; i <= further; ++i) base::prefetch_for_write(room + i * base::cache_line_bytes);
  }

  std::atomic<std::uintptr_t> next_message_{0};  ///< a line, and how many further ones the last message had
  base::recursive_spin_lock* shared_ = nullptr;
  node_t peer_;
};

/// What the transport tells the runtime about a peer, from any thread, at any time.
class observer {
 public:
  virtual ~observer() = default;
  /// A new endpoint exists; the transport keeps owning it.
  virtual void on_connected(endpoint& with) = 0;
  /// The peer broke the wire format: its endpoint is closed, its process may live on.
  virtual void on_broken(node_t peer, const std::string& reason) = 0;
  /// The connection is gone (`reason` for people), or could not be made; the process behind the node may live on.
  virtual void on_lost(node_t peer, const std::string& reason) = 0;
  /// The process behind the node has ended, which is known for sure: what it had not taken will never be executed.
  virtual void on_died(node_t peer, const std::string& reason) { on_lost(peer, reason); }
};

/// A way to reach nodes.
class transport {
 public:
  virtual ~transport() = default;
  [[nodiscard]] virtual const char* name() const noexcept = 0;

  /// Asks for a connection to `peer`; observer::on_connected or on_lost follows.
  virtual void connect(node_t peer) = 0;

  // ---- receiving: one thread at a time
  /// The next frame of any endpoint, or nullptr. Must be released before the next poll. Looks up to `polls` times where
  /// looking is a matter of nanoseconds, some times as often where it is one load.
  [[nodiscard]] virtual endpoint* poll(frame& out, unsigned polls) = 0;
  /// Announces that the caller is about to sleep on wake_fd(). False: something has arrived, do not sleep.
  [[nodiscard]] virtual bool arm() = 0;
  /// The caller is awake again.
  virtual void disarm() noexcept = 0;
  /// Readable when a frame arrived after arm(), or wake() was called.
  [[nodiscard]] virtual int wake_fd() const noexcept = 0;
  /// After arm(): how long the caller may sleep before it polls again, in nanoseconds, because wake_fd() may miss a
  /// frame.
  [[nodiscard]] virtual std::int64_t max_sleep_ns() const noexcept { return base::never_ns; }

  /// The runtime has no more use for an endpoint, whichever transport it is of: it was closed, and no thread of the
  /// runtime uses the object any more, except for the caller, until poll is called next: it may have a frame of it
  /// that is not released. Its memory() may still be used. Under the receiving lock; may be called from within the
  /// handling of a frame.
  virtual void forget(endpoint&) noexcept {}

  /// Ends arm()'s sleep from any thread of this process.
  virtual void wake() noexcept = 0;
  /// True if more nodes want to run than there are cores: spinning would steal time from the peer that is awaited.
  [[nodiscard]] virtual bool oversubscribed() const noexcept { return false; }
  /// What this node is to the others, if being reached by this transport makes it something that its instruction set
  /// does not say: an emulated accelerator; else nullptr.
  [[nodiscard]] virtual const char* device_type() const noexcept { return nullptr; }
  /// The core of this machine on which this node had best wake up; negative: any.
  [[nodiscard]] virtual int home_core() const noexcept { return -1; }
  /// Process id behind a node on this machine; negative where unknown.
  [[nodiscard]] virtual std::int64_t peer_pid(node_t) const noexcept { return -1; }
  /// The memory of the flight recorder of a node on this machine (base/recorder_area.hpp), also of one that has died;
  /// empty where it cannot be read. Bytes of that node: not to be believed. Any thread.
  [[nodiscard]] virtual std::vector<std::byte> recorded_by(node_t) const { return {}; }
  /// Orderly end: on the host, waits until the targets have ended or ends them.
  virtual void shutdown() noexcept = 0;
};

}  // namespace ham::transport
