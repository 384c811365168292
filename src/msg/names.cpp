// Normalising demangled names until compilers and demanglers agree.
#include "ham/msg/names.hpp"

#include <cxxabi.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "ham/msg/digest.hpp"

namespace ham::inline v1::msg {

namespace {

using std::string;
using std::string_view;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void replace_all(string& text, string_view from, string_view to) {
  for (std::size_t at = text.find(from); at != string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Removes blanks except before a word that would run into what precedes it: demanglers differ in "> >", "(*) (", ", ".
string without_blanks(string_view text) {
  string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') {
      out += text[i];
    } else if (!out.empty() && i + 1 < text.size() && is_word(text[i + 1]) &&
               (is_word(out.back()) || string_view(">)]}*").find(out.back()) != string_view::npos)) {
      out += ' ';
    }
  }
  return out;
}

/// Namespaces that the standard libraries put between: libstdc++ (__cxx11, _V2, __8), libc++ (__1, __2, __ndk1, and
/// __fs of file systems).
bool is_version_namespace(string_view name) {
  if (name == "__cxx11" || name == "_V2" || name == "__ndk1" || name == "__fs") return true;
  if (name.size() < 3 || name.substr(0, 2) != "__") return false;
  for (const char c : name.substr(2)) {
    if (!is_digit(c)) return false;
  }
  return true;
}

void fold_inline_namespaces(string& text) {
  for (std::size_t at = text.find("::"); at != string::npos; at = text.find("::", at + 1)) {
    std::size_t end = at + 2;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end + 1 >= text.size() || text.compare(end, 2, "::") != 0) continue;
    if (!is_version_namespace(string_view(text).substr(at + 2, end - at - 2))) continue;
    std::size_t start = at;  // only inside std
    while (start > 0 && (is_word(text[start - 1]) || text[start - 1] == ':')) --start;
    if (text.compare(start, 3, "std") != 0 || (at != start + 3 && text.compare(start, 5, "std::") != 0)) continue;
    text.erase(at, end - at);
    --at;  // look at the same place again; at is never 0, "std" comes before it
  }
}

/// This library's own version namespace, ham::v1: a function has one name whatever release its program was built with.
void fold_own_version(string& text) {
  constexpr string_view start = "ham::v";
  for (std::size_t at = text.find(start); at != string::npos; at = text.find(start, at + 1)) {
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == ':')) continue;
    const std::size_t version = at + start.size() - 1;
    std::size_t end = version + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > version + 1 && text.compare(end, 2, "::") == 0) text.erase(version, end + 2 - version);
  }
}

/// The bracket that closes the one at `open`; npos if there is none. Operators and arrows are not brackets.
std::size_t closing(string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '>') {
      if (c == '>' && i > 0 && text[i - 1] == '-') continue;
      if (i >= 8 && text.substr(i - 8, 8) == "operator") continue;
      if (i >= 9 && text.substr(i - 9, 8) == "operator" && text[i - 1] == c) continue;
    }
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') {
      if (--depth == 0) return i;
    }
  }
  return string_view::npos;
}

/// LLVM's demangler writes 'lambda0'(int) and 'unnamed', GNU's {lambda(int)#2} and {unnamed type#1}.
void unify_unnamed_types(string& text) {
  for (const string_view kind : {string_view("lambda"), string_view("unnamed")}) {
    const string start = "'" + string(kind);
    for (std::size_t at = text.find(start); at != string::npos; at = text.find(start, at + 1)) {
      std::size_t end = at + start.size();
      unsigned number = 1;
      const std::size_t digits = end;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end > digits) {
        std::from_chars(text.data() + digits, text.data() + end, number);
        number += 2;
      }
      if (end >= text.size() || text[end] != '\'') continue;
      ++end;
      string unified = kind == "lambda" ? "{lambda" : "{unnamed type";
      if (kind == "lambda" && end < text.size() && text[end] == '(') {
        const std::size_t close = closing(text, end);
        if (close == string::npos) continue;
        unified += text.substr(end, close + 1 - end);
        end = close + 1;
      }
      unified += "#" + std::to_string(number) + "}";
      text.replace(at, end - at, unified);
    }
  }
}

