// put, get and copy with ranges and buffers in place of pointers and counts.
//
//     std::vector<double> here(n);
//     offload::buffer<double> there(1, n);
//     offload::put(here, there).get();                        // all of it: std::span{here}, an array, ...
//     offload::get(there.subspan(10, 5), std::span{here}.first(5)).get();
//     offload::copy(there.subspan(0, 5), elsewhere).get();
//
// The local range says how many elements move. The remote side may be a buffer, a buffer_span or a buffer_ptr; of the
// first two it is known here whether there are as many: else ham::buffer_error is thrown at once and nothing moves.
// A buffer names its runtime, too, which then moves the bytes, whatever runtime the calling thread works for.
// Everything else is as for the verbs with pointers (memory.hpp): what must stay alive, order, threads, blocking.
//
// Each verb takes a destination in front, as those with pointers do (transfer.hpp):
//
//     offload::put(offload::within(1, 200ms), here, there).get();
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "ham/offload/buffer_span.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/transfer.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// std::vector, std::array, std::span, std::string, C arrays, and whatever else has its elements in a row.
template <class Range>
concept contiguous = requires(Range& range) {
  *std::data(range);
  static_cast<std::size_t>(std::size(range));
  requires std::is_pointer_v<decltype(std::data(range))>;
};
template <class Range>
using element_in = std::remove_pointer_t<decltype(std::data(std::declval<std::remove_reference_t<Range>&>()))>;

template <class Range>
inline constexpr bool is_span = false;
template <class Element, std::size_t Extent>
inline constexpr bool is_span<std::span<Element, Extent>> = true;

/// Its elements do not go with it: a transfer may still be under way when the object itself has gone.
template <class Range>
concept outlives_statement = std::is_lvalue_reference_v<Range> || is_span<std::remove_cvref_t<Range>>;

template <class Memory>
struct remote_memory {};
template <class Element>
struct remote_memory<buffer_ptr<Element>> {
  using element = Element;
  static buffer_ptr<Element> at(const buffer_ptr<Element>& memory, std::size_t, const char*) noexcept { return memory; }
  static destination where(const buffer_ptr<Element>& memory) noexcept { return memory.node(); }
};
template <class Element>
struct remote_memory<buffer_span<Element>> {
  using element = Element;
  static buffer_ptr<Element> at(const buffer_span<Element>& memory, std::size_t count, const char* verb) {
    if (count > memory.size()) throw_too_short(verb, count, memory.size());
    return memory.ptr();
  }
  static destination where(const buffer_span<Element>& memory) noexcept { return memory.node(); }
};
template <class Element>
struct remote_memory<buffer<Element>> {
  using element = Element;
  static buffer_ptr<Element> at(const buffer<Element>& memory, std::size_t count, const char* verb) {
    return remote_memory<buffer_span<Element>>::at(memory, count, verb);
  }
  static destination where(const buffer<Element>& memory) noexcept { return memory.where(); }
};

template <class Memory>
concept remote = requires {
  typename remote_memory<Memory>::element;
};
/// Of those, what knows its length.
template <class Memory>
concept remote_range = remote<Memory> && requires(const Memory& memory) {
  memory.size();
};
template <class Memory>
using remote_element = typename remote_memory<Memory>::element;

template <class Memory>
[[nodiscard]] auto place_in(const Memory& memory, std::size_t count, const char* verb) {
  return remote_memory<Memory>::at(memory, count, verb);
}
/// Its node, and its runtime if it names one.
template <class Memory>
[[nodiscard]] destination where_is(const Memory& memory) noexcept {
  return remote_memory<Memory>::where(memory);
}
/// `to` under the runtime that the memory names. Throws ham::buffer_error if `to` names another one.
template <class Memory>
[[nodiscard]] destination reaching(destination to, const Memory& memory) {
  const destination own = where_is(memory);
  if (own.runtime == 0 || own.runtime == to.runtime) return to;
  if (to.runtime != 0) throw_other_runtime(own.node);
  to.runtime = own.runtime;
  return to;
}
template <class Memory>
[[nodiscard]] transfer_destination reaching(transfer_destination to, const Memory& memory) {
  to.where = reaching(to.where, memory);
  return to;
}

