// Tracing of this process, and of others by calls.
#include "runtime/tracing.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/immortal.hpp"
#include "base/memory_file.hpp"
#include "base/renew.hpp"
#include "base/tracer.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/offload/trace.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1 {
namespace detail {
namespace {

bool traced_handler_name(std::uint32_t key, std::string_view& name) noexcept {
  const msg::handler_table& table = msg::handler_table::local();
  if (key >= table.size()) return false;
  name = table.name(key);
  return true;
}

/// Whether the trace that runs here is in memory, which only this process has.
std::atomic<bool>& is_in_memory() { return base::immortal<std::atomic<bool>, trace::span>(); }

/// Whoever may write into the folder may have put something there that keeps who opens it waiting.
base::unique_fd open_part(const std::string& path) noexcept {
  return base::unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool holds_part_of(const std::string& path, std::uint64_t job) {
  const base::unique_fd file = open_part(path);
  base::trace_head head{};
  return file && ::pread(file.get(), static_cast<void*>(&head), sizeof head, 0) == sizeof head &&
         head.magic == base::trace_head::magic_value && head.job == job;
}

}  // namespace

bool start_tracing(node_t self, std::uint64_t job, const std::string& path) {
  base::trace_setup how;
  how.node = self;
  how.job = job;
  how.path = path;
  how.names = &traced_handler_name;
  if (!base::begin_trace(how)) return false;
  is_in_memory().store(path.empty());
  trace::detail::session.store(base::trace_session.load());
  return true;
}

void stop_tracing() noexcept {
  trace::detail::session.store(0);
  base::end_trace();
}

void forget_tracing_after_fork() noexcept {
  trace::detail::session.store(0);
  base::detach_tracer_after_fork();
}

std::string folder_of_parts(const std::string& trace) { return trace + ".parts"; }
std::string file_of_part(const std::string& folder, node_t node) { return folder + "/node-" + std::to_string(node); }

std::vector<std::byte> bytes_of_file(int fd) {
  struct stat is {};
  if (::fstat(fd, &is) != 0 || !S_ISREG(is.st_mode) || is.st_size <= 0) return {};
  const auto size = static_cast<std::uint64_t>(is.st_size);
  if (size > base::trace_setup().max_bytes) return {};  // no node writes so much
  std::vector<std::byte> bytes(size);
  bytes.resize(base::read_bytes(fd, bytes, 0));
  return bytes;
}

std::vector<std::byte> bytes_of_file(const std::string& path) { return bytes_of_file(open_part(path).get()); }

namespace trace_control {

void begin(std::string folder, std::uint64_t job) {
  const node_t self = current().self();
  const bool is_here = holds_part_of(file_of_part(folder, 0), job);
  static_cast<void>(start_tracing(self, job, is_here ? file_of_part(folder, self) : std::string()));
}

void ping() {}

std::uint64_t end() {
  stop_tracing();
  return is_in_memory().load() ? base::file_size(base::trace_file()) : 0;
}

std::vector<std::byte> read(std::uint64_t from, std::uint64_t bytes) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20;
  std::vector<std::byte> piece(std::min(bytes, max_bytes));
  piece.resize(base::read_bytes(base::trace_file(), piece, from));
  return piece;
}

namespace {

[[maybe_unused]] const bool always_run = detail::always_run(fn<&begin>, fn<&ping>, fn<&end>, fn<&read>);

}  // namespace
}  // namespace trace_control
}  // namespace detail

namespace trace::detail {

constinit std::atomic<std::uint32_t> session{0};

namespace {

/// Of the engine that the thread works for, else of its last event.
node_t traced_node() noexcept {
  const ham::detail::engine* const at = ham::detail::current_or_null();
  return at == nullptr ? base::this_tracer.node() : at->self();
}

}  // namespace

std::uint64_t begin_span() noexcept { return base::read_ticks(); }

void end_span(std::uint64_t begun, std::string_view name) noexcept {
  if (!base::tracing()) return;
  const std::uint64_t end = base::read_ticks();
  const std::uint64_t number = base::this_tracer.number_of(traced_node(), name);
  base::this_tracer.add(traced_node(), base::trace_event::make(base::trace_kind::span, begun, end, 0, number));
}

void add_count(std::string_view name, double value) noexcept {
  if (!base::tracing()) return;
  const std::uint64_t now = base::read_ticks();
  const node_t node = traced_node();
  const std::uint64_t number = base::this_tracer.number_of(node, name);
  base::this_tracer.add(
      node, base::trace_event::make(base::trace_kind::counter, now, now, std::bit_cast<std::uint64_t>(value), number));
}

}  // namespace trace::detail
}  // namespace ham
