// Archives in the style of cereal: what a class's serialize function, a member or not, is called with.
#pragma once

#include <utility>

#include "ham/msg/codec_basic.hpp"

namespace ham::inline v1::msg {

namespace detail {

/// The spellings that all archives share: ar(a, b), ar & a & b, and << or >>.
template <class Derived>
class archive {
 public:
  template <class... Members>
  Derived& operator()(Members&&... members) {
    (self().one(members), ...);
    return self();
  }
  template <class Member>
  Derived& operator&(Member&& member) {
    self().one(member);
    return self();
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

template <class Derived>
class saving_archive : public archive<Derived> {
 public:
  using is_saving = std::true_type;
  using is_loading = std::false_type;
  template <class Member>
  Derived& operator<<(const Member& member) {
    return (*this)(member);
  }
};

}  // namespace detail

/// Adds up the encoded sizes of a class's members.
class size_archive : public detail::saving_archive<size_archive> {
 public:
  /// Bytes of all members so far.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  friend class detail::archive<size_archive>;
  template <class Member>
  void one(const Member& member) {
    size_ += encoded_size(member);
  }
  std::size_t size_ = 0;
};

/// Writes a class's members.
class write_archive : public detail::saving_archive<write_archive> {
 public:
  /// Appends to `to`, which must outlive it.
  explicit write_archive(writer& to) noexcept : to_(to) {}

 private:
  friend class detail::archive<write_archive>;
  template <class Member>
  void one(const Member& member) {
    encode(to_, member);
  }
  writer& to_;
};

/// Reads a class's members.
class read_archive : public detail::archive<read_archive> {
 public:
  using is_saving = std::false_type;  ///< as the archives of cereal say it: `if constexpr (Archive::is_loading::value)`
  using is_loading = std::true_type;  ///< see is_saving
  /// Takes its bytes from `from`, which must outlive it.
  explicit read_archive(reader& from) noexcept : from_(from) {}
  /// Reads one member, as ar(member). Throws ham::protocol_error for bytes that are none.
  template <class Member>
  read_archive& operator>>(Member& member) {
    return (*this)(member);
  }

 private:
  friend class detail::archive<read_archive>;
  template <class Member>
  void one(Member& member) {
    decode_into(from_, member);
  }
  reader& from_;
};

/// Lists the layouts of a class's members.
class layout_archive : public detail::saving_archive<layout_archive> {
 public:
  /// Appends to `to`, which must outlive it: ":" before the first layout, "," between them.
  explicit layout_archive(std::string& to) noexcept : to_(to) {}

