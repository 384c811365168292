// The objects that other nodes have made on this one, as the templates of remote.hpp see them. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeinfo>

#include "ham/msg/customise.hpp"
#include "ham/offload/destination.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// What names an object on its node. Numbers are not used again.
struct object_id {
  std::uint64_t number = 0;  ///< 0: none
  std::uint64_t tag = 0;     ///< cannot be guessed from others

  HAM_FIELDS(number, tag)
  [[nodiscard]] friend bool operator==(const object_id&, const object_id&) noexcept = default;
};

/// What is known of the type with which an object was made.
struct object_type {
  const std::type_info* type = nullptr;
  /// Throws the object's address as a pointer to its type: catching a pointer to a base is the one conversion to a base
  /// that needs no list of bases.
  void (*raise)(void* object) = nullptr;
};

template <class Object>
inline const object_type object_type_of{&typeid(Object), [](void* object) {
#ifdef __cpp_exceptions
                                          throw static_cast<Object*>(object);
#else
                                          static_cast<void>(object);  // its bases are not found
#endif
                                        }};

/// An object that is used; it lives at least as long.
struct object_hold {
  std::shared_ptr<void> object;
  const object_type* type = nullptr;
};

/// The object lives until it is destroyed by destroy_object, or its node's runtime ends.
[[nodiscard]] object_id keep_object(std::shared_ptr<void> object, const object_type& type);
/// An object of the node that the calling thread works for. Throws ham::object_error; `node` is where the handle says
/// that it lives.
[[nodiscard]] object_hold find_object(node_t node, object_id which);
/// Destroys an object of any node as soon as nobody uses it there. Blocking, at most until the deadline of `to`. Throws
/// ham::object_error as find_object, and as offload::sync.
void destroy_object(const destination& to, object_id which);
/// The same without waiting for it, for an object that came late; errors are ignored.
void destroy_late(const destination& to, object_id which) noexcept;
/// For destructors: errors are ignored, and a node that is stopped is not waited for; nobody at all longer than
/// `limit_ns`, if that is not negative. Does nothing if the runtime of that number has ended. False: the node was given
/// up.
bool destroy_at_end(std::uint64_t runtime, node_t node, object_id which, std::int64_t limit_ns = -1) noexcept;
/// Where a base of type `wanted` lies in an object of type `made`; remembered from earlier ones.
[[nodiscard]] bool find_base(const std::type_info& made, const std::type_info& wanted, std::ptrdiff_t& offset);
void remember_base(const std::type_info& made, const std::type_info& wanted, std::ptrdiff_t offset);
[[noreturn]] void throw_no_object();
[[noreturn]] void throw_other_type(const std::type_info& made, const std::type_info& wanted);

/// The object as an Object: what it was made as, or a public, unambiguous base of that.
template <class Object>
[[nodiscard]] Object& object_as(const object_hold& held) {
  void* const object = held.object.get();
  if (*held.type->type == typeid(Object)) return *static_cast<Object*>(object);
  std::ptrdiff_t offset = 0;
  if (find_base(*held.type->type, typeid(Object), offset)) {
    return *static_cast<Object*>(static_cast<void*>(static_cast<std::byte*>(object) + offset));
  }
#ifdef __cpp_exceptions
  try {
    held.type->raise(object);
  } catch (Object* base) {
    remember_base(*held.type->type, typeid(Object),
                  reinterpret_cast<std::byte*>(base) - static_cast<std::byte*>(object));
    return *base;
  } catch (...) {  // a pointer to another type
  }
#endif
  throw_other_type(*held.type->type, typeid(Object));
}

}  // namespace ham::detail
