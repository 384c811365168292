// What the parts of the extension module share. Every call of HAM is made without the GIL: HAM's locks are taken by
// threads that may wait for it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>

#include "ham/ham.h"

namespace ham_python {

namespace nb = nanobind;

/// Throws the exception of ham._errors that stands for what has just failed on this thread.
[[noreturn]] void raise_last_error(int status);
/// The same of what a completion says.
[[nodiscard]] nb::object make_error(int status, const char* text, int outcome, int code);

/// Calls `what`, which returns a status, without the GIL; raises unless that is HAM_OK.
template <class What>
void without_gil(What&& what) {
  int status = HAM_OK;
  {
    const nb::gil_scoped_release released;
    status = std::forward<What>(what)();
  }
  if (status != HAM_OK) raise_last_error(status);
}

/// The bytes of any object with a C-contiguous buffer, held while this lives. With the GIL.
class view {
 public:
  explicit view(nb::handle object, bool writable = false) {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  }
  ~view() { PyBuffer_Release(&buffer_); }
  view(const view&) = delete;
  view& operator=(const view&) = delete;
  [[nodiscard]] void* data() const noexcept { return buffer_.buf; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(buffer_.len); }

 private:
  Py_buffer buffer_{};
};

void define_calls(nb::module_& module);
void define_graph(nb::module_& module);
void define_memory(nb::module_& module);

}  // namespace ham_python
