// put, get and copy to a destination: until a deadline, until a token is stopped, or by another runtime than the
// calling thread's.
//
//   offload::put(offload::within(1, 200ms), data, dst, n).get();  // deadline_exceeded if node 1 does not take it
//   offload::get(rt.node(2), src, data, n);
#pragma once

#include <cstddef>
#include <type_traits>

#include "ham/offload/block.hpp"
#include "ham/offload/memory.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// The runtime of a transfer, once `to` is known to be a node that takes part in it.
[[nodiscard]] inline engine& engine_of_transfer(const transfer_destination& to, node_t one, node_t other) {
  require_node_of(to.where, one, other);
  return engine_for(to.where);
}
}  // namespace detail

/// As put, get and copy without a destination, whose node must be one of the transfer's: else throws ham::buffer_error.
/// A context of it means nothing here.
///
/// When its deadline passes first, the future fails with ham::deadline_exceeded. Then, and whenever a future has
/// settled, nothing touches the local memory any more, and it is the caller's: what another thread was moving is
/// stopped, or has been waited for, which takes as long as 1 MiB (4 MiB on an accelerator) takes to move. The node's
/// memory is undefined then, and may still be written by messages that are on their way: it must not be used for
/// something else before the node has answered a later call to its main queue; freeing it is safe at any time, because
/// each access is checked. The outcome not_run says that nothing of it has changed, and never will.
///
/// A token, of stoppable(node, token) or within(node, time, token), ends the transfer with ham::operation_cancelled. It
/// then goes in parts of 1 MiB, each of which begins when the one before has ended and this node makes progress; within
/// one node copy is one part. Behind a stop none begins; the future settles when the part that is under way has ended,
/// at once if that is a message, and with not_run if nothing has moved. Errors are in the future. Throws std::bad_alloc
/// besides.
///
/// So that this holds while the node is stopped, transfers with a deadline go in messages over tcp, and over MPI
/// between machines, where those without one wait for the node.
template <detail::transferable Element>
future<void> put(transfer_destination to, const std::type_identity_t<Element>* src, buffer_ptr<Element> dst,
                 std::size_t count) {
  return detail::put_bytes(detail::engine_of_transfer(to, dst.node(), dst.node()), src, dst.node(), detail::raw(dst),
                           detail::bytes_for<Element>(count), detail::element_of<Element>(), detail::terms_of(to));
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> get(
    transfer_destination to, buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst,
    std::size_t count) {
  return detail::get_bytes(detail::engine_of_transfer(to, src.node(), src.node()), src.node(), detail::raw(src), dst,
                           detail::bytes_for<Element>(count), detail::element_of<std::remove_const_t<Element>>(),
                           detail::terms_of(to));
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> copy(
    transfer_destination to, buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, std::size_t count) {
  return detail::copy_bytes(detail::engine_of_transfer(to, src.node(), dst.node()), src.node(), detail::raw(src),
                            dst.node(), detail::raw(dst), detail::bytes_for<Element>(count),
                            detail::element_of<std::remove_const_t<Element>>(), detail::terms_of(to));
}

/// The same of blocks of rows.
template <detail::transferable Element>
future<void> put(transfer_destination to, const std::type_identity_t<Element>* src, buffer_ptr<Element> dst,
                 const block& what) {
  return detail::put_rows(detail::engine_of_transfer(to, dst.node(), dst.node()), src, dst.node(), detail::raw(dst),
                          detail::rows_of(what, sizeof(Element)), detail::element_of<Element>(), detail::terms_of(to));
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> get(
    transfer_destination to, buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst,
    const block& what) {
  return detail::get_rows(detail::engine_of_transfer(to, src.node(), src.node()), src.node(), detail::raw(src), dst,
                          detail::rows_of(what, sizeof(Element)), detail::element_of<std::remove_const_t<Element>>(),
                          detail::terms_of(to));
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>> future<void> copy(
    transfer_destination to, buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst, const block& what) {
  return detail::copy_rows(detail::engine_of_transfer(to, src.node(), dst.node()), src.node(), detail::raw(src),
                           dst.node(), detail::raw(dst), detail::rows_of(what, sizeof(Element)),
                           detail::element_of<std::remove_const_t<Element>>(), detail::terms_of(to));
}

/// The same, complete on return, and moved by the calling thread alone; errors are thrown.
template <detail::transferable Element>
void put_sync(transfer_destination to, const std::type_identity_t<Element>* src, buffer_ptr<Element> dst,
              std::size_t count) {
  detail::put_bytes(detail::engine_of_transfer(to, dst.node(), dst.node()), src, dst.node(), detail::raw(dst),
                    detail::bytes_for<Element>(count), detail::element_of<Element>(),
                    detail::terms_of(to, detail::moved_by::caller))
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void get_sync(transfer_destination to, buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst,
              std::size_t count) {
  detail::get_bytes(detail::engine_of_transfer(to, src.node(), src.node()), src.node(), detail::raw(src), dst,
                    detail::bytes_for<Element>(count), detail::element_of<std::remove_const_t<Element>>(),
                    detail::terms_of(to, detail::moved_by::caller))
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void copy_sync(transfer_destination to, buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst,
               std::size_t count) {
  offload::copy(std::move(to), src, dst, count).get();
}
template <detail::transferable Element>
void put_sync(transfer_destination to, const std::type_identity_t<Element>* src, buffer_ptr<Element> dst,
              const block& what) {
  detail::put_rows(detail::engine_of_transfer(to, dst.node(), dst.node()), src, dst.node(), detail::raw(dst),
                   detail::rows_of(what, sizeof(Element)), detail::element_of<Element>(),
                   detail::terms_of(to, detail::moved_by::caller))
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void get_sync(transfer_destination to, buffer_ptr<Element> src, std::type_identity_t<std::remove_const_t<Element>>* dst,
              const block& what) {
  detail::get_rows(detail::engine_of_transfer(to, src.node(), src.node()), src.node(), detail::raw(src), dst,
                   detail::rows_of(what, sizeof(Element)), detail::element_of<std::remove_const_t<Element>>(),
                   detail::terms_of(to, detail::moved_by::caller))
      .get();
}
template <class Element>
requires detail::transferable<std::remove_const_t<Element>>
void copy_sync(transfer_destination to, buffer_ptr<Element> src, buffer_ptr<std::remove_const_t<Element>> dst,
               const block& what) {
  offload::copy(std::move(to), src, dst, what).get();
}

}  // namespace ham::offload
