// Memory of nodes: a buffer that frees itself, and shows its bytes on the node that it lies on.
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <tuple>

#include "module.hpp"

namespace ham_python {
namespace {

using description = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, ham_node>;

/// Buffers of this node's memory that programs may still see: the job must not end under them.
std::atomic<long> live_local{0};

class buffer {
 public:
  explicit buffer(const ham_buffer& from) : memory_(from) { note(+1); }
  ~buffer() { release(); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  [[nodiscard]] const ham_buffer& memory() const {
    if (freed_) throw nb::value_error("the buffer has been freed");
    return memory_;
  }
  [[nodiscard]] ham_node node() const noexcept { return memory_.node; }
  [[nodiscard]] std::uint64_t size() const noexcept { return memory_.size; }
  [[nodiscard]] description describe() const { return {memory_.address, memory_.tag, memory_.size, memory_.node}; }
  /// Somebody else frees it.
  description hand_over() {
    (void)memory();
    if (owned_) note(-1);
    owned_ = false;
    return describe();
  }
  [[nodiscard]] void* local() const {
    void* address = nullptr;
    const ham_buffer& of = memory();
    without_gil([&] { return ham_local(&of, &address); });
    return address;
  }
  void put(nb::handle from, std::uint64_t offset) const {
    const view bytes(from);
    const ham_buffer& to = memory();
    without_gil([&] { return ham_put(bytes.data(), &to, offset, bytes.size()); });
  }
  void get(nb::handle into, std::uint64_t offset) const {
    const view bytes(into, true);
    const ham_buffer& from = memory();
    without_gil([&] { return ham_get(&from, offset, bytes.data(), bytes.size()); });
  }
  void free() {
    if (exports_ != 0) throw nb::buffer_error("the buffer is in use: a memoryview or an array shows its memory");
    release();
  }
  void exported(int change) noexcept { exports_ += change; }

 private:
  void note(int change) noexcept {
    if (owned_ && memory_.node == ham_this_node()) live_local += change;
  }
  void release() noexcept {
    if (freed_ || !owned_) return;
    freed_ = true;
    note(-1);
    const nb::gil_scoped_release released;
    (void)ham_free(&memory_);  // the node may be gone
  }

  ham_buffer memory_;
  bool owned_ = true;
  bool freed_ = false;
  std::atomic<int> exports_{0};
};

ham_buffer from_description(const description& what) {
  return {std::get<0>(what), std::get<1>(what), std::get<2>(what), std::get<3>(what)};
}

buffer* allocate(ham_node node, std::uint64_t bytes) {
  ham_buffer memory{};
  without_gil([&] { return ham_allocate(node, bytes, &memory); });
  return new buffer(memory);
}

int get_buffer(PyObject* self, Py_buffer* out, int flags) {
  buffer& of = *nb::inst_ptr<buffer>(nb::handle(self));
  of.exported(+1);  // before its address is asked for without the GIL, when another thread may free it
  try {
    if (PyBuffer_FillInfo(out, self, of.local(), static_cast<Py_ssize_t>(of.size()), 0, flags) == 0) return 0;
    of.exported(-1);
    return -1;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  of.exported(-1);
  out->obj = nullptr;
  return -1;
}

void release_buffer(PyObject* self, Py_buffer*) { nb::inst_ptr<buffer>(nb::handle(self))->exported(-1); }

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                              {0, nullptr}};

}  // namespace

void define_memory(nb::module_& module) {
  nb::class_<buffer>(module, "Buffer", nb::type_slots(buffer_slots), nb::is_weak_referenceable(), nb::dynamic_attr())
      .def_prop_ro("node", &buffer::node)
      .def_prop_ro("nbytes", &buffer::size)
      .def("put", &buffer::put, nb::arg("source"), nb::arg("offset") = 0)
      .def("get_into", &buffer::get, nb::arg("target"), nb::arg("offset") = 0)
      .def("free", &buffer::free)
      .def("_hand_over", &buffer::hand_over)
      .def("_describe", &buffer::describe)
      .def("_address", [](const buffer& self) { return reinterpret_cast<std::uintptr_t>(self.local()); });
  module.def("allocate", &allocate, nb::arg("node"), nb::arg("nbytes"));
  module.def("_adopt", [](const description& what) { return new buffer(from_description(what)); });
  module.def("_live_local", [] { return live_local.load(); });
}

}  // namespace ham_python
