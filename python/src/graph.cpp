// Recorded graphs: what ham/_graph.py has recorded is recorded once more here, compiled, and replayed.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "module.hpp"

namespace ham_python {
namespace {

using memory_of_node = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, ham_node>;

ham_buffer to_buffer(const memory_of_node& what) {
  return {std::get<0>(what), std::get<1>(what), std::get<2>(what), std::get<3>(what)};
}

/// Numbers of stages, and objects with bytes, which are held while this lives.
class argument_list {
 public:
  explicit argument_list(nb::handle from) {
    for (const nb::handle one : from) add(one);
  }
  [[nodiscard]] const ham_argument* data() const noexcept { return arguments_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return arguments_.size(); }

 private:
  void add(nb::handle one) {
    if (PyLong_Check(one.ptr())) {
      arguments_.push_back({nb::cast<ham_stage>(one), nullptr, 0});
    } else {
      const view& bytes = views_.emplace_back(one);
      arguments_.push_back({HAM_NO_STAGE, bytes.data(), bytes.size()});
    }
  }
  std::deque<view> views_;
  std::vector<ham_argument> arguments_;
};

/// A replay under way. Keeps `owner`, which keeps the job. request_stop() may be called while another thread waits.
class replay {
 public:
  replay(ham_future* future, nb::object owner) : owner_(std::move(owner)), future_(future) {}
  ~replay() {
    const nb::gil_scoped_release released;
    ham_release(&future_);
  }
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;

  /// False: it has not ended after this time.
  [[nodiscard]] bool wait(std::int64_t timeout_ms) const {
    int status = HAM_OK;
    {
      const nb::gil_scoped_release released;
      status = ham_wait(future_, timeout_ms);
    }
    if (status != HAM_OK && status != HAM_NOT_YET) raise_last_error(status);
    return status == HAM_OK;
  }

  /// Of one that has ended, once.
  [[nodiscard]] nb::bytes result() {
    std::size_t size = 0;
    without_gil([&] { return ham_result_size(future_, &size); });
    nb::bytes made = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!made.is_valid()) throw nb::python_error();
    const int status = ham_result(&future_, PyBytes_AsString(made.ptr()), size, nullptr);
    if (status != HAM_OK) raise_last_error(status);
    return made;
  }

  /// Whether there was something to stop.
  bool request_stop() {
    int status = HAM_OK;
    {
      const nb::gil_scoped_release released;
      status = ham_request_stop(future_);
    }
    if (status != HAM_OK && status != HAM_NOT_YET) raise_last_error(status);
    return status == HAM_OK;
  }

 private:
  nb::object owner_;  // goes behind the future
  ham_future* future_;
};

/// Any thread may use it, also while another one closes it: the last one of them releases it.
class compiled_graph {
 public:
  compiled_graph(ham_compiled_graph* made, nb::object owner)
      : owner_(std::move(owner)), graph_(made, [](ham_compiled_graph* last) { ham_compiled_graph_release(&last); }) {}
  ~compiled_graph() { close(); }
  compiled_graph(const compiled_graph&) = delete;
  compiled_graph& operator=(const compiled_graph&) = delete;

  replay* start(nb::handle inputs, std::int64_t timeout_ms) {
    const argument_list given(inputs);
    std::shared_ptr<ham_compiled_graph> used = graph_;
    ham_future* future = nullptr;
    without_gil([&] {
      const int status = ham_graph_replay(used.get(), given.data(), given.size(), timeout_ms, &future);
      used.reset();
      return status;
    });
    return new replay(future, owner_);
  }
  /// Waits until all replays have ended.
  void close() noexcept {
    std::shared_ptr<ham_compiled_graph> last = std::move(graph_);
    const nb::gil_scoped_release released;
    last.reset();
  }

