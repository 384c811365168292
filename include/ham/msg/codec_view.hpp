// Codecs of std::string_view and std::span<const Element>: arguments that the receiver sees in place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ham/msg/codec_container.hpp"
#include "ham/msg/codec_std.hpp"

namespace ham::inline v1::msg {

/// A received range of elements: refers to the message if they lie there as they would in memory, else owns a copy.
/// Converts to std::span<const Element>, valid as long as this object and the message.
template <class Element, std::size_t Extent = std::dynamic_extent>
class decoded_span {
 public:
  // A std::vector<bool> has no bool objects to refer to.
  using storage = std::vector<std::conditional_t<std::is_same_v<Element, bool>, std::byte, Element>>;

  explicit decoded_span(std::span<const Element> in_message) noexcept : view_(in_message) {}
  explicit decoded_span(storage copy) noexcept : owned_(std::move(copy)) {}

  [[nodiscard]] std::span<const Element> get() const noexcept {
    return owned_.empty() ? view_
                          : std::span<const Element>(reinterpret_cast<const Element*>(owned_.data()), owned_.size());
  }
  operator std::span<const Element, Extent>() const noexcept {
    return std::span<const Element, Extent>(get().data(), get().size());
  }
  [[nodiscard]] bool in_place() const noexcept { return owned_.empty(); }

 private:
  std::span<const Element> view_;
  storage owned_;
};

/// A received string of characters wider than a byte: as decoded_span, converts to the string view.
template <class Char, class Traits>
class decoded_string_view {
 public:
  using view = std::basic_string_view<Char, Traits>;
  explicit decoded_string_view(view in_message) noexcept : view_(in_message) {}
  explicit decoded_string_view(std::basic_string<Char, Traits> copy) noexcept : owned_(std::move(copy)) {}

  operator view() const noexcept { return owned_.empty() ? view_ : view(owned_); }

 private:
  view view_;
  std::basic_string<Char, Traits> owned_;
};

namespace detail {

template <class Char, class Traits>
struct standard_codec<std::basic_string_view<Char, Traits>> : varying_codec<8> {
  using view = std::basic_string_view<Char, Traits>;
  using owning = standard_codec<std::basic_string<Char, Traits>>;
  static constexpr bool valid = owning::valid;

  static constexpr std::size_t size(view value) noexcept { return 8 + value.size() * sizeof(Char); }
  static void write(writer& to, view value) {
    to.count(value.size());
    write_elements(to, value.data(), value.size());
  }
  static auto read(reader& from) {
    const std::size_t length = from.count(sizeof(Char));
    if constexpr (sizeof(Char) == 1) {
      return view(reinterpret_cast<const Char*>(from.view(length).data()), length);
    } else {
      if (codec_for<Char>::bulk && is_aligned_for<Char>(from.view(0).data())) {
        const std::byte* const bytes = from.view(length * sizeof(Char)).data();
        return decoded_string_view<Char, Traits>(view(reinterpret_cast<const Char*>(bytes), length));
      }
      return decoded_string_view<Char, Traits>(owning::read_counted(from, length));
    }
  }
  static void layout(std::string& to) { string_layout<Char>(to); }
};

template <class Element, std::size_t Extent>
struct standard_codec<std::span<const Element, Extent>> : varying_codec<8> {
  using span = std::span<const Element, Extent>;
  static constexpr bool valid = storable_v<Element>;

  static constexpr std::size_t size(span value) {
    if constexpr (fixed_size_v<Element>) {
      return 8 + value.size() * element_min_v<Element>;
    } else {
      std::size_t sum = 8;
      for (const Element& element : value) sum += element_size(element);
      return sum;
    }
  }
  static void write(writer& to, span value) {
    to.count(value.size());
    if constexpr (codec_for<Element>::bulk) {
      to.bytes(value.data(), value.size() * sizeof(Element));
    } else {
      for (const Element& element : value) write_element(to, element);
    }
  }
  static decoded_span<Element, Extent> read(reader& from) {
    const std::size_t count = from.count(element_min_v<Element>);
    if (Extent != std::dynamic_extent && count != Extent) [[unlikely]] {
      throw_malformed("a span of fixed extent has another number of elements");
    }
    if constexpr (std::is_same_v<Element, bool>) {
      std::vector<std::byte> truths(count);
      for (std::byte& truth : truths) truth = std::byte{from.flag()};
      return decoded_span<Element, Extent>(std::move(truths));
    } else {
      if constexpr (codec_for<Element>::bulk) {
        if (is_aligned_for<Element>(from.view(0).data())) {
          const std::byte* const bytes = from.view(count * sizeof(Element)).data();
          return decoded_span<Element, Extent>(
              std::span<const Element>(reinterpret_cast<const Element*>(bytes), count));
        }
      }
      return decoded_span<Element, Extent>(standard_codec<std::vector<Element>>::read_counted(from, count));
    }
  }
  static void layout(std::string& to) { append(to, "vec<", layout_text<Element>(), ">"); }
};

}  // namespace detail
}  // namespace ham::msg
