// Encoding of exceptions: a code for standard types, the name of others, their what(), and what registered types add.
#include "core/remote_exception.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <any>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <ios>
#include <mutex>
#include <new>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>
#include <typeinfo>
#include <variant>

#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/names.hpp"
#include "ham/offload/exceptions.hpp"

namespace ham::detail {
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
constexpr std::uint8_t failure_code = 244;   // node_failure: failure_fields
constexpr std::uint8_t deadline_code = 245;  // deadline_exceeded: outcome
constexpr std::uint8_t future_code = 246;    // std::future_error: value
constexpr std::uint8_t stream_code = 247;    // std::ios_base::failure: as system_code
constexpr std::uint8_t file_code = 248;      // std::filesystem::filesystem_error: as system_code, and the two paths
constexpr std::uint8_t not_run_code = 249;   // the node ended first
constexpr std::uint8_t system_code = 250;    // std::system_error: value and category
constexpr std::uint8_t user_code = 251;      // registered
constexpr std::uint8_t unknown_code = 252;   // anything else
constexpr std::uint8_t plain_code = 253;     // exactly std::exception

/// code, type, what, extra
using encoded = std::tuple<std::uint8_t, std::string, std::string, std::string>;

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

std::string category_and_value(const std::error_code& code) {
  return std::to_string(code.value()) + ":" + code.category().name();
}

/// Not what() of a filesystem_error, which has the paths in it.
std::string text_of(const std::system_error& thrown) { return thrown.std::runtime_error::what(); }

/// what() may be null.
std::string text_or_nothing(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// node, host, pid, function, call, outcome
using failure_fields = std::tuple<node_t, std::string, std::int64_t, std::string, std::uint64_t, std::uint8_t>;

std::string as_text(const failure_fields& fields) {
  std::string bytes(msg::encoded_size(fields), '\0');
  msg::writer to(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  msg::encode(to, fields);
  return bytes;
}

call_outcome outcome_of(std::uint8_t code) {
  if (code > static_cast<std::uint8_t>(call_outcome::ran)) throw protocol_error("an outcome of a call that is none");
  return static_cast<call_outcome>(code);
}

/// Those of HAM that say what became of a call; nullopt for types derived from them.
std::optional<encoded> take_outcome_apart(const std::string& name) {
  try {
    throw;
  } catch (const node_failure& thrown) {
    if (typeid(thrown) != typeid(node_failure)) return std::nullopt;
    return encoded{failure_code, name, thrown.what(),
                   as_text({thrown.node(), thrown.host(), thrown.pid(), thrown.function(), thrown.call(),
                            static_cast<std::uint8_t>(thrown.outcome())})};
  } catch (const deadline_exceeded& thrown) {
    if (typeid(thrown) != typeid(deadline_exceeded)) return std::nullopt;
    return encoded{deadline_code, name, thrown.what(), std::string(1, static_cast<char>(thrown.outcome()))};
  } catch (...) {
    return std::nullopt;
  }
}

std::exception_ptr make_with_outcome(std::uint8_t kind, const std::string& what, const std::string& extra) {
  if (kind == deadline_code) {
    if (extra.size() != 1) throw protocol_error("a missed deadline without an outcome");
    return std::make_exception_ptr(deadline_exceeded(what, outcome_of(static_cast<std::uint8_t>(extra[0]))));
  }
  msg::reader from(reinterpret_cast<const std::byte*>(extra.data()), extra.size());
  const auto [node, host, pid, function, call, outcome] = msg::decode<failure_fields>(from);
  from.expect_end();
  return std::make_exception_ptr(node_failure(what, {node, host, pid, function, call, outcome_of(outcome)}));
}

/// The exceptions that carry an error_code; nullopt for types derived from them.
std::optional<encoded> take_code_apart(const std::string& name) {
  try {
    throw;
  } catch (const std::filesystem::filesystem_error& thrown) {
    if (typeid(thrown) != typeid(std::filesystem::filesystem_error)) return std::nullopt;
    return encoded{file_code, name, text_of(thrown),
                   category_and_value(thrown.code()) + '\0' + thrown.path1().string() + '\0' + thrown.path2().string()};
  } catch (const std::ios_base::failure& thrown) {  // the library throws a class of its own that is derived from it
    const bool plain = typeid(thrown) == typeid(std::ios_base::failure) || name == "std::__ios_failure";
    if (!plain) return std::nullopt;
    return encoded{stream_code, "std::ios_base::failure", text_of(thrown), category_and_value(thrown.code())};
  } catch (const std::system_error& thrown) {
    if (typeid(thrown) != typeid(std::system_error)) return std::nullopt;
    return encoded{system_code, name, text_of(thrown), category_and_value(thrown.code())};
  } catch (const std::future_error& thrown) {
    if (typeid(thrown) != typeid(std::future_error)) return std::nullopt;
    return encoded{future_code, name, thrown.what(), category_and_value(thrown.code())};
  } catch (...) {
    return std::nullopt;
  }
}

encoded take_apart() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const std::string name = type == nullptr ? "foreign exception" : msg::canonical_name(type->name());
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
  if (auto with_code = take_code_apart(name)) return *std::move(with_code);
  if (auto with_outcome = take_outcome_apart(name)) return *std::move(with_outcome);
  try {
    throw;
  } catch (const std::exception& thrown) {
    const std::string what = text_or_nothing(thrown.what());
    if (typeid(thrown) == typeid(std::exception)) return {plain_code, name, what, {}};
    for (std::uint8_t code = 0; code < standard_count; ++code) {
      if (standard_types[code].type == typeid(thrown)) return {code, name, what, {}};
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

std::error_code read_code(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw protocol_error("a system error without its code");
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + colon, value);
  if (error != std::errc{} || stop != text.data() + colon) throw protocol_error("a system error without its code");
  const std::string_view category = text.substr(colon + 1);
  if (category == "system") return {value, std::system_category()};
  if (category == "iostream") return {value, std::iostream_category()};
  if (category == "future") return {value, std::future_category()};
  return {value, std::generic_category()};
}

/// Makes an exception that carries an error_code.
std::exception_ptr make_with_code(std::uint8_t kind, std::string what, std::string_view extra) {
  const std::size_t code_end = std::min(extra.find('\0'), extra.size());
  const std::error_code code = read_code(extra.substr(0, code_end));
  if (kind == future_code) {
    return std::make_exception_ptr(std::future_error(static_cast<std::future_errc>(code.value())));
  }
  // The constructors append the category's message, which what() has already.
  const std::string suffix = ": " + code.message();
  what.resize(what.ends_with(suffix) ? what.size() - suffix.size() : 0);
  if (kind == stream_code) return std::make_exception_ptr(std::ios_base::failure(what, code));
  if (kind == file_code) {
    const std::size_t middle = extra.find('\0', std::min(code_end + 1, extra.size()));
    if (middle == std::string_view::npos) throw protocol_error("a file system error without its paths");
    return std::make_exception_ptr(std::filesystem::filesystem_error(
        what, extra.substr(code_end + 1, middle - code_end - 1), extra.substr(middle + 1), code));
  }
  return std::make_exception_ptr(what.empty() ? std::system_error(code) : std::system_error(code, what));
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

std::vector<std::byte> encode_current_exception() noexcept {
  try {
    return bytes_of(take_apart());
  } catch (...) {
    return {};  // no memory to say more: the caller gets a remote_error without details
  }
}

std::vector<std::byte> encode_call_error(const std::string& why) noexcept {
  try {
    throw call_error(why);
  } catch (...) {
    return encode_current_exception();
  }
}

std::exception_ptr decode_exception(std::span<const std::byte> bytes, const std::string& function,
                                    const offload::node_descriptor::info& from) {
  const auto [code, type, what, extra] = bytes.empty() ? encoded{unknown_code, "unknown", {}, {}} : read(bytes);
  if (code < standard_count) return standard_types[code].make(what);
  if (code == plain_code) return std::make_exception_ptr(std::exception());
  if (code == system_code || (code >= future_code && code <= file_code)) return make_with_code(code, what, extra);
  if (code == failure_code || code == deadline_code) return make_with_outcome(code, what, extra);
  if (code == not_run_code) {
    return std::make_exception_ptr(node_failure(what + "; the call of " + function + " has not run (host " + from.name +
                                                    ", pid " + std::to_string(from.pid) + ")",
                                                {from.node, from.name, from.pid, function, 0, call_outcome::not_run}));
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