 private:
  nb::object owner_;
  std::shared_ptr<ham_compiled_graph> graph_;
};

class graph {
 public:
  graph() {
    without_gil([this] { return ham_graph_create(&graph_); });
  }
  ~graph() { ham_graph_release(&graph_); }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  ham_stage input(const std::string& type) {
    return record([&](ham_stage* made) { return ham_graph_input(graph_, type.c_str(), made); });
  }
  ham_stage call(ham_node node, const std::string& name, const std::string& layout, nb::handle arguments) {
    const argument_list given(arguments);
    return record([&](ham_stage* made) {
      return ham_graph_call(graph_, node, name.c_str(), layout.c_str(), given.data(), given.size(), made);
    });
  }
  /// Whoever calls this keeps the source, and the next one's target.
  ham_stage put(nb::handle source, const memory_of_node& target, std::uint64_t offset) {
    const view bytes(source);
    const ham_buffer to = to_buffer(target);
    return record(
        [&](ham_stage* made) { return ham_graph_put(graph_, bytes.data(), &to, offset, bytes.size(), made); });
  }
  ham_stage get(const memory_of_node& source, std::uint64_t offset, nb::handle target) {
    const view bytes(target, true);
    const ham_buffer from = to_buffer(source);
    return record(
        [&](ham_stage* made) { return ham_graph_get(graph_, &from, offset, bytes.data(), bytes.size(), made); });
  }
  ham_stage copy(const memory_of_node& source, std::uint64_t source_offset, const memory_of_node& target,
                 std::uint64_t target_offset, std::uint64_t bytes) {
    const ham_buffer from = to_buffer(source);
    const ham_buffer to = to_buffer(target);
    return record(
        [&](ham_stage* made) { return ham_graph_copy(graph_, &from, source_offset, &to, target_offset, bytes, made); });
  }
  void after(ham_stage stage, ham_stage before) {
    without_gil([&] { return ham_graph_after(graph_, stage, before); });
  }
  void name(ham_stage stage, const std::string& text) {
    without_gil([&] { return ham_graph_name(graph_, stage, text.c_str()); });
  }
  ham_stage begin_repeat(const std::string& type, nb::handle initial) {
    const argument_list first(initial);  // one, or none
    return record([&](ham_stage* made) {
      return ham_graph_begin_repeat(graph_, type.c_str(), first.size() == 0 ? nullptr : first.data(), made);
    });
  }
  ham_stage end_repeat(ham_stage next, ham_stage until) {
    return record([&](ham_stage* made) { return ham_graph_end_repeat(graph_, next, until, made); });
  }
  compiled_graph* compile(ham_stage result, std::size_t in_flight, nb::object owner) {
    ham_compiled_graph* made = nullptr;
    without_gil([&] { return ham_graph_compile(graph_, result, in_flight, &made); });
    return new compiled_graph(made, std::move(owner));
  }

 private:
  template <class Record>
  ham_stage record(Record how) {
    ham_stage made = HAM_NO_STAGE;
    without_gil([&] { return how(&made); });
    return made;
  }

  ham_graph* graph_ = nullptr;
};

}  // namespace

void define_graph(nb::module_& module) {
  nb::class_<replay>(module, "_Replay")
      .def("wait", &replay::wait, nb::arg("timeout_ms"))
      .def("result", &replay::result)
      .def("request_stop", &replay::request_stop);
  nb::class_<compiled_graph>(module, "_CompiledGraph")
      .def("start", &compiled_graph::start, nb::arg("inputs"), nb::arg("timeout_ms"))
      .def("close", &compiled_graph::close);
  nb::class_<graph>(module, "_Graph")
      .def(nb::init<>())
      .def("input", &graph::input, nb::arg("type"))
      .def("call", &graph::call, nb::arg("node"), nb::arg("name"), nb::arg("layout"), nb::arg("arguments"))
      .def("put", &graph::put, nb::arg("source"), nb::arg("target"), nb::arg("offset"))
      .def("get", &graph::get, nb::arg("source"), nb::arg("offset"), nb::arg("target"))
      .def("copy", &graph::copy, nb::arg("source"), nb::arg("source_offset"), nb::arg("target"),
           nb::arg("target_offset"), nb::arg("nbytes"))
      .def("after", &graph::after, nb::arg("stage"), nb::arg("before"))
      .def("name", &graph::name, nb::arg("stage"), nb::arg("text"))
      .def("begin_repeat", &graph::begin_repeat, nb::arg("type"), nb::arg("initial"))
      .def("end_repeat", &graph::end_repeat, nb::arg("next"), nb::arg("until"))
      .def("compile", &graph::compile, nb::arg("result"), nb::arg("in_flight"), nb::arg("owner"));
}

}  // namespace ham_python
