// Encoding of exceptions: a code for standard types, the name of others, their what(), and what registered types add.
#include "core/remote_exception.hpp"

#include <cxxabi.h>

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <typeinfo>
#include <variant>

#include "core/exception_fields.hpp"
#include "core/node_loss.hpp"
#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/names.hpp"
#include "ham/offload/exceptions.hpp"

namespace ham::inline v1::detail {
namespace {

/// Code on the wire, type, and how to make one from its text. The order is part of the wire format.
struct standard_type {
  const std::type_info& type;
  std::exception_ptr (*make)(const std::string& what);
};
template <class E>
std::exception_ptr with_text(const std::string& what) {
  return std::make_exception_ptr(E(what));
}
/// Nodes of other versions may send none, or one that this one does not know.
call_error_reason reason_in(std::string_view extra) {
  if (extra.size() > 1) throw protocol_error("a refused call with more than a reason");
  const auto code = extra.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(extra[0]);
  return code > static_cast<std::uint8_t>(call_error_reason::wrong_size) ? call_error_reason::unspecified
                                                                         : static_cast<call_error_reason>(code);
}
template <class E>
std::exception_ptr without_text(const std::string&) {
  return std::make_exception_ptr(E());
}
const standard_type standard_types[] = {
    {typeid(std::logic_error), with_text<std::logic_error>},
    {typeid(std::invalid_argument), with_text<std::invalid_argument>},
    {typeid(std::domain_error), with_text<std::domain_error>},
    {typeid(std::length_error), with_text<std::length_error>},
    {typeid(std::out_of_range), with_text<std::out_of_range>},
    {typeid(std::runtime_error), with_text<std::runtime_error>},
    {typeid(std::range_error), with_text<std::range_error>},
    {typeid(std::overflow_error), with_text<std::overflow_error>},
    {typeid(std::underflow_error), with_text<std::underflow_error>},
    {typeid(std::bad_alloc), without_text<std::bad_alloc>},
    {typeid(std::bad_array_new_length), without_text<std::bad_array_new_length>},
    {typeid(std::bad_cast), without_text<std::bad_cast>},
    {typeid(std::bad_typeid), without_text<std::bad_typeid>},
    {typeid(std::bad_exception), without_text<std::bad_exception>},
    {typeid(std::bad_function_call), without_text<std::bad_function_call>},
    {typeid(std::bad_optional_access), without_text<std::bad_optional_access>},
    {typeid(std::bad_variant_access), without_text<std::bad_variant_access>},
    {typeid(std::bad_any_cast), without_text<std::bad_any_cast>},
    {typeid(std::bad_weak_ptr), without_text<std::bad_weak_ptr>},
    {typeid(buffer_error), with_text<buffer_error>},
    {typeid(call_error), with_text<call_error>},
    {typeid(config_error), with_text<config_error>},
    {typeid(object_error), with_text<object_error>},
};
constexpr std::uint8_t standard_count = sizeof standard_types / sizeof standard_types[0];
constexpr std::uint8_t not_run_code = 249;  // the node ended first
constexpr std::uint8_t user_code = 251;     // registered
constexpr std::uint8_t unknown_code = 252;  // anything else
constexpr std::uint8_t plain_code = 253;    // exactly std::exception

using encoded = encoded_exception;

std::mutex registered_mutex;
std::vector<exception_codec>& registered() {
  static auto& all = *new std::vector<exception_codec>;  // also while the process ends
  return all;
}

std::optional<exception_codec> find_registered(const std::type_info& type) {
  std::lock_guard guard(registered_mutex);
  for (const exception_codec& one : registered()) {
    if (*one.type == type) return one;
  }
  return std::nullopt;
}
std::optional<exception_codec> find_registered(const std::string& name) {
  std::lock_guard guard(registered_mutex);
  for (const exception_codec& one : registered()) {
    if (one.name == name) return one;
  }
  return std::nullopt;
}

/// what() may be null.
std::string text_or_nothing(const char* text) { return text == nullptr ? std::string() : std::string(text); }

encoded take_apart() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const std::string name = type == nullptr ? "foreign exception" : name_of_thrown(*type);
  if (type != nullptr) {
    if (const auto user = find_registered(*type)) {
      std::string what;
      try {
        throw;
      } catch (const std::exception& thrown) {
        what = text_or_nothing(thrown.what());
      } catch (...) {
        what.clear();
      }
      return {user_code, user->name, what, user->encode(std::current_exception())};
    }
  }
  if (auto with_fields = take_fields_apart(name)) return *std::move(with_fields);
  try {
    throw;
  } catch (const std::exception& thrown) {
    const std::string what = text_or_nothing(thrown.what());
    if (typeid(thrown) == typeid(std::exception)) return {plain_code, name, what, {}};
    for (std::uint8_t code = 0; code < standard_count; ++code) {
      if (standard_types[code].type != typeid(thrown)) continue;
      std::string extra;
      if (const auto* const refused = dynamic_cast<const call_error*>(&thrown))
        extra.assign(1, static_cast<char>(refused->reason()));
      return {code, name, what, extra};
    }
    return {unknown_code, name, what, {}};
  } catch (const std::string& thrown) {
    return {unknown_code, name, thrown, {}};
  } catch (const char* thrown) {
    return {unknown_code, name, text_or_nothing(thrown), {}};
  } catch (...) {
    return {unknown_code, name, {}, {}};
  }
}

/// Whose fields do not fit, or would not fit together with what is cut, becomes one of an unknown type.
void shorten(encoded& all) {
  constexpr std::size_t max_text = std::size_t{30} << 10, max_type = std::size_t{4} << 10;
  auto& [code, type, what, extra] = all;
  if (code == field_code::remote) {
    extra = shortened_origin(extra);
  } else if (code == user_code || has_fields(code)) {
    code = unknown_code;
    extra.clear();
  }
  cut_text(type, max_type);
  cut_text(what, max_text);
}

std::vector<std::byte> bytes_of(const encoded& all) {
  std::vector<std::byte> bytes(msg::encoded_size(all));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, all);
  return bytes;
}

