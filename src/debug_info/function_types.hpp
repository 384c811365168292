// The types of functions, out of the debug information of the file that they are in.
#pragma once

#include "debug_info/type.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ham::inline v1::debug_info {

/// The debug information says several different things of one function.
class ambiguous : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One file. It is mapped at once, so that it may be deleted afterwards, and read when the first function is asked for:
/// then all functions that it defines are noted by their names. Not for two threads at once.
class function_types {
 public:
  explicit function_types(const std::string& path);
  ~function_types();
  function_types(const function_types&) = delete;
  function_types& operator=(const function_types&) = delete;

  /// What the debug information, or that of the separate file which distributions have, says of the function with
  /// linker name `name`. Nothing: it does not say, and `why` tells the reason. Throws ambiguous.
  [[nodiscard]] std::optional<signature> find(std::string_view name, std::string& why);

  /// Whether the file defines the symbol or asks for it from elsewhere, as far as the loader sees. False for a file
  /// that cannot be read.
  [[nodiscard]] bool has_symbol(std::string_view name) const noexcept;

 private:
  class file;
  std::unique_ptr<file> main_;
  std::unique_ptr<file> separate_;
  std::string unreadable_;
  bool looked_for_separate_ = false;
};

}  // namespace ham::debug_info
