// The runtime as users see it, and the explicit start in the style of MPI.
#include "ham/offload/runtime.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/thread.hpp"
#include "runtime/compose.hpp"
#include "runtime/options.hpp"
#include "runtime/serve.hpp"
#include "runtime/start.hpp"

namespace ham {
namespace detail {
namespace {

std::unique_ptr<runtime_parts>& process_job() {
  static std::unique_ptr<runtime_parts> job;
  return job;
}

/// A target executes calls here and does not come back.
void leave_if_target() {
  if (!is_target_process()) return;
  run_target();
  std::exit(0);
}

}  // namespace

std::vector<std::string> command_line(int argc, char** argv) {
  std::vector<std::string> command{"/proc/self/exe"};
  for (int i = 1; i < argc; ++i) command.emplace_back(argv[i]);
  return command;
}

/// A program that waits for hosts comes here when a job that it served has ended.
void leave_if_serving(const runtime_options& options) {
  if (options.serve.empty()) return;
  serve_hosts(options);
  std::exit(0);
}

void start_process_job(int& argc, char**& argv) {
  runtime_options options;
  take_options(argc, argv, options);
  leave_if_serving(options);
  process_job() = start_host(options, command_line(argc, argv));
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

runtime::runtime(int& argc, char**& argv, runtime_options options) {
  detail::leave_if_target();
  detail::take_options(argc, argv, options);
  detail::leave_if_serving(options);
  parts_ = detail::start_host(options, detail::command_line(argc, argv));
}

runtime::runtime(runtime_options options) {
  detail::leave_if_target();
  detail::fill_from_environment(options);
  detail::leave_if_serving(options);
  parts_ = detail::start_host(options, {});
}

runtime::~runtime() = default;

std::size_t runtime::num_nodes() const noexcept { return parts_->host->num_nodes(); }
node_t runtime::this_node() const noexcept { return parts_->host->self(); }

runtime::scope runtime::use() noexcept { return scope(parts_->host.get()); }
runtime::scope::scope(detail::engine* at) noexcept : before_(detail::set_thread_engine(at)) {}
runtime::scope::~scope() { detail::set_thread_engine(before_); }

namespace offload {

bool ham_init(int* argc, char*** argv) {
  if (ham::detail::is_target_process()) {
    ham::detail::run_target();
    return false;
  }
  int none = 0;
  char* empty[] = {nullptr};
  char** no_arguments = empty;
  if (argc != nullptr && argv != nullptr)
    ham::detail::start_process_job(*argc, *argv);
  else
    ham::detail::start_process_job(none, no_arguments);
  std::atexit([] { ham::detail::end_process_job(); });
  return true;
}

void ham_finalise() { ham::detail::end_process_job(); }

}  // namespace offload
}  // namespace ham
