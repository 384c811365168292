// What the functions of ham/ham.h return: every exception becomes a code and a text of the calling thread.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace ham::inline v1::c_api {

/// An error that is known to be one of the caller's arguments.
struct bad_argument {
  std::string text;
};

/// What a function of ham_register ended with. Crosses from there to the caller, which in C++ catches std::exception.
class function_failure : public std::exception {
 public:
  function_failure() = default;
  function_failure(int code, std::string text) : code_(code), text_(std::move(text)) {}
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(code_, text_);
  }

 private:
  int code_ = 0;
  std::string text_;
};

/// Of a thread.
struct last_error {
  std::string text;
  bool no_memory = false;  ///< not even for the text
  int outcome = 0;
  int function_code = 0;
  std::int64_t stage = -1;  ///< of a graph, which has failed with this
  int cause = 0;
  std::string cause_text;
};

/// Notes the text of an error of the calling thread; returns `status`.
int fail(int status, std::string text) noexcept;
/// The same of the exception that is being handled.
int fail_with_current_exception() noexcept;

/// What the calling thread's last error was, it is again at the end of this.
class kept_error {
 public:
  kept_error() noexcept;
  ~kept_error();
  kept_error(const kept_error&) = delete;
  kept_error& operator=(const kept_error&) = delete;

 private:
  last_error before_;
};

/// Runs `body`, which returns a status; what it throws becomes one.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return fail_with_current_exception();
  }
}

/// Throws bad_argument if a pointer that must not be null is.
void require(const void* pointer, const char* what);

}  // namespace ham::c_api
