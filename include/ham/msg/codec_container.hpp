// Codecs of the standard containers: a count, then the elements.
#pragma once

#include <utility>
#include <vector>

#include "ham/msg/codec_basic.hpp"

namespace ham::inline v1::msg::detail {

/// Reads objects of a bulk type out of bytes that need not be aligned for it.
template <class Value>
class unaligned_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = const Value*;
  using reference = Value;

  explicit unaligned_iterator(const std::byte* at) noexcept : at_(at) {}
  Value operator*() const { return object_from_bytes<Value>(at_); }
  unaligned_iterator& operator++() noexcept { return *this += 1; }
  unaligned_iterator& operator+=(difference_type count) noexcept {
    at_ += count * static_cast<difference_type>(sizeof(Value));
    return *this;
  }
  friend bool operator==(const unaligned_iterator&, const unaligned_iterator&) = default;
  friend difference_type operator-(const unaligned_iterator& left, const unaligned_iterator& right) noexcept {
    return (left.at_ - right.at_) / static_cast<difference_type>(sizeof(Value));
  }

 private:
  const std::byte* at_;
};

template <class Value>
inline bool is_aligned_for(const std::byte* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(Value) == 0;
}

// The functors and allocators of containers do not travel: the receiver's are new ones, so they must have no state.
template <class... Functors>
inline constexpr bool stateless_v = ((std::is_empty_v<Functors> && std::is_default_constructible_v<Functors>)&&...);

/// Sizes and writes any container by walking over it.
template <class Container, class Element>
struct range_codec : varying_codec<8> {
  static constexpr std::size_t size(const Container& value) {
    std::size_t sum = 8;
    for (const auto& element : value) sum += element_size(element);
    return sum;
  }
  static void write(writer& to, const Container& value) {
    std::size_t count = 0;  // a forward_list does not know its size
    for (auto at = value.begin(); at != value.end(); ++at) ++count;
    to.count(count);
    for (const auto& element : value) write_element(to, element);
  }

 protected:
  /// Number of elements that the bytes under the reader can really hold.
  static std::size_t read_count(reader& from) { return from.count(element_min_v<Element>); }

  static void layout_as(std::string& to, const char* name) { append(to, name, "<", layout_text<Element>(), ">"); }
};

template <class Value, class Allocator>
struct standard_codec<std::vector<Value, Allocator>> : range_codec<std::vector<Value, Allocator>, Value> {
  using vector = std::vector<Value, Allocator>;
  using range = range_codec<vector, Value>;
  static constexpr bool valid = storable_v<Value> && std::is_default_constructible_v<Allocator>;

  static constexpr std::size_t size(const vector& value) {
    if constexpr (fixed_size_v<Value>) {
      return 8 + value.size() * element_min_v<Value>;
    } else {
      return range::size(value);
    }
  }
  static void write(writer& to, const vector& value) {
    if constexpr (codec_for<Value>::bulk) {
      to.count(value.size());
      to.bytes(value.data(), value.size() * sizeof(Value));
    } else {
      range::write(to, value);
    }
  }
  static vector read(reader& from) { return read_counted(from, range::read_count(from)); }
  static vector read_counted(reader& from, std::size_t count) {
    if constexpr (codec_for<Value>::bulk) {
      const std::byte* const bytes = from.view(count * sizeof(Value)).data();
      if (is_aligned_for<Value>(bytes)) {
        const Value* const elements = reinterpret_cast<const Value*>(bytes);
        if (count * sizeof(Value) < worth_expecting) [[likely]]
          return vector(elements, elements + count);
        vector value;
        value.reserve(count);
        expect_writes(value.data(), count * sizeof(Value));
        value.assign(elements, elements + count);
        return value;
      }
      return vector(unaligned_iterator<Value>(bytes), unaligned_iterator<Value>(bytes + count * sizeof(Value)));
    } else {
      vector value;
      // Few bytes may stand for much memory (a large optional): room grows with what really arrives.
      constexpr std::size_t at_once = (std::size_t{1} << 20) / sizeof(Value) + 1;
      value.reserve(count < at_once ? count : at_once);
      for (std::size_t index = 0; index < count; ++index) value.push_back(read_element<Value>(from));
      return value;
    }
  }
  static void layout(std::string& to) { range::layout_as(to, "vec"); }
};

/// Eight elements to a byte.
template <class Allocator>
struct standard_codec<std::vector<bool, Allocator>> : varying_codec<8> {
  using vector = std::vector<bool, Allocator>;
  static constexpr bool valid = std::is_default_constructible_v<Allocator>;

  static constexpr std::size_t size(const vector& value) { return 8 + bytes_for(value.size()); }
  static void write(writer& to, const vector& value) {
    to.count(value.size());
    std::byte* const bits = to.take(bytes_for(value.size()));
    for (std::size_t index = 0; index < bytes_for(value.size()); ++index) bits[index] = std::byte{0};
    for (std::size_t index = 0; index < value.size(); ++index) {
      if (value[index]) bits[index / 8] |= std::byte{1} << (index % 8);
    }
  }
  static vector read(reader& from) {
    const auto count = from.number<std::uint64_t>();
    if (count / 8 > from.remaining()) [[unlikely]] {
      throw_malformed("more elements announced than the message has room for");
    }
    const std::byte* const bits = from.view(bytes_for(static_cast<std::size_t>(count))).data();
    vector value(static_cast<std::size_t>(count));
    for (std::size_t index = 0; index < value.size(); ++index)
      value[index] = (bits[index / 8] >> (index % 8) & std::byte{1}) != std::byte{0};
    return value;
  }
  static void layout(std::string& to) { append(to, "vec<bit>"); }

