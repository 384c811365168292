// Reads types from text.
#include "mpix/type_text.hpp"

#include "mpix/refusal.hpp"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace ham::inline v1::mpix {
namespace {

using words = std::vector<std::string>;

constexpr auto is_signed = type_kind::signed_integer;
constexpr auto is_unsigned = type_kind::unsigned_integer;

struct plain {
  type_kind kind;
  std::size_t size;
};

const std::map<std::string, plain, std::less<>>& plain_types() {
  static const std::map<std::string, plain, std::less<>> table{
      {"void", {type_kind::nothing, 0}},
      {"char", {'\xff' < 0 ? is_signed : is_unsigned, 1}},
      {"bool", {is_unsigned, 1}},
      {"_Bool", {is_unsigned, 1}},
      {"short", {is_signed, sizeof(short)}},
      {"int", {is_signed, sizeof(int)}},
      {"long", {is_signed, sizeof(long)}},
      {"float", {type_kind::floating, sizeof(float)}},
      {"double", {type_kind::floating, sizeof(double)}},
      {"long double", {type_kind::floating, sizeof(long double)}},
      {"float _Complex", {type_kind::complex, 2 * sizeof(float)}},
      {"double _Complex", {type_kind::complex, 2 * sizeof(double)}},
      {"int8_t", {is_signed, 1}},
      {"int16_t", {is_signed, 2}},
      {"int32_t", {is_signed, 4}},
      {"int64_t", {is_signed, 8}},
      {"uint8_t", {is_unsigned, 1}},
      {"uint16_t", {is_unsigned, 2}},
      {"uint32_t", {is_unsigned, 4}},
      {"uint64_t", {is_unsigned, 8}},
      {"size_t", {is_unsigned, sizeof(std::size_t)}},
      {"ssize_t", {is_signed, sizeof(std::size_t)}},
      {"ptrdiff_t", {is_signed, sizeof(std::ptrdiff_t)}},
      {"intptr_t", {is_signed, sizeof(std::intptr_t)}},
      {"uintptr_t", {is_unsigned, sizeof(std::uintptr_t)}},
      {"MPI_Aint", {is_signed, sizeof(std::intptr_t)}},
      {"MPI_Offset", {is_signed, 8}},
      {"MPI_Count", {is_signed, 8}},
      {"MPI_Fint", {is_signed, sizeof(int)}},
  };
  return table;
}

// Identifiers and single signs; "std" and "::" are left out.
words split(std::string_view text) {
  words result;
  for (std::size_t i = 0; i < text.size();) {
    const auto letter = [&](std::size_t at) {
      return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_';
    };
    std::size_t end = i + 1;
    if (letter(i)) {
      while (end < text.size() && letter(end)) ++end;
      if (text.substr(i, end - i) != "std") result.emplace_back(text.substr(i, end - i));
    } else if (text[i] != ':' && std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      result.emplace_back(1, text[i]);
    }
    i = end;
  }
  return result;
}

bool is_qualifier(const std::string& word) {
  return word == "const" || word == "volatile" || word == "restrict" || word == "__restrict" ||
         word == "__restrict__" || word == "struct" || word == "enum";
}

// "unsigned long int" -> unsigned, "long". The words of C's arithmetic types come in any order. No word that a sign,
// "long" or "complex" does not fit stays: then the type is not known.
type arithmetic(const words& parts, std::string_view text) {
  bool has_unsigned = false;
  bool has_signed = false;
  bool is_complex = false;
  int longs = 0;
  std::string base;
  for (const std::string& part : parts) {
    if (part == "unsigned")
      has_unsigned = true;
    else if (part == "signed")
      has_signed = true;
    else if (part == "long")
      ++longs;
    else if (part == "int" && (longs > 0 || base == "short"))
      continue;
    else if (part == "short" && base == "int")
      base = part;
    else if (part == "_Complex" || part == "complex")
      is_complex = true;
    else
      base += base.empty() ? part : " " + part;
  }
  if (longs > 0) base = longs == 1 && base == "double" ? "long double" : (base.empty() || base == "int" ? "long" : "");
  const bool has_sign = has_unsigned || has_signed;
  if (base.empty() && has_sign && longs == 0) base = "int";
  if (has_sign && base != "char" && base != "short" && base != "int" && base != "long") base.clear();
  if (is_complex) base += " _Complex";
  const auto found = plain_types().find(base);
  if (found == plain_types().end() || longs > 2 || (has_signed && has_unsigned)) {
    throw refusal(failure::untyped, "type \"" + std::string(text) +
                                        "\" is not known by its name: only arithmetic types and pointers can be "
                                        "written; compile the kernel with -g instead");
  }
  type result;
  result.kind = has_unsigned ? is_unsigned : has_signed ? is_signed : found->second.kind;
  result.size = found->second.size;
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::size_t known_size(const words& parts) {
  const auto found = parts.size() == 1 ? plain_types().find(parts[0]) : plain_types().end();
  return found == plain_types().end() ? 0 : found->second.size;
}

}  // namespace

type parse_type(std::string_view text) {
  text = trimmed(text);
  words parts;
  int stars = 0;
  for (std::string& word : split(text)) {
    if (word == "*" || word == "&" || word == "[")
      ++stars;
    else if (stars == 0 && !is_qualifier(word))
      parts.push_back(std::move(word));
  }
  type result;
  if (stars == 1) {
    result.kind = type_kind::pointer;
    result.size = sizeof(void*);
    result.pointee = known_size(parts);
  } else if (stars > 1) {
    result.kind = type_kind::opaque;
    result.size = sizeof(void*);
    result.why = "a pointer to pointers: addresses of the caller mean nothing in a child";
  } else {
    result = arithmetic(parts, text);
  }
  result.name = std::string(text);
  return result;
}

std::vector<type> parse_parameters(std::string_view text) {
  std::vector<type> result;
  text = trimmed(text);
  if (text.empty() || text == "void") return result;
  for (;;) {
    const std::size_t comma = text.find(',');
    result.push_back(parse_type(text.substr(0, comma)));
    if (result.back().kind == type_kind::nothing) throw refusal(failure::untyped, "a parameter cannot be void");
    if (comma == std::string_view::npos) return result;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace ham::mpix
