// Statuses of ham/ham.h as exceptions of ham._errors.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "module.hpp"

namespace ham_python {

nb::object make_error(int status, const char* text, int outcome, int code) {
  return nb::module_::import_("ham._errors").attr("from_status")(status, text, outcome, code);
}

void raise_last_error(int status) {
  const std::string text = ham_error_message();
  nb::object error;
  if (status == HAM_ERROR_STAGE) {
    const std::string cause = ham_error_cause_message();
    const std::int64_t stage = ham_error_stage();
    const nb::object why = make_error(ham_error_cause(), cause.c_str(), ham_error_outcome(), ham_error_function_code());
    error = nb::module_::import_("ham._errors").attr("StageError")(text, stage);
    error.attr("__cause__") = why;
  } else {
    error = make_error(status, text.c_str(), ham_error_outcome(), ham_error_function_code());
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace ham_python