/// GNU's demangler numbers the parameters of generic lambdas, {lambda(auto:1)#1}.
void drop_auto_numbers(string& text) {
  constexpr string_view start = "auto:";
  for (std::size_t at = text.find(start); at != string::npos; at = text.find(start, at + 1)) {
    std::size_t end = at + start.size();
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > at + start.size() && (at == 0 || !is_word(text[at - 1]))) text.erase(at + 4, end - at - 4);
  }
}

/// "&(f(int))" and "(&f(int))" become "&f(int)"; "&(anonymous namespace)::f" stays.
void unify_addresses(string& text) {
  replace_all(text, "(&(anonymous namespace)", "(&{anonymous}");
  replace_all(text, "&(anonymous namespace)", "&{anonymous}");
  for (std::size_t at = text.find("&("); at != string::npos; at = text.find("&(", at + 1)) {
    if (at > 0 && text[at - 1] != '<' && text[at - 1] != ',' && text[at - 1] != '(') continue;
    const std::size_t close = closing(text, at + 1);
    if (close == string::npos) continue;
    text.erase(close, 1);
    text.erase(at + 1, 1);
  }
  for (std::size_t at = text.find("(&"); at != string::npos; at = text.find("(&", at + 1)) {
    if (at == 0 || (text[at - 1] != '<' && text[at - 1] != ',')) continue;
    const std::size_t close = closing(text, at);
    if (close == string::npos || close + 1 >= text.size()) continue;
    if (text[close + 1] != '>' && text[close + 1] != ',') continue;
    text.erase(close, 1);
    text.erase(at, 1);
  }
  replace_all(text, "{anonymous}", "(anonymous namespace)");
}

bool is_operator_before(string_view text, std::size_t at) { return at >= 8 && text.substr(at - 8, 8) == "operator"; }

/// "&f(int)" becomes "&f": demanglers write the parameters of some functions only, and not of the same ones. The type
/// of the function, which comes first in fn_t, has them.
void drop_parameters_of_addresses(string& text) {
  for (std::size_t at = text.find('&'); at != string::npos; at = text.find('&', at + 1)) {
    if (at == 0 || (text[at - 1] != '<' && text[at - 1] != ',')) continue;
    std::size_t parameters = string::npos;
    std::size_t i = at + 1;
    for (; i < text.size() && text[i] != '>' && text[i] != ','; ++i) {
      if (text[i] != '(' && text[i] != '<' && text[i] != '{' && text[i] != '[') continue;
      if (text[i] == '<' && is_operator_before(text, i)) continue;
      const std::size_t close = closing(text, i);
      if (close == string::npos) break;
      const bool is_call_operator = text[i] == '(' && is_operator_before(text, i);
      const bool is_name = text.compare(close + 1, 2, "::") == 0;
      if (text[i] == '(' && !is_call_operator && !is_name) parameters = i;
      i = close;
    }
    if (parameters != string::npos) text.erase(parameters, i - parameters);
  }
}

/// Names that are too long for a manifest keep their begin, and are told apart by a digest of all of it.
void shorten(string& text) {
  if (text.size() <= max_name_bytes) return;
  digest_builder all;
  all.text(text);
  const string mark = "...#" + to_string(all.value());
  text.resize(max_name_bytes - mark.size());
  text += mark;
}

}  // namespace

string canonical_text(string_view demangled) {
  string text = without_blanks(demangled);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  replace_all(text, "[abi:cxx11]", "");
  fold_inline_namespaces(text);
  fold_own_version(text);
  drop_auto_numbers(text);
  unify_unnamed_types(text);
  unify_addresses(text);
  drop_parameters_of_addresses(text);
  replace_all(text, "std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string");
  replace_all(text, "std::basic_string<wchar_t,std::char_traits<wchar_t>,std::allocator<wchar_t>>", "std::wstring");
  replace_all(text, "std::basic_string_view<char,std::char_traits<char>>", "std::string_view");
  replace_all(text, "decltype(nullptr)", "std::nullptr_t");
  replace_all(text, "__ieee128", "long double");
  replace_all(text, "__float128", "long double");  // how POWER and s390x mangle it
  shorten(text);
  return text;
}

string canonical_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                    &std::free);
  return text != nullptr && status == 0 ? canonical_text(text.get()) : canonical_text(mangled);
}

}  // namespace ham::msg
