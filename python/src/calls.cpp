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

/// The function is kept for as long as the process: HAM cannot forget a name. `layout`: of what crosses, if that are no
/// bytes.
void register_function(const std::string& name, nb::object function, const std::string& layout) {
  without_gil([&] {
    return layout.empty() ? ham_register(name.c_str(), &run_registered, function.ptr())
                          : ham_register_encoded(name.c_str(), layout.c_str(), &run_registered, function.ptr());
  });
  (void)function.release();
}

/// The result of a future that `start` starts.
template <class Start>
nb::bytes result_of(Start start) {
  ham_future* future = nullptr;
  std::size_t size = 0;
  int status = HAM_OK;
  {
    const nb::gil_scoped_release released;
    status = start(future);
    if (status == HAM_OK) status = ham_result_size(future, &size);
  }
  if (status != HAM_OK) {
    const nb::object error = make_error(status, ham_error_message(), ham_error_outcome(), ham_error_function_code());
    ham_release(&future);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw nb::python_error();
  }
  nb::bytes result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  status = result.is_valid() ? ham_result(&future, PyBytes_AsString(result.ptr()), size, nullptr) : HAM_ERROR_MEMORY;
  if (!result.is_valid()) {
    ham_release(&future);
    throw nb::python_error();
  }
  if (status != HAM_OK) raise_last_error(status);
  return result;
}

nb::bytes call(ham_node node, const std::string& name, nb::handle argument, std::int64_t timeout_ms) {
  const view bytes(argument);
  return result_of([&](ham_future*& future) {
    return ham_call_async(node, name.c_str(), bytes.data(), bytes.size(), timeout_ms, &future);
  });
}

nb::bytes call_encoded(ham_node node, const std::string& name, const std::string& layout, nb::handle arguments,
                       std::int64_t timeout_ms) {
  const view bytes(arguments);
  return result_of([&](ham_future*& future) {
    return ham_call_encoded(node, name.c_str(), layout.c_str(), bytes.data(), bytes.size(), timeout_ms, &future);
  });
}

void name_call(const std::string& name) { ham_name_call(name.c_str()); }

std::string layout(ham_node node, const std::string& name, std::int64_t timeout_ms) {
  std::string text(1000, ' ');
  std::size_t length = 0;
  const auto ask = [&] { return ham_layout(node, name.c_str(), timeout_ms, text.data(), text.size() + 1, &length); };
  without_gil([&] {
    const int status = ask();
    if (status != HAM_ERROR_TRUNCATED) return status;
    text.resize(length);
    return ask();
  });
  text.resize(length);
  return text;
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

  /// The id of a call that has ended, whose (result, error) is in `ends` from here on; None after the time, or for
  /// wake(). Nothing is lost if a signal's handler raises as soon as this returns.
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

  /// Whether there was a call of this id to stop.
  bool stop(std::uint64_t id) {
    int status = HAM_OK;
    {
      const nb::gil_scoped_release released;
      status = ham_queue_stop(queue_, id);
    }
    if (status != HAM_OK && status != HAM_NOT_YET) raise_last_error(status);
    return status == HAM_OK;
  }

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
  module.def("register", &register_function, nb::arg("name"), nb::arg("function"), nb::arg("layout") = "");
  module.def("call", &call, nb::arg("node"), nb::arg("name"), nb::arg("argument"), nb::arg("timeout_ms") = -1);
  module.def("call_encoded", &call_encoded, nb::arg("node"), nb::arg("name"), nb::arg("layout"), nb::arg("arguments"),
             nb::arg("timeout_ms") = -1);
  module.def("layout", &layout, nb::arg("node"), nb::arg("name"), nb::arg("timeout_ms") = -1);
  nb::class_<queue>(module, "Queue")
      .def(nb::init<>())
      .def("call", &queue::call, nb::arg("node"), nb::arg("name"), nb::arg("argument"), nb::arg("id"),
           nb::arg("timeout_ms") = -1)
      .def_ro("ends", &queue::ends)
      .def("next", &queue::next, nb::arg("timeout_ms") = -1)
      .def("stop", &queue::stop, nb::arg("id"))
      .def("wake", &queue::wake);
  module.attr("STOPPABLE") = nb::int_(std::int64_t{HAM_STOPPABLE});
  module.def("name_call", &name_call, nb::arg("name"));
  module.def("stop_requested", [] {
    const nb::gil_scoped_release released;
    return ham_stop_requested() != 0;
  });
  module.def("time_left", [] { return ham_time_left(); });
}

}  // namespace ham_python