 private:
  friend class detail::archive<layout_archive>;
  template <class Member>
  void one(const Member&) {
    to_ += separator_;
    append_layout<Member>(to_);
    separator_ = ',';
  }
  std::string& to_;
  char separator_ = ':';
};

namespace detail {

template <class Value>
concept has_serialize_member = requires(Value& object, size_archive& to) {
  access::serialize(object, to);
};
template <class Value>
concept has_versioned_serialize = requires(Value& object, size_archive& to) {
  access::serialize_versioned(object, to);
};
template <class Value>
concept has_save_and_load = requires(Value& object, size_archive& to, read_archive& from) {
  access::save(object, to);
  access::load(object, from);
};

// A member template inherited from a base would silently send the base's members only.
template <class Pointer>
struct class_of_member;
template <class Member, class Class>
struct class_of_member<Member Class::*> {
  using type = Class;
};
template <class Value>
concept inherits_serialize = requires {
  access::serialize_pointer<Value, size_archive>();
}
&&!std::is_same_v<typename class_of_member<decltype(access::serialize_pointer<Value, size_archive>())>::type, Value>;
template <class Value>
concept inherits_save = requires {
  access::save_pointer<Value, size_archive>();
}
&&!std::is_same_v<typename class_of_member<decltype(access::save_pointer<Value, size_archive>())>::type, Value>;

// Free functions, found by the namespace of the class: serialize(archive, value), perhaps with a version.
template <class Archive, class Value>
concept free_serializable = requires(Archive& archive, Value&& value) {
  serialize(archive, static_cast<Value&&>(value));
};
template <class Archive, class Value>
concept free_serializable_versioned = requires(Archive& archive, Value&& value) {
  serialize(archive, static_cast<Value&&>(value), 0U);
};

/// Converts to Whole& alone, or to bases of Whole alone: tells whom a function is for that takes both.
template <class Whole>
struct exactly {
  template <class Object>
  requires std::is_same_v<Object, Whole>
  operator Object&() const noexcept;
};
template <class Whole>
struct base_of {
  template <class Object>
  requires(std::is_base_of_v<Object, Whole> && !std::is_same_v<Object, Whole>) operator Object&() const noexcept;
};

/// Not the function of a base class, which would silently send the members of the base only.
template <class Value>
concept has_free_serialize_plain = free_serializable<size_archive, Value&> &&
    (free_serializable<size_archive, exactly<Value>> || !free_serializable<size_archive, base_of<Value>>);
template <class Value>
concept has_free_serialize_versioned = free_serializable_versioned<size_archive, Value&> &&
    (free_serializable_versioned<size_archive, exactly<Value>> ||
     !free_serializable_versioned<size_archive, base_of<Value>>);

template <class Value>
consteval bool has_free_serialize() {
  if constexpr (!std::is_class_v<Value>)
    return false;
  else
    return has_free_serialize_plain<Value> || has_free_serialize_versioned<Value>;
}

template <class Value, class Archive>
void run_free(Value& value, Archive& archive) {
  if constexpr (has_free_serialize_plain<Value>)
    serialize(archive, value);
  else
    serialize(archive, value, 0U);
}

template <class Value>
consteval bool has_serialize() {
  if constexpr (!std::is_class_v<Value>) {
    return false;
  } else if constexpr (has_serialize_member<Value> || has_versioned_serialize<Value>) {
    return !inherits_serialize<Value>;
  } else if constexpr (has_save_and_load<Value>) {
    return !inherits_save<Value>;
  } else {
    return false;
  }
}

/// Calls whichever function Value has with a saving archive.
template <class Value, class Archive>
void run_saving(const Value& value, Archive& to) {
  // serialize is not const because the same function reads; a saving archive does not modify.
  if constexpr (!has_serialize<Value>()) {
    run_free(const_cast<Value&>(value), to);
  } else if constexpr (has_serialize_member<Value>) {
    access::serialize(const_cast<Value&>(value), to);
  } else if constexpr (has_versioned_serialize<Value>) {
    access::serialize_versioned(const_cast<Value&>(value), to);
  } else {
    access::save(value, to);
  }
}

template <class Value>
void run_loading(Value& value, read_archive& from) {
  if constexpr (!has_serialize<Value>()) {
    run_free(value, from);
  } else if constexpr (has_serialize_member<Value>) {
    access::serialize(value, from);
  } else if constexpr (has_versioned_serialize<Value>) {
    access::serialize_versioned(value, from);
  } else {
    access::load(value, from);
  }
}

template <class Value>
struct codec_of_kind<Value, codec_kind::serialize> {
  static constexpr bool fixed = false;
  static constexpr std::size_t min_size = 0;
  static constexpr bool bulk = false;

  static std::size_t size(const Value& value) {
    const sizing_nested guard;
    size_archive to;
    run_saving(value, to);
    return to.size();
  }
  static void write(writer& out, const Value& value) {
    write_archive to(out);
    run_saving(value, to);
  }
  static Value read(reader& in) {
    static_assert(std::is_default_constructible_v<Value>,
                  "ham: a class with a serialize function must be default constructible to be received");
    const reader::nested guard(in);
    Value value{};
    read_archive from(in);
    run_loading(value, from);
    return value;
  }
  static void layout(std::string& to) {
    const describing<Value> mark;
    append(to, "serialize<");
    append_name<Value>(to);
    if (mark.first()) {
      // A default value stands for all: what depends on the value, even whether it can be made, is the class's affair.
      HAM_TRY {
        layout_archive members(to);
        run_saving(Value{}, members);
      }
      HAM_CATCH_ALL { append(to, ",?"); }
    }
    append(to, ">");
  }
};

}  // namespace detail
}  // namespace ham::msg
