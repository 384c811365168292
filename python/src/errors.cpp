// Statuses of ham/ham.h as exceptions of ham._errors.
#include <cstdint>
#include <cstring>
#include <string>

#include "module.hpp"

namespace ham_python {
namespace {

/// Of functions in C++: in any encoding, or cut within a character.
nb::object text_of(const char* bytes) {
  PyObject* const text = PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "replace");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

}  // namespace

nb::object make_error(int status, const char* text, int outcome, int code) {
  return nb::module_::import_("ham._errors").attr("from_status")(status, text_of(text), outcome, code);
}

void raise_last_error(int status) {
  const std::string text = ham_error_message();
  nb::object error;
  if (status == HAM_ERROR_STAGE) {
    const std::string cause = ham_error_cause_message();
    const std::int64_t stage = ham_error_stage();
    const nb::object why = make_error(ham_error_cause(), cause.c_str(), ham_error_outcome(), ham_error_function_code());
    error = nb::module_::import_("ham._errors").attr("StageError")(text_of(text.c_str()), stage);
    error.attr("__cause__") = why;
  } else {
    error = make_error(status, text.c_str(), ham_error_outcome(), ham_error_function_code());
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace ham_python
