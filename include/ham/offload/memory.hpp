// Memory of other nodes: allocate, free, put, get, copy (paper 1, Table II).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "ham/msg/object_layout.hpp"
#include "ham/offload/buffer_ptr.hpp"
#include "ham/offload/buffer_span.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

namespace detail {

struct raw_buffer {
  std::uint64_t address = 0;
  std::uint64_t tag = 0;
};

/// What to do with elements that go to a node of another data layout.
struct element {
  std::uint32_t number_bytes = 1;  ///< they consist of numbers of this size, whose bytes can be turned round; 0: not so
  bool known = true;  ///< all of their members are known, and lie alike wherever the byte order is the same
};
template <class Element>
inline constexpr std::uint32_t number_bytes_v =
    (std::is_arithmetic_v<Element> || std::is_enum_v<Element>)&&!std::is_same_v<std::remove_cv_t<Element>, long double>
        ? sizeof(Element)
        : 0;
template <class Element>
inline constexpr std::uint32_t number_bytes_v<std::complex<Element>> = number_bytes_v<Element>;
template <class Element, std::size_t Size>
inline constexpr std::uint32_t number_bytes_v<Element[Size]> = number_bytes_v<Element>;
template <class Element, std::size_t Size>
inline constexpr std::uint32_t number_bytes_v<std::array<Element, Size>> = number_bytes_v<Element>;

template <class Element>
[[nodiscard]] element element_of() {
  if constexpr (number_bytes_v<Element> != 0) {
    return {number_bytes_v<Element>, true};
  } else {
    static const bool known = [] {
      std::string text;
      msg::detail::append_member<Element>(text);
      return msg::layout_is_portable(text, true) && !msg::layout_has_long_double(text);
    }();
    return {0, known};
  }
}

[[nodiscard]] raw_buffer allocate_bytes(destination& on, std::size_t bytes, const std::stop_token* token = nullptr);
/// Of the node `owner`, whatever node `to` has.
void free_bytes(const destination& to, node_t owner, raw_buffer what);
/// For destructors: errors are ignored, and a node that is stopped is not waited for; nobody at all longer than
/// `limit_ns`, if that is not negative. Does nothing if the runtime has ended. False: the node was given up.
bool free_at_end(std::uint64_t runtime, node_t node, raw_buffer what, std::int64_t limit_ns = -1) noexcept;
/// Who moves a block: the calling thread, or, if it is large, another one meanwhile.
enum class moved_by : bool { caller, anyone };
/// How a transfer is done.
struct transfer_terms {
  constexpr transfer_terms(moved_by by = moved_by::anyone, std::int64_t until_ns = 0,  // NOLINT
                           const std::stop_token* stop = nullptr) noexcept
      : whom(by), deadline_ns(until_ns), token(stop) {}
  moved_by whom;
  bool is_part = false;          ///< of one with a token
  std::int64_t deadline_ns;      ///< 0: none
  const std::stop_token* token;  ///< nullptr: none. Looked at until the transfer has begun, not later
};
[[nodiscard]] inline transfer_terms terms_of(const transfer_destination& to,
                                             moved_by whom = moved_by::anyone) noexcept {
  return {whom, to.where.deadline_ns, to.token.stop_possible() ? &to.token : nullptr};
}
[[nodiscard]] future<void> put_bytes(engine& at, const void* from, node_t node, raw_buffer to, std::size_t bytes,
                                     element of = {}, transfer_terms how = {});
[[nodiscard]] future<void> get_bytes(engine& at, node_t node, raw_buffer from, void* to, std::size_t bytes,
                                     element of = {}, transfer_terms how = {});
[[nodiscard]] future<void> copy_bytes(engine& at, node_t from_node, raw_buffer from, node_t to_node, raw_buffer to,
                                      std::size_t bytes, element of = {}, transfer_terms how = {});
/// Throws ham::buffer_error unless the node of `to` is one of the two.
void require_node_of(const destination& to, node_t one, node_t other);
[[noreturn]] void throw_too_large(std::size_t elements, std::size_t element_bytes);

template <class Element>
[[nodiscard]] std::size_t bytes_for(std::size_t elements) {
  if (elements > SIZE_MAX / sizeof(Element)) throw_too_large(elements, sizeof(Element));
  return elements * sizeof(Element);
}
template <class Element>
[[nodiscard]] raw_buffer raw(const buffer_ptr<Element>& ptr) noexcept {
  return {ptr.address(), ptr.tag()};
}

template <class Element>
concept transferable = std::is_trivially_copyable_v<Element> || is_bitwise_copyable<Element>::value;

}  // namespace detail

