// How exceptions of an application's own travel back.
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

#include "ham/msg/codec.hpp"

namespace ham::inline v1 {

namespace detail {
struct exception_codec {
  const std::type_info* type;
  std::string name;
  std::string (*encode)(const std::exception_ptr& what);
  void (*rethrow)(msg::reader& from);  // always throws
};
void add_exception_codec(exception_codec codec);
}  // namespace detail

#ifdef __cpp_exceptions
/// Makes exceptions of exactly the type Exception travel from targets to callers as themselves. Exception must be able
/// to cross (HAM_FIELDS, a serialize member, a codec), or be constructible from a std::string and have a what(). Call
/// it once before the first call, in all nodes: a namespace-scope `static const bool` initialised by it does.
template <class Exception>
bool register_exception() {
  detail::add_exception_codec({&typeid(Exception), typeid(Exception).name(),
                               [](const std::exception_ptr& what) {
                                 try {
                                   std::rethrow_exception(what);
                                 } catch (const Exception& thrown) {
                                   if constexpr (msg::crosses<Exception>) {
                                     std::string bytes(msg::encoded_size(thrown), '\0');
                                     msg::writer to(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
                                     msg::encode(to, thrown);
                                     to.expect_full();
                                     return bytes;
                                   } else {
                                     return std::string(thrown.what());
                                   }
                                 }
                               },
                               [](msg::reader& from) {
                                 if constexpr (msg::crosses<Exception>) {
                                   throw Exception(msg::decode<Exception>(from));
                                 } else {
                                   const auto bytes = from.view(from.remaining());
                                   throw Exception(
                                       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
                                 }
                               }});
  return true;
}
#endif

}  // namespace ham
