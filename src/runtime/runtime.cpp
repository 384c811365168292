// The runtime as users see it, and the explicit start in the style of MPI.
#include "ham/offload/runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/own_program.hpp"
#include "base/thread.hpp"
#include "compose/transports.hpp"
#include "job/main_here.hpp"
#include "job/run_target.hpp"
#include "job/serve.hpp"
#include "job/start.hpp"
#include "runtime/end_of_main.hpp"
#include "runtime/options.hpp"
#include "runtime/start.hpp"

namespace ham::inline v1 {
namespace detail {
namespace {

std::unique_ptr<runtime_parts>& process_job() {
  static std::unique_ptr<runtime_parts> job;
  return job;
}

}  // namespace

std::vector<std::string> command_line(int argc, char** argv) {
  std::vector<std::string> command{base::own_program_link};
  for (int i = 1; i < argc; ++i) command.emplace_back(argv[i]);
  return command;
}

/// For those who start a runtime without their command line: it is the program's all the same.
std::vector<std::string> own_command_line() {
  std::vector<std::string> command{base::own_program_link};
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string word;
  std::getline(file, word, '\0');  // the program's name
  while (std::getline(file, word, '\0')) command.push_back(word);
  return command;
}

namespace {

/// Where main runs, as the program sees it; with the arguments that the host was started with.
std::unique_ptr<runtime_parts> enter_main(target_of_main target, int& argc, char**& argv) {
  main_here::begin(std::move(target));
  static_cast<void>(main_here::enter(argc, argv));
  return parts_of_main_here();
}

/// A target that executes calls when the program says so.
std::unique_ptr<runtime_parts> target_to_serve(bool plain_output) {
  expected_target expected = expect_target_process(plain_output);
  auto parts = std::make_unique<runtime_parts>();
  parts->self = expected.self;
  parts->nodes = expected.nodes;
  parts->serve = [run = std::move(expected.run)] {
    const target_of_main target = run();
    if (target != nullptr)
      target->end_main(0, false, "the program serves by ham::runtime::serve(), which runs no main");
  };
  return parts;
}

/// The start of the program's own runtime. Targets execute calls here; nullptr: this process was one, and its job has
/// ended. `take_options` is called where there is a host, `command` is this program with its arguments after that.
template <class Take, class Command>
std::unique_ptr<runtime_parts> start_program(int& argc, char**& argv, runtime_options& options, Take take_options,
                                             Command command) {
  if (is_target_process() && options.returns_in_targets) return target_to_serve(options.plain_output);
  if (is_target_process()) {
    target_of_main target = run_target_process(options.plain_output);
    return target == nullptr ? nullptr : enter_main(std::move(target), argc, argv);
  }
  if (main_here::enter(argc, argv)) return parts_of_main_here();
  take_options();
  if (!options.serve.empty()) {
    target_of_main target = serve_hosts(options, command());
    if (target == nullptr && options.returns_in_targets) return std::make_unique<runtime_parts>();
    if (target == nullptr) std::exit(0);
    return enter_main(std::move(target), argc, argv);
  }
  auto parts = start_job(options, command());
  if (parts->here() == nullptr) {
    if (!options.returns_in_targets) parts.reset();
    return parts;
  }
  if (parts->host != nullptr && options.main_node != 0) {
    process_job() = std::move(parts);  // a function that exits here ends the job in order
    std::atexit([] { end_process_job(); });
    int status = 0;
    try {
      status = serve_main_elsewhere(*process_job(), options, command());
    } catch (...) {
      end_process_job();
      throw;
    }
    std::exit(status);
  }
  static_cast<void>(main_here::enter(argc, argv));
  return parts;
}

/// A target does not come back from the constructor of a runtime.
runtime_parts* or_exit(std::unique_ptr<runtime_parts> parts) {
  if (parts == nullptr) std::exit(0);
  return parts.release();
}

}  // namespace

bool start_process_job(int& argc, char**& argv) {
  runtime_options options;
  process_job() = start_program(
      argc, argv, options, [&] { take_options(argc, argv, options); }, [&] { return command_line(argc, argv); });
  return process_job() != nullptr;
}

void end_process_job() noexcept {
  // A thread of the library cannot wait for itself; the kernel ends the targets with this process.
  if (base::on_library_thread)
    static_cast<void>(process_job().release());
  else
    process_job().reset();
}

}  // namespace detail

runtime::runtime(int& argc, char**& argv) : runtime(argc, argv, {}) {}

runtime::runtime(int& argc, char**& argv, runtime_options options)
    : parts_(detail::or_exit(detail::start_program(
          argc, argv, options, [&] { detail::take_options(argc, argv, options); },
          [&] { return detail::command_line(argc, argv); }))) {}

runtime::runtime(runtime_options options) {
  int argc = 0;
  char** argv = nullptr;
  parts_ = detail::or_exit(detail::start_program(
      argc, argv, options, [&] { detail::fill_from_environment(options); }, detail::own_command_line));
}

runtime::runtime(const detail::communicator_handle& ranks, runtime_options options) {
  const std::string ranks_name(detail::launched_transport().name());
  if (options.nodes.empty()) options.nodes = ranks_name;
  detail::fill_from_environment(options);
  if (!options.nodes.starts_with(ranks_name)) {
    throw config_error("the runtime of a communicator has its ranks as nodes: nodes=\"" + options.nodes +
                       "\" must begin with " + ranks_name);
  }
  if (options.main_node != 0) {
    throw config_error(
        "runtime_options::main_node is for the start of a whole program; in the runtime of a communicator every rank "
        "runs main already");
  }
  parts_ = detail::start_job(options, {}, ranks.bytes).release();
}

runtime::~runtime() { delete parts_; }

std::size_t runtime::num_nodes() const noexcept {
  return parts_->here() == nullptr ? parts_->nodes : parts_->here()->peers.size();
}
node_t runtime::this_node() const noexcept { return parts_->self; }

offload::destination runtime::node(offload::node_number number) const {
  const detail::engine* const at = parts_->here();
  if (at == nullptr)
    throw config_error(
        "this runtime has no nodes to call (it is a target that has not served yet, or whose job has "
        "ended); call serve() first, or keep to the host");
  return {number, 0, at->serial};
}

bool runtime::serve() {
  if (const auto run = std::exchange(parts_->serve, nullptr)) run();
  return parts_->here() == nullptr;
}

runtime::scope runtime::use() noexcept { return scope(parts_->here()); }
runtime::scope::scope(detail::engine* at) noexcept : before_(detail::set_thread_engine(at)) {}
runtime::scope::~scope() { detail::set_thread_engine(before_); }

namespace offload {

bool ham_init(int* argc, char*** argv) {
  int none = 0;
  char* empty[] = {nullptr};
  char** no_arguments = empty;
  const bool given = argc != nullptr && argv != nullptr;
  if (!ham::detail::start_process_job(given ? *argc : none, given ? *argv : no_arguments)) return false;
  std::atexit([] { ham::detail::end_process_job(); });
  ham::detail::exit_with_last_thread();
  return true;
}

bool ham_init(int argc, char** argv) {
  std::vector<char*> own(argv, argv == nullptr ? argv : argv + argc);
  own.push_back(nullptr);
  int count = static_cast<int>(own.size()) - 1;
  char** words = own.data();
  return ham_init(&count, &words);
}

void ham_finalise() { ham::detail::end_process_job(); }

}  // namespace offload
}  // namespace ham
