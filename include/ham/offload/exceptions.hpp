// How exceptions of an application's own travel back.
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

#include "ham/msg/codec.hpp"

namespace ham {

namespace detail {
struct exception_codec {
  const std::type_info* type;
  std::string name;
  std::string (*encode)(const std::exception_ptr& what);
  void (*rethrow)(msg::reader& from);  // always throws
};
void add_exception_codec(exception_codec codec);
}  // namespace detail

/// Makes exceptions of exactly the type E travel from targets to callers as themselves. E must be able to cross
/// (HAM_FIELDS, a serialize member, a codec), or be constructible from a std::string and have a what(). Call it once
/// before the first call, in all nodes: a namespace-scope `static const bool` initialised by it does.
template <class E>
bool register_exception() {
  detail::add_exception_codec({&typeid(E), typeid(E).name(),
                               [](const std::exception_ptr& what) {
                                 try {
                                   std::rethrow_exception(what);
                                 } catch (const E& thrown) {
                                   if constexpr (msg::crosses<E>) {
                                     std::string bytes(msg::encoded_size(thrown), '\0');
                                     msg::writer to(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
                                     msg::encode(to, thrown);
                                     return bytes;
                                   } else {
                                     return std::string(thrown.what());
                                   }
                                 }
                               },
                               [](msg::reader& from) {
                                 if constexpr (msg::crosses<E>) {
                                   throw E(msg::decode<E>(from));
                                 } else {
                                   const auto bytes = from.view(from.remaining());
                                   throw E(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
                                 }
                               }});
  return true;
}

}  // namespace ham
