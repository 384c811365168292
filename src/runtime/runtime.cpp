// The runtime as users see it, and the explicit start in the style of MPI.
#include "ham/offload/runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/own_program.hpp"
#include "base/thread.hpp"
#include "compose/transports.hpp"
#include "job/run_target.hpp"
#include "job/serve.hpp"
#include "job/start.hpp"
#include "runtime/end_of_main.hpp"
#include "runtime/options.hpp"
#include "runtime/start.hpp"

namespace ham {
namespace detail {
namespace {

std::unique_ptr<runtime_parts>& process_job() {
  static std::unique_ptr<runtime_parts> job;
  return job;
}

/// A target executes calls here and does not come back.
void leave_if_target(const runtime_options& options) {
  if (!is_target_process()) return;
  run_target_process(options.plain_output);
  std::exit(0);
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

/// A program that waits for hosts comes here when a job that it served has ended.
void leave_if_serving(const runtime_options& options) {
  if (options.serve.empty()) return;
  serve_hosts(options);
  std::exit(0);
}

bool start_process_job(int& argc, char**& argv) {
  runtime_options options;
  take_options(argc, argv, options);
  leave_if_serving(options);
  process_job() = start_job(options, command_line(argc, argv));
  if (process_job()->host != nullptr) return true;
  process_job().reset();
  return false;
}

/// The ranks of MPI among which this one is the host; a target ends here.
std::unique_ptr<runtime_parts> start_or_exit(const runtime_options& options, std::vector<std::string> command) {
  auto parts = start_job(options, std::move(command));
  if (parts->host != nullptr) return parts;
  parts.reset();
  std::exit(0);
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
  detail::leave_if_target(options);
  detail::take_options(argc, argv, options);
  detail::leave_if_serving(options);
  parts_ = detail::start_or_exit(options, detail::command_line(argc, argv)).release();
}

runtime::runtime(runtime_options options) {
  detail::leave_if_target(options);
  detail::fill_from_environment(options);
  detail::leave_if_serving(options);
  parts_ = detail::start_or_exit(options, detail::own_command_line()).release();
}

runtime::runtime(const detail::communicator_handle& ranks, runtime_options options) {
  const std::string ranks_name(detail::launched_transport().name());
  if (options.nodes.empty()) options.nodes = ranks_name;
  detail::fill_from_environment(options);
  if (!options.nodes.starts_with(ranks_name)) {
    throw config_error("the runtime of a communicator has its ranks as nodes: nodes=\"" + options.nodes +
                       "\" must begin with " + ranks_name);
  }
  parts_ = detail::start_job(options, {}, ranks.bytes).release();
}

runtime::~runtime() { delete parts_; }

std::size_t runtime::num_nodes() const noexcept {
  return parts_->host == nullptr ? parts_->nodes : parts_->host->peers.size();
}
node_t runtime::this_node() const noexcept { return parts_->self; }

runtime::scope runtime::use() noexcept { return scope(parts_->host.get()); }
runtime::scope::scope(detail::engine* at) noexcept : before_(detail::set_thread_engine(at)) {}
runtime::scope::~scope() { detail::set_thread_engine(before_); }

namespace offload {

bool ham_init(int* argc, char*** argv) {
  if (ham::detail::is_target_process()) {
    ham::detail::run_target_process();
    return false;
  }
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