encoded read(std::span<const std::byte> bytes) {
  msg::reader from(bytes);
  encoded result = msg::decode<encoded>(from);
  from.expect_end();
  return result;
}

}  // namespace

/// Names travel in a form that is ready to be shown: nobody demangles what a peer has sent, which can be made to grow
/// without bound.
void add_exception_codec(exception_codec codec) {
  codec.name = msg::canonical_name(codec.name.c_str());
  std::lock_guard guard(registered_mutex);
  registered().push_back(std::move(codec));
}

std::vector<std::byte> encode_not_run(const std::string& why) { return bytes_of({not_run_code, {}, why, {}}); }

std::vector<std::byte> encode_current_exception(std::uint64_t max_bytes) noexcept {
  try {
    encoded all = take_apart();
    if (msg::encoded_size(all) > max_bytes) [[unlikely]]
      shorten(all);
    return bytes_of(all);
  } catch (...) {
    return {};  // no memory to say more: the caller gets a remote_error without details
  }
}

std::vector<std::byte> encode_call_error(const std::string& why, call_error_reason reason) noexcept {
  try {
    throw call_error(why, reason);
  } catch (...) {
    return encode_current_exception();
  }
}

std::exception_ptr decode_exception(std::span<const std::byte> bytes, const std::string& function,
                                    const offload::node_descriptor::info& from) {
  const auto [code, type, what, extra] = bytes.empty() ? encoded{unknown_code, "unknown", {}, {}} : read(bytes);
  if (code < standard_count && standard_types[code].type == typeid(call_error))
    return std::make_exception_ptr(call_error(what, reason_in(extra)));
  if (code < standard_count) return standard_types[code].make(what);
  if (code == plain_code) return std::make_exception_ptr(std::exception());
  if (has_fields(code)) return make_with_fields(code, what, extra);
  if (code == not_run_code) {
    return std::make_exception_ptr(
        ending_failure(what + "; the call of " + function + " has not run (host " + from.name + ", pid " +
                           std::to_string(from.pid) + ")",
                       {from.node, from.name, from.pid, function, 0, call_outcome::not_run, true}));
  }
  if (code == user_code) {
    if (const auto user = find_registered(type)) {
      try {
        msg::reader payload(reinterpret_cast<const std::byte*>(extra.data()), extra.size());
        user->rethrow(payload);
      } catch (...) {
        return std::current_exception();
      }
    }
  }
  remote_error::origin origin{from.node, from.name, from.pid, function, type, what};
  std::string message = origin.type + " was thrown by " + function + " on node " + std::to_string(from.node) + " (" +
                        from.name + ", pid " + std::to_string(from.pid) + ")";
  if (!what.empty()) message += ": " + what;
  return std::make_exception_ptr(remote_error(message, std::move(origin)));
}

std::string describe_exception(std::span<const std::byte> bytes) noexcept {
  try {
    const auto [code, type, what, extra] = read(bytes);
    return what.empty() ? type : type + ": " + what;
  } catch (...) {
    return "an exception";
  }
}

}  // namespace ham::detail