/// The elements of Range may be sent to, or read from, Memory.
template <class Range, class Memory>
concept fills = remote<Memory> && contiguous<std::remove_reference_t<Range>> &&
    std::is_same_v<std::remove_const_t<element_in<Range>>, remote_element<Memory>>;
template <class Range, class Memory>
concept filled_from = remote<Memory> && contiguous<std::remove_reference_t<Range>> &&
    std::is_same_v<element_in<Range>, std::remove_const_t<remote_element<Memory>>>;
template <class Source, class Target>
concept copies = remote<Source> && remote<Target> &&
    std::is_same_v<std::remove_const_t<remote_element<Source>>, remote_element<Target>>;

}  // namespace detail

/// Writes all elements of `source` to the beginning of `target`. The elements, not a std::span of them, must stay until
/// the future has settled: a temporary container does not compile.
template <class Range, class Memory>
requires detail::fills<Range, Memory> future<void> put(transfer_destination to, Range&& source, const Memory& target) {
  static_assert(detail::outlives_statement<Range>,
                "ham: this range is a temporary, which may be gone before its elements have been sent. Give it a name, "
                "or use put_sync");
  const std::size_t count = std::size(source);
  return offload::put(detail::reaching(to, target), std::data(source), detail::place_in(target, count, "put"), count);
}
template <class Range, class Memory>
requires detail::fills<Range, Memory> future<void> put(Range&& source, const Memory& target) {
  static_assert(detail::outlives_statement<Range>,
                "ham: this range is a temporary, which may be gone before its elements have been sent. Give it a name, "
                "or use put_sync");
  const std::size_t count = std::size(source);
  return offload::put(detail::where_is(target), std::data(source), detail::place_in(target, count, "put"), count);
}
/// Fills all of `target` from the beginning of `source`.
template <class Memory, class Range>
requires detail::filled_from<Range, Memory> future<void> get(transfer_destination to, const Memory& source,
                                                             Range&& target) {
  static_assert(detail::outlives_statement<Range>, "ham: this range is a temporary; what is read into it is lost");
  const std::size_t count = std::size(target);
  return offload::get(detail::reaching(to, source), detail::place_in(source, count, "get"), std::data(target), count);
}
template <class Memory, class Range>
requires detail::filled_from<Range, Memory> future<void> get(const Memory& source, Range&& target) {
  return offload::get(detail::where_is(source), source, static_cast<Range&&>(target));
}
/// Copies all elements of `source`, a buffer or a buffer_span, to the beginning of `target`. Throws ham::buffer_error
/// if both name a runtime, and not the same.
template <detail::remote_range Source, class Target>
requires detail::copies<Source, Target> future<void> copy(transfer_destination to, const Source& source,
                                                          const Target& target) {
  return offload::copy(detail::reaching(detail::reaching(to, source), target),
                       detail::place_in(source, source.size(), "copy"), detail::place_in(target, source.size(), "copy"),
                       source.size());
}
template <detail::remote_range Source, class Target>
requires detail::copies<Source, Target> future<void> copy(const Source& source, const Target& target) {
  return offload::copy(detail::where_is(source), source, target);
}

/// The same, complete on return; errors are thrown.
template <class Range, class Memory>
requires detail::fills<Range, Memory>
void put_sync(transfer_destination to, Range&& source, const Memory& target) {
  const std::size_t count = std::size(source);
  offload::put_sync(detail::reaching(to, target), std::data(source), detail::place_in(target, count, "put"), count);
}
template <class Range, class Memory>
requires detail::fills<Range, Memory>
void put_sync(Range&& source, const Memory& target) {
  offload::put_sync(detail::where_is(target), static_cast<Range&&>(source), target);
}
template <class Memory, class Range>
requires detail::filled_from<Range, Memory>
void get_sync(transfer_destination to, const Memory& source, Range&& target) {
  static_assert(detail::outlives_statement<Range>, "ham: this range is a temporary; what is read into it is lost");
  const std::size_t count = std::size(target);
  offload::get_sync(detail::reaching(to, source), detail::place_in(source, count, "get"), std::data(target), count);
}
template <class Memory, class Range>
requires detail::filled_from<Range, Memory>
void get_sync(const Memory& source, Range&& target) {
  offload::get_sync(detail::where_is(source), source, static_cast<Range&&>(target));
}
template <detail::remote_range Source, class Target>
requires detail::copies<Source, Target>
void copy_sync(transfer_destination to, const Source& source, const Target& target) {
  offload::copy(std::move(to), source, target).get();
}
template <detail::remote_range Source, class Target>
requires detail::copies<Source, Target>
void copy_sync(const Source& source, const Target& target) { offload::copy(source, target).get(); }