 private:
  static constexpr std::size_t bytes_for(std::size_t bits) noexcept { return bits / 8 + (bits % 8 != 0 ? 1 : 0); }
};

/// std::deque and std::list.
template <class Container>
struct sequence_codec : range_codec<Container, typename Container::value_type> {
  using element = typename Container::value_type;
  static constexpr bool valid =
      storable_v<element> && std::is_default_constructible_v<typename Container::allocator_type>;

  static Container read(reader& from) {
    Container value;
    for (std::size_t left = sequence_codec::read_count(from); left != 0; --left) {
      value.push_back(read_element<element>(from));
    }
    return value;
  }
  static void layout(std::string& to) { sequence_codec::layout_as(to, "seq"); }
};

template <class Value, class Allocator>
struct standard_codec<std::deque<Value, Allocator>> : sequence_codec<std::deque<Value, Allocator>> {};
template <class Value, class Allocator>
struct standard_codec<std::list<Value, Allocator>> : sequence_codec<std::list<Value, Allocator>> {};

template <class Value, class Allocator>
struct standard_codec<std::forward_list<Value, Allocator>> : range_codec<std::forward_list<Value, Allocator>, Value> {
  using list = std::forward_list<Value, Allocator>;
  static constexpr bool valid = storable_v<Value> && std::is_default_constructible_v<Allocator>;

  static list read(reader& from) {
    list value;
    auto last = value.before_begin();
    for (std::size_t left = standard_codec::read_count(from); left != 0; --left) {
      last = value.insert_after(last, read_element<Value>(from));
    }
    return value;
  }
  static void layout(std::string& to) { standard_codec::layout_as(to, "seq"); }
};

template <class Set, class... Functors>
struct set_codec : range_codec<Set, typename Set::key_type> {
  using key = typename Set::key_type;
  static constexpr bool valid =
      storable_v<key> && stateless_v<Functors...> && std::is_default_constructible_v<typename Set::allocator_type>;

  static Set read(reader& from) {
    Set value;
    for (std::size_t left = set_codec::read_count(from); left != 0; --left) {
      value.emplace_hint(value.end(), read_element<key>(from));
    }
    return value;
  }
  static void layout(std::string& to) { set_codec::layout_as(to, "set"); }
};

template <class Map, class... Functors>
struct map_codec : range_codec<Map, std::pair<typename Map::key_type, typename Map::mapped_type>> {
  using element = std::pair<typename Map::key_type, typename Map::mapped_type>;
  static constexpr bool valid = storable_v<typename Map::key_type> && storable_v<typename Map::mapped_type> &&
                                stateless_v<Functors...> &&
                                std::is_default_constructible_v<typename Map::allocator_type>;

  static Map read(reader& from) {
    Map value;
    for (std::size_t left = map_codec::read_count(from); left != 0; --left) {
      value.insert(value.end(), read_element<element>(from));
    }
    return value;
  }
  static void layout(std::string& to) {
    append(to, "map<", layout_text<typename Map::key_type, typename Map::mapped_type>(), ">");
  }
};

template <class Value, class Less, class Allocator>
struct standard_codec<std::set<Value, Less, Allocator>> : set_codec<std::set<Value, Less, Allocator>, Less> {};
template <class Value, class Less, class Allocator>
struct standard_codec<std::multiset<Value, Less, Allocator>> : set_codec<std::multiset<Value, Less, Allocator>, Less> {
};
template <class Value, class Hash, class Equal, class Allocator>
struct standard_codec<std::unordered_set<Value, Hash, Equal, Allocator>>
    : set_codec<std::unordered_set<Value, Hash, Equal, Allocator>, Hash, Equal> {};
template <class Value, class Hash, class Equal, class Allocator>
struct standard_codec<std::unordered_multiset<Value, Hash, Equal, Allocator>>
    : set_codec<std::unordered_multiset<Value, Hash, Equal, Allocator>, Hash, Equal> {};

template <class Key, class Mapped, class Less, class Allocator>
struct standard_codec<std::map<Key, Mapped, Less, Allocator>>
    : map_codec<std::map<Key, Mapped, Less, Allocator>, Less> {};
template <class Key, class Mapped, class Less, class Allocator>
struct standard_codec<std::multimap<Key, Mapped, Less, Allocator>>
    : map_codec<std::multimap<Key, Mapped, Less, Allocator>, Less> {};
template <class Key, class Mapped, class Hash, class Equal, class Allocator>
struct standard_codec<std::unordered_map<Key, Mapped, Hash, Equal, Allocator>>
    : map_codec<std::unordered_map<Key, Mapped, Hash, Equal, Allocator>, Hash, Equal> {};
template <class Key, class Mapped, class Hash, class Equal, class Allocator>
struct standard_codec<std::unordered_multimap<Key, Mapped, Hash, Equal, Allocator>>
    : map_codec<std::unordered_multimap<Key, Mapped, Hash, Equal, Allocator>, Hash, Equal> {};

}  // namespace ham::msg::detail