/// Memory for `count` elements on a node, aligned to 64 bytes; the elements are not constructed. Blocking, at most
/// until the deadline of `on`: then throws ham::deadline_exceeded, and memory that the node allocates nevertheless is
/// freed when its answer comes. Else throws std::bad_alloc if the node has not that much, ham::node_failure,
/// ham::call_error.
template <class Element>
[[nodiscard]] buffer_ptr<Element> allocate(destination on, std::size_t count) {
  const detail::raw_buffer got = detail::allocate_bytes(on, detail::bytes_for<Element>(count));
  return detail::buffer_ptr_access::make<Element>(got.address, got.tag, on.node);
}

/// The same; the token of `on` takes the request out of a queue, here or on the node: then throws
/// ham::operation_cancelled, `not_run`. One that the node has begun is waited for.
template <class Element>
[[nodiscard]] buffer_ptr<Element> allocate(const stoppable_destination& on, std::size_t count) {
  destination where = on.where();
  const detail::raw_buffer got = detail::allocate_bytes(where, detail::bytes_for<Element>(count), &on.token());
  return detail::buffer_ptr_access::make<Element>(got.address, got.tag, where.node);
}

/// Frees what allocate returned, once no transfer to or from it is pending. Blocking. Throws ham::buffer_error if it is
/// not the start of a live allocation there.
template <class Element>
void free(buffer_ptr<Element> ptr) {
  detail::free_bytes(ptr.node(), ptr.node(), detail::raw(ptr));
}
/// Paper 3's spelling; the node is the pointer's. Also for what `to` says beside it: within(node, 1s) is a deadline, at
/// which it throws ham::deadline_exceeded: with the outcome not_run the allocation is as before, else the node frees it
/// when it goes on.
template <class Element>
void free(destination to, buffer_ptr<Element> ptr) {
  detail::free_bytes(to, ptr.node(), detail::raw(ptr));
}

/// Writes `count` elements from local memory to `dst`. `src` must stay as it is until the future has settled. Not
/// ordered with calls that still run on the node, nor with other transfers, nor with free: wait for them first. Over
/// shared memory, tcp and the emulated link, on the side that initiates, the caller moves small blocks itself, and the
/// future is ready on return; larger ones (from some 100 KiB to a few MiB on, as measured while the node runs) move on
/// a thread of the library's while the caller goes on, and who waits for the future takes part. Over MPI without mapped
/// memory, as between machines, MPI moves those from 256 KiB on: where MPI may be called by any thread (it gave
/// MPI_THREAD_SERIALIZED or more) while the caller goes on, else whenever the thread that initialised MPI calls HAM.
/// The future fails with ham::buffer_error for stale, freed, foreign or too short memory, and with ham::node_failure if
/// the node is lost; what is at `dst` is undefined then: any part of the bytes may have been written. Numbers are
/// converted for a node of another byte order; elements of which the bytes would mean something else there are refused
/// with ham::buffer_error at once.
template <detail::transferable Element>
future<void> put(const std::type_identity_t<Element>* src, buffer_ptr<Element> dst, std::size_t count) {
  return detail::put_bytes(detail::current(), src, dst.node(), detail::raw(dst), detail::bytes_for<Element>(count),
                           detail::element_of<Element>());
}

/// Reads `count` elements from `src` into local memory, which must not be touched until the future has settled, and is
/// undefined if it fails. Else as put.
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> get(
    buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst, std::size_t count) {
  return detail::get_bytes(detail::current(), src.node(), detail::raw(src), dst, detail::bytes_for<Element>(count),
                           detail::element_of<std::remove_const_t<Element>>());
}

/// Copies `count` elements from `src` to `dst`, on any nodes; between two targets the bytes go directly from one to the
/// other, orchestrated by the caller. Numbers are converted as by put; elements that cannot cross from `src`'s node to
/// `dst`'s make the future fail with ham::buffer_error.
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> copy(
    buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, std::size_t count) {
  return detail::copy_bytes(detail::current(), src.node(), detail::raw(src), dst.node(), detail::raw(dst),
                            detail::bytes_for<Element>(count), detail::element_of<std::remove_const_t<Element>>());
}

