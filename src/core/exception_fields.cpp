// The fields of each, as text.
#include "core/exception_fields.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <ios>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "base/numbers.hpp"
#include "core/node_loss.hpp"
#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/exceptions.hpp"

namespace ham::inline v1::detail {
namespace {

// ---- error codes

std::string category_and_value(const std::error_code& code) {
  return std::to_string(code.value()) + ":" + code.category().name();
}

/// Not what() of a filesystem_error, which has the paths in it.
std::string text_of(const std::system_error& thrown) { return thrown.std::runtime_error::what(); }

/// The exceptions that carry an error_code; nullopt for types derived from them.
std::optional<encoded_exception> take_code_apart(const std::string& name) {
  try {
    throw;
  } catch (const std::filesystem::filesystem_error& thrown) {
    if (typeid(thrown) != typeid(std::filesystem::filesystem_error)) return std::nullopt;
    return encoded_exception{
        field_code::file, name, text_of(thrown),
        category_and_value(thrown.code()) + '\0' + thrown.path1().string() + '\0' + thrown.path2().string()};
  } catch (const std::ios_base::failure& thrown) {  // the library throws a class of its own that is derived from it
    const bool plain = typeid(thrown) == typeid(std::ios_base::failure) || name == "std::__ios_failure";
    if (!plain) return std::nullopt;
    return encoded_exception{field_code::stream, "std::ios_base::failure", text_of(thrown),
                             category_and_value(thrown.code())};
  } catch (const std::system_error& thrown) {
    if (typeid(thrown) != typeid(std::system_error)) return std::nullopt;
    return encoded_exception{field_code::system, name, text_of(thrown), category_and_value(thrown.code())};
  } catch (const std::future_error& thrown) {
    if (typeid(thrown) != typeid(std::future_error)) return std::nullopt;
    return encoded_exception{field_code::future, name, thrown.what(), category_and_value(thrown.code())};
  } catch (...) {
    return std::nullopt;
  }
}

std::error_code read_code(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw protocol_error("a system error without its code");
  const std::optional<int> value = base::parse_int(text.substr(0, colon));
  if (!value) throw protocol_error("a system error without its code");
  const std::string_view category = text.substr(colon + 1);
  if (category == "system") return {*value, std::system_category()};
  if (category == "iostream") return {*value, std::iostream_category()};
  if (category == "future") return {*value, std::future_category()};
  return {*value, std::generic_category()};
}

/// Makes an exception that carries an error_code.
std::exception_ptr make_with_code(std::uint8_t kind, std::string what, std::string_view extra) {
  const std::size_t code_end = std::min(extra.find('\0'), extra.size());
  const std::error_code code = read_code(extra.substr(0, code_end));
  if (kind == field_code::future) {
    return std::make_exception_ptr(std::future_error(static_cast<std::future_errc>(code.value())));
  }
  // The constructors append the category's message, which what() has already.
  const std::string suffix = ": " + code.message();
  what.resize(what.ends_with(suffix) ? what.size() - suffix.size() : 0);
  if (kind == field_code::stream) return std::make_exception_ptr(std::ios_base::failure(what, code));
  if (kind == field_code::file) {
    const std::size_t middle = extra.find('\0', std::min(code_end + 1, extra.size()));
    if (middle == std::string_view::npos) throw protocol_error("a file system error without its paths");
    return std::make_exception_ptr(std::filesystem::filesystem_error(
        what, extra.substr(code_end + 1, middle - code_end - 1), extra.substr(middle + 1), code));
  }
  return std::make_exception_ptr(what.empty() ? std::system_error(code) : std::system_error(code, what));
}

// ---- what became of a call, and where an exception came from

/// node, host, pid, function, call, outcome
using failure_fields = std::tuple<node_t, std::string, std::int64_t, std::string, std::uint64_t, std::uint8_t>;

template <class Fields>
std::string as_text(const Fields& fields) {
  std::string bytes(msg::encoded_size(fields), '\0');
  msg::writer to(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  msg::encode(to, fields);
  return bytes;
}
template <class Fields>
Fields from_text(std::string_view text) {
  msg::reader from(reinterpret_cast<const std::byte*>(text.data()), text.size());
  Fields fields = msg::decode<Fields>(from);
  from.expect_end();
  return fields;
}

/// node, host, pid, function, type, message
using origin_fields = std::tuple<node_t, std::string, std::int64_t, std::string, std::string, std::string>;

call_outcome outcome_of(std::uint8_t code) {
  if (code > static_cast<std::uint8_t>(call_outcome::ran)) throw protocol_error("an outcome of a call that is none");
  return static_cast<call_outcome>(code);
}

/// Those of HAM that say it; nullopt for types derived from them.
std::optional<encoded_exception> take_origin_apart(const std::string& name) {
  try {
    throw;
  } catch (const node_failure& thrown) {
    const bool ending = typeid(thrown) == typeid(ending_failure);
    if (!ending && typeid(thrown) != typeid(node_failure)) return std::nullopt;
    return encoded_exception{ending ? field_code::ending : field_code::failure, name, thrown.what(),
                             as_text(failure_fields{thrown.node(), thrown.host(), thrown.pid(), thrown.function(),
                                                    thrown.call(), static_cast<std::uint8_t>(thrown.outcome())})};
  } catch (const deadline_exceeded& thrown) {
    if (typeid(thrown) != typeid(deadline_exceeded)) return std::nullopt;
    return encoded_exception{field_code::deadline, name, thrown.what(),
                             std::string(1, static_cast<char>(thrown.outcome()))};
  } catch (const operation_cancelled& thrown) {
    if (typeid(thrown) != typeid(operation_cancelled)) return std::nullopt;
    return encoded_exception{field_code::cancelled, name, thrown.what(),
                             std::string(1, static_cast<char>(thrown.outcome()))};
  } catch (const remote_error& thrown) {
    if (typeid(thrown) != typeid(remote_error)) return std::nullopt;
    return encoded_exception{field_code::remote, name, thrown.what(),
                             as_text(origin_fields{thrown.node(), thrown.host(), thrown.pid(), thrown.function(),
                                                   thrown.type(), thrown.message()})};
  } catch (...) {
    return std::nullopt;
  }
}

std::exception_ptr make_with_outcome(std::uint8_t kind, const std::string& what, std::string_view extra) {
  if (kind == field_code::deadline) {
    if (extra.size() != 1) throw protocol_error("a missed deadline without an outcome");
    return std::make_exception_ptr(deadline_exceeded(what, outcome_of(static_cast<std::uint8_t>(extra[0]))));
  }
  if (kind == field_code::cancelled) {
    if (extra.size() != 1) throw protocol_error("a call that was stopped without an outcome");
    return std::make_exception_ptr(operation_cancelled(what, outcome_of(static_cast<std::uint8_t>(extra[0]))));
  }
  const auto [node, host, pid, function, call, outcome] = from_text<failure_fields>(extra);
  node_failure::details details{node, host, pid, function, call, outcome_of(outcome)};
  if (kind == field_code::ending) return std::make_exception_ptr(ending_failure(what, std::move(details)));
  return std::make_exception_ptr(node_failure(what, std::move(details)));
}

std::exception_ptr make_with_origin(const std::string& what, std::string_view extra) {
  auto [node, host, pid, function, type, message] = from_text<origin_fields>(extra);
  return std::make_exception_ptr(
      remote_error(what, {node, std::move(host), pid, std::move(function), std::move(type), std::move(message)}));
}

}  // namespace

std::optional<encoded_exception> take_fields_apart(const std::string& name) {
  if (auto with_code = take_code_apart(name)) return with_code;
  return take_origin_apart(name);
}

void cut_text(std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return;
  const std::string note = " [cut off, it has " + std::to_string(text.size()) + " bytes]";
  text.resize(max_bytes - note.size());
  text += note;
}

std::string shortened_origin(std::string_view extra) {
  auto fields = from_text<origin_fields>(extra);
  cut_text(std::get<1>(fields), 1 << 10);
  for (std::string* const text : {&std::get<3>(fields), &std::get<4>(fields), &std::get<5>(fields)})
    cut_text(*text, 9 << 10);
  return as_text(fields);
}

std::exception_ptr make_with_fields(std::uint8_t code, const std::string& what, std::string_view extra) {
  if (code == field_code::remote) return make_with_origin(what, extra);
  return code <= field_code::deadline ? make_with_outcome(code, what, extra) : make_with_code(code, what, extra);
}

}  // namespace ham::detail
