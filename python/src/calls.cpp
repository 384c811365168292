// Functions by name: registered here, called there, waited for one by one or through a queue.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "module.hpp"

namespace ham_python {
namespace {

/// Runs a Python function with the argument as bytes. It returns bytes, or raises; then its text goes to the caller.
int run_registered(const void* argument, std::size_t size, ham_reply* reply, void* user) {
  const nb::gil_scoped_acquire gil;
  try {
    const nb::object result = nb::handle(static_cast<PyObject*>(user))(nb::bytes(argument, size));
    if (result.is_none()) return 0;
    const view bytes(result);
    return ham_set_result(reply, bytes.data(), bytes.size());
  } catch (const nb::python_error& error) {
    return ham_fail(reply, error.what());
  } catch (const std::exception& error) {
    return ham_fail(reply, error.what());
  }
}

/// The function is kept for as long as the process: HAM cannot forget a name.
void register_function(const std::string& name, nb::object function) {
  without_gil([&] { return ham_register(name.c_str(), &run_registered, function.ptr()); });
  (void)function.release();
}

nb::bytes call(ham_node node, const std::string& name, nb::handle argument, std::int64_t timeout_ms) {
  const view bytes(argument);
  ham_future* future = nullptr;
  std::size_t size = 0;
  without_gil([&] {
    const int status = ham_call_async(node, name.c_str(), bytes.data(), bytes.size(), timeout_ms, &future);
    return status == HAM_OK ? ham_result_size(future, &size) : status;
  });
  nb::bytes result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!result.is_valid()) throw nb::python_error();
  const int status = ham_result(&future, PyBytes_AsString(result.ptr()), size, nullptr);
  if (status != HAM_OK) raise_last_error(status);
  return result;
}

/// ham_queue for Python.
class queue {
 public:
  queue() {
    without_gil([this] { return ham_queue_create(&queue_); });
  }
  ~queue() { ham_queue_release(&queue_); }
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  void call(ham_node node, const std::string& name, nb::handle argument, std::uint64_t id, std::int64_t timeout_ms) {
    const view bytes(argument);
    without_gil(
        [&] { return ham_call_queued(node, name.c_str(), bytes.data(), bytes.size(), timeout_ms, queue_, id); });
  }

  /// The id of a call that has ended, whose (result, error) is in `ends` from here on; None after the time, or for wake().
  /// Nothing is lost if a signal's handler raises as soon as this returns.
  nb::object next(std::int64_t timeout_ms) {
    ham_completion* end = nullptr;
    int status = HAM_OK;
    {
      const nb::gil_scoped_release released;
      status = ham_queue_next(queue_, timeout_ms, &end);
    }
    if (status == HAM_NOT_YET) return nb::none();
    if (status != HAM_OK) raise_last_error(status);
    const guard give_back{end};
    const nb::object id = nb::int_(end->id);
    if (end->status == HAM_OK) {
      ends[id] = nb::make_tuple(nb::bytes(end->result, end->bytes), nb::none());
    } else {
      const auto* const text = static_cast<const char*>(end->result);
      ends[id] = nb::make_tuple(nb::none(), make_error(end->status, text, end->outcome, end->function_code));
    }
    return id;
  }

  nb::dict ends;

  void wake() {
    without_gil([this] { return ham_queue_wake(queue_); });
  }

 private:
  struct guard {
    ham_completion* end;
    ~guard() { ham_completion_release(&end); }
  };
  ham_queue* queue_ = nullptr;
};

}  // namespace

void define_calls(nb::module_& module) {
  module.def("register", &register_function, nb::arg("name"), nb::arg("function"));
  module.def("call", &call, nb::arg("node"), nb::arg("name"), nb::arg("argument"), nb::arg("timeout_ms") = -1);
  nb::class_<queue>(module, "Queue")
      .def(nb::init<>())
      .def("call", &queue::call, nb::arg("node"), nb::arg("name"), nb::arg("argument"), nb::arg("id"),
           nb::arg("timeout_ms") = -1)
      .def_ro("ends", &queue::ends)
      .def("next", &queue::next, nb::arg("timeout_ms") = -1)
      .def("wake", &queue::wake);
}

}  // namespace ham_python