// A pointer and a count, with a buffer or a buffer_span where a buffer_ptr may stand.

template <detail::remote_range Memory>
future<void> put(transfer_destination to, const detail::remote_element<Memory>* source, const Memory& target,
                 std::size_t count) {
  return offload::put(detail::reaching(to, target), source, detail::place_in(target, count, "put"), count);
}
template <detail::remote_range Memory>
future<void> put(const detail::remote_element<Memory>* source, const Memory& target, std::size_t count) {
  return offload::put(detail::where_is(target), source, detail::place_in(target, count, "put"), count);
}
template <detail::remote_range Memory>
future<void> get(transfer_destination to, const Memory& source,
                 std::remove_const_t<detail::remote_element<Memory>>* target, std::size_t count) {
  return offload::get(detail::reaching(to, source), detail::place_in(source, count, "get"), target, count);
}
template <detail::remote_range Memory>
future<void> get(const Memory& source, std::remove_const_t<detail::remote_element<Memory>>* target, std::size_t count) {
  return offload::get(detail::where_is(source), detail::place_in(source, count, "get"), target, count);
}
template <detail::remote Source, detail::remote Target>
requires detail::copies<Source, Target> &&(detail::remote_range<Source> || detail::remote_range<Target>)
    future<void> copy(transfer_destination to, const Source& source, const Target& target, std::size_t count) {
  return offload::copy(detail::reaching(detail::reaching(to, source), target), detail::place_in(source, count, "copy"),
                       detail::place_in(target, count, "copy"), count);
}
template <detail::remote Source, detail::remote Target>
requires detail::copies<Source, Target> &&
    (detail::remote_range<Source> ||
     detail::remote_range<Target>)future<void> copy(const Source& source, const Target& target, std::size_t count) {
  return offload::copy(detail::where_is(source), source, target, count);
}

template <detail::remote_range Memory>
void put_sync(transfer_destination to, const detail::remote_element<Memory>* source, const Memory& target,
              std::size_t count) {
  offload::put_sync(detail::reaching(to, target), source, detail::place_in(target, count, "put"), count);
}
template <detail::remote_range Memory>
void put_sync(const detail::remote_element<Memory>* source, const Memory& target, std::size_t count) {
  offload::put_sync(detail::where_is(target), source, detail::place_in(target, count, "put"), count);
}
template <detail::remote_range Memory>
void get_sync(transfer_destination to, const Memory& source,
              std::remove_const_t<detail::remote_element<Memory>>* target, std::size_t count) {
  offload::get_sync(detail::reaching(to, source), detail::place_in(source, count, "get"), target, count);
}
template <detail::remote_range Memory>
void get_sync(const Memory& source, std::remove_const_t<detail::remote_element<Memory>>* target, std::size_t count) {
  offload::get_sync(detail::where_is(source), detail::place_in(source, count, "get"), target, count);
}
template <detail::remote Source, detail::remote Target>
requires detail::copies<Source, Target> &&
    (detail::remote_range<Source> ||
     detail::remote_range<Target>)void copy_sync(transfer_destination to, const Source& source, const Target& target,
                                                 std::size_t count) {
  offload::copy(std::move(to), source, target, count).get();
}
template <detail::remote Source, detail::remote Target>
requires detail::copies<Source, Target> &&
    (detail::remote_range<Source> ||
     detail::remote_range<Target>)void copy_sync(const Source& source, const Target& target, std::size_t count) {
  offload::copy(source, target, count).get();
}

}  // namespace ham::offload
