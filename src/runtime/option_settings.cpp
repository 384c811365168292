// From texts to members of runtime_options, and from those to texts that hold for the process.
#include "runtime/option_settings.hpp"

#include <utility>
#include <vector>

#include "ham/msg/thread_pool.hpp"

namespace ham::inline v1::detail {
namespace {

using base::setting;

/// Milliseconds as seconds with a point.
std::string in_seconds(std::chrono::milliseconds time) {
  if (time.count() < 0) return std::to_string(time.count()) + " ms";  // no time that anything can take
  std::string digits = std::to_string(time.count() % 1000);
  digits.insert(0, 3 - digits.size(), '0');
  return std::to_string(time.count() / 1000) + "." + digits;
}

std::chrono::milliseconds from_nanoseconds(std::int64_t count) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(count));
}

/// A duration as its number, with a word for 0.
template <class Duration>
std::string count_or(const std::optional<Duration>& time, const char* word) {
  if (!time) return {};
  return time->count() == 0 ? word : std::to_string(time->count());
}

/// What members say of the settings that hold for the whole process; empty: nothing.
std::string text_in(const runtime_options& options, setting which) {
  switch (which) {
    case setting::tcp_security: return options.tcp_security;
    case setting::tcp_records: return options.tcp_records;
    case setting::module_path: return options.module_path;
    case setting::mpi_module: return options.mpi_module;
    case setting::mpi_pause: return count_or(options.mpi_pause, "spin");
    case setting::mpi_end_timeout: return count_or(options.mpi_end_timeout, "never");
    case setting::mpi_map: return options.mpi_map ? (*options.mpi_map ? "1" : "0") : "";
    case setting::pool_threads: return options.pool_threads == 0 ? "" : std::to_string(options.pool_threads);
    case setting::tcp_timeout: return options.tcp_timeout ? in_seconds(*options.tcp_timeout) : "";
    case setting::close_timeout: return options.close_timeout ? in_seconds(*options.close_timeout) : "";
    case setting::start_timeout: return count_or(options.start_timeout, "0");
    case setting::cuda_linger: return count_or(options.cuda_linger, "0");
    case setting::unobserved_errors: return options.unobserved_errors;
    case setting::log: return options.log;
    case setting::recorder: return options.recorder;
    case setting::trace: return options.trace;
    case setting::metrics: return options.metrics == 0 ? "" : std::to_string(options.metrics);
    case setting::output: return options.output;
    case setting::veo_library: return options.veo_library;
    case setting::veo_application: return options.veo_application;
    case setting::fault: return options.fault;
    default: return {};
  }
}

}  // namespace

void take_setting(runtime_options& options, setting which, std::string_view text, const std::string& source) {
  const std::int64_t number = base::parse_setting(which, text, source);
  switch (which) {
    case setting::nodes: options.nodes = text; break;
    case setting::cpu_affinity: options.cpu_affinity = text; break;
    case setting::main_node: options.main_node = static_cast<std::size_t>(number); break;
    case setting::key: options.key = text; break;
    case setting::tcp_security: options.tcp_security = text; break;
    case setting::tcp_records: options.tcp_records = text; break;
    case setting::module_path: options.module_path = text; break;
    case setting::mpi_module: options.mpi_module = text; break;
    case setting::mpi_pause: options.mpi_pause = std::chrono::microseconds(number); break;
    case setting::mpi_end_timeout: options.mpi_end_timeout = std::chrono::seconds(number); break;
    case setting::mpi_map: options.mpi_map = number != 0; break;
    case setting::progress_thread: options.progress_thread = number != 0; break;
    case setting::pool_threads: options.pool_threads = static_cast<std::size_t>(number); break;
    case setting::max_message: options.max_message = static_cast<std::size_t>(number); break;
    case setting::tcp_timeout: options.tcp_timeout = from_nanoseconds(number); break;
    case setting::close_timeout: options.close_timeout = from_nanoseconds(number); break;
    case setting::start_timeout: options.start_timeout = std::chrono::seconds(number); break;
    case setting::cuda_linger: options.cuda_linger = std::chrono::microseconds(number); break;
    case setting::unobserved_errors: options.unobserved_errors = text; break;
    case setting::log: options.log = text; break;
    case setting::recorder: options.recorder = text; break;
    case setting::trace: options.trace = text; break;
    case setting::metrics: options.metrics = static_cast<std::size_t>(number); break;
    case setting::output: options.output = text; break;
    case setting::veo_library: options.veo_library = text; break;
    case setting::veo_application: options.veo_application = text; break;
    case setting::fault: options.fault = text; break;
    case setting::mpi_rank_pid:
    case setting::target: break;  // no settings of a program
  }
}

void use_settings(const runtime_options& options) {
  std::vector<base::program_setting> said;
  for (const base::setting_info& one : base::all_settings()) {
    std::string text = text_in(options, one.id);
    if (text.empty()) continue;
    std::string source = std::string("runtime_options::") + one.field;
    static_cast<void>(base::parse_setting(one.id, text, source));
    said.push_back({one.id, std::move(text), std::move(source)});
  }
  base::use_program_settings(std::move(said));
  base::expect_sound_settings();
  static_cast<void>(base::number_of(setting::fault));  // in a privileged program: refused where it is set
  // The pool may be there already.
  if (options.pool_threads == 0) return;
  msg::thread_pool& pool = msg::thread_pool::process();
  if (pool.size() != options.pool_threads) pool.resize(options.pool_threads);
}

}  // namespace ham::detail