/// The same, complete on return, and moved by the calling thread alone; errors are thrown.
template <detail::transferable Element>
void put_sync(const std::type_identity_t<Element>* src, buffer_ptr<Element> dst, std::size_t count) {
  detail::put_bytes(detail::current(), src, dst.node(), detail::raw(dst), detail::bytes_for<Element>(count),
                    detail::element_of<Element>(), detail::moved_by::caller)
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void get_sync(buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst, std::size_t count) {
  detail::get_bytes(detail::current(), src.node(), detail::raw(src), dst, detail::bytes_for<Element>(count),
                    detail::element_of<std::remove_const_t<Element>>(), detail::moved_by::caller)
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void copy_sync(buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, std::size_t count) {
  offload::copy(src, dst, count).get();
}

/// Paper 3's spellings of put and get, with the remote buffer first (Listing 2). The node is the buffer's; `to` may
/// have a deadline or a runtime beside it, as for put and get to a destination (transfer.hpp).
template <detail::transferable Element>
future<void> write(transfer_destination to, buffer_ptr<Element> dst, const std::type_identity_t<Element>* src,
                   std::size_t count) {
  return detail::put_bytes(detail::engine_for(to.where), src, dst.node(), detail::raw(dst),
                           detail::bytes_for<Element>(count), detail::element_of<Element>(), detail::terms_of(to));
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> read(
    transfer_destination to, buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst,
    std::size_t count) {
  return detail::get_bytes(detail::engine_for(to.where), src.node(), detail::raw(src), dst,
                           detail::bytes_for<Element>(count), detail::element_of<std::remove_const_t<Element>>(),
                           detail::terms_of(to));
}

/// Owns an allocation on a node and frees it at the end of its life. Movable. It belongs to the runtime that it was
/// made under, or that its destination names, whatever runtime its end finds.
template <class Element>
class buffer {
 public:
  buffer() noexcept = default;
  /// Allocates: blocking, at most until the deadline of `on`; throws as allocate.
  buffer(offload::destination on, std::size_t count)
      : runtime_(detail::serial_of(detail::engine_for(on))),
        ptr_(offload::allocate<Element>(on, count)),
        size_(count) {}
  buffer(const stoppable_destination& on, std::size_t count)
      : runtime_(detail::serial_of(detail::engine_for(on.where()))),
        ptr_(offload::allocate<Element>(on, count)),
        size_(count) {}
  buffer(buffer&& other) noexcept
      : runtime_(other.runtime_), ptr_(std::exchange(other.ptr_, {})), size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    if (this != &other) {
      reset();
      runtime_ = other.runtime_;
      ptr_ = std::exchange(other.ptr_, {});
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~buffer() { reset(); }

  /// The first element; null if it is empty, was reset or moved from. Does not outlive the allocation.
  [[nodiscard]] buffer_ptr<Element> ptr() const noexcept { return ptr_; }
  /// All elements; as ptr().
  [[nodiscard]] buffer_span<Element> span() const noexcept { return {ptr_, size_}; }
  /// As of buffer_span. Throws ham::buffer_error for what is outside.
  [[nodiscard]] buffer_span<Element> subspan(std::size_t offset,
                                             std::size_t count = buffer_span<Element>::to_the_end) const& {
    return span().subspan(offset, count);
  }
  void subspan(std::size_t offset, std::size_t count = 0) const&& = delete;  ///< it would be freed at once
  // An owner may stand where its pointer or its span is asked for, but not a temporary one, whose memory is freed at
  // the end of the statement.
  // NOLINTBEGIN(google-explicit-constructor)
  operator buffer_ptr<Element>() const& noexcept { return ptr_; }
  operator buffer_span<Element>() const& noexcept { return span(); }
  operator buffer_ptr<const Element>() const& noexcept requires(!std::is_const_v<Element>) { return ptr_; }
  operator buffer_span<const Element>() const& noexcept requires(!std::is_const_v<Element>) { return span(); }
  operator buffer_ptr<Element>() const&& = delete;
  operator buffer_span<Element>() const&& = delete;
  operator buffer_ptr<const Element>() const&& requires(!std::is_const_v<Element>) = delete;
  operator buffer_span<const Element>() const&& requires(!std::is_const_v<Element>) = delete;
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] node_t node() const noexcept { return ptr_.node(); }
  /// Its node, in its runtime: put(b.where(), src, b.ptr(), n) under another one.
  [[nodiscard]] destination where() const noexcept { return {ptr_.node(), 0, runtime_}; }

  /// Frees now. Errors are ignored: the node may be gone, and its memory with it. Does not wait for a node that is
  /// stopped: that frees when it goes on, and a line on stderr says so (HAM_CLOSE_TIMEOUT).
  void reset() noexcept {
    if (!ptr_) return;
    static_cast<void>(detail::free_at_end(runtime_, ptr_.node(), detail::raw(ptr_)));
    ptr_ = {};
    size_ = 0;
  }
  /// The same, and waits for no node longer than `limit`, whether it is stopped or busy. False: it was given up, and
  /// frees by itself when it comes to it, of which a line on stderr tells.
  template <class Rep, class Period>
  bool reset(std::chrono::duration<Rep, Period> limit) noexcept {
    if (!ptr_) return true;
    size_ = 0;
    const buffer_ptr<Element> what = std::exchange(ptr_, {});
    return detail::free_at_end(runtime_, what.node(), detail::raw(what), detail::nanoseconds_of(limit));
  }
  /// Gives the allocation to the caller.
  [[nodiscard]] buffer_ptr<Element> release() noexcept {
    size_ = 0;
    return std::exchange(ptr_, {});
  }

 private:
  std::uint64_t runtime_ = 0;
  buffer_ptr<Element> ptr_;
  std::size_t size_ = 0;
};

}  // namespace ham::offload
