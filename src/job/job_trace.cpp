// Parts on this machine are files of a folder beside the trace, so that they outlive their nodes; others are fetched.
#include "job/job_trace.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <random>
#include <utility>

#include "base/clock.hpp"
#include "base/file_bytes.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/tracer.hpp"
#include "base/unique_fd.hpp"
#include "core/unobserved.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/trace.hpp"
#include "runtime/engine.hpp"
#include "runtime/tracing.hpp"
#include "trace/join.hpp"

namespace ham::inline v1 {
namespace detail {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int clock_round_trips = 32;
constexpr std::chrono::seconds max_wait{5};  // for one answer
/// For all that is asked at the end of the job: what nodes that answer slowly have not sent by then is left out.
constexpr std::int64_t max_end_ns = 120'000'000'000;

/// For the next answer. Never negative: what comes too late fails as what nobody answers.
std::chrono::nanoseconds time_left(std::int64_t until_ns) {
  return std::clamp<std::chrono::nanoseconds>(std::chrono::nanoseconds(until_ns - base::now_ns()), 0ns, max_wait);
}

template <class... Values>
void warn(const char* format, Values... values) {
  base::log("trace", base::log_level::warning, format, values...);
}

/// A further trace of this process has its number in its name: run.2.pftrace.
std::string path_of_next_trace(const std::string& setting) {
  static std::atomic<unsigned> traces{0};
  const unsigned number = ++traces;
  fs::path path = fs::absolute(setting);
  if (number > 1)
    path.replace_filename(path.stem().string() + "." + std::to_string(number) + path.extension().string());
  return path.string();
}

/// A file that is new, and not one that somebody has put there, or a link to one.
void make_draft(const std::string& path) {
  ::unlink(path.c_str());
  const base::unique_fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!made) throw config_error("cannot make " + path + " (" + std::strerror(errno) + ")");
}

/// In place of what was there, when it is complete.
trace::join_result write_complete(const std::string& path, const trace::job_parts& parts) {
  const std::string draft = path + ".part";
  make_draft(draft);
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  const trace::join_result result = trace::write_trace(parts, file);
  file.close();
  if (!file || ::rename(draft.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(draft.c_str());
    throw config_error("cannot write " + path + " (" + why + ")");
  }
  return result;
}

/// A new file with these bytes; 0, or why there is none, as errno.
int write_new(const std::string& path, const std::vector<std::byte>& bytes) {
  const base::unique_fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made) return errno;
  const int why = base::write_bytes(made.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (why != 0) ::unlink(path.c_str());
  return why;
}

/// Parts that only this process has: into the folder of the others, or, if that has no room, where temporary files go.
void keep(const std::vector<std::vector<std::byte>>& fetched, const std::string& folder, std::uint64_t job) {
  for (const std::vector<std::byte>& bytes : fetched) {
    const std::optional<base::trace_part> part = base::parse_trace_part(bytes);
    if (!part || part->job != job) continue;
    const std::string path = file_of_part(folder, part->node);
    const int why = write_new(path, bytes);
    if (why == 0) continue;
    std::error_code failure;
    const std::string name = "ham-trace-" + std::to_string(job) + "-node-" + std::to_string(part->node);
    const std::string other = (fs::temp_directory_path(failure) / name).string();
    if (!failure && write_new(other, bytes) == 0)
      warn(
          "%s cannot be written (%s): what node %d has traced is in %s; it must be moved to the former before "
          "ham-trace join",
          path.c_str(), std::strerror(why), part->node, other.c_str());
    else
      warn("what node %d has traced is lost: %s cannot be written (%s)", part->node, path.c_str(), std::strerror(why));
  }
}

}  // namespace

std::unique_ptr<job_trace> job_trace::start(engine& host) {
  const std::string setting = base::text_of(base::setting::trace);
  if (setting.empty() || base::tracing()) return nullptr;
  try {
    std::random_device random;
    const std::uint64_t job = std::uint64_t{random()} << 32U | random();
    std::unique_ptr<job_trace> made(new job_trace(host, path_of_next_trace(setting), job));
    const auto remove = [](trace_folder* unused) { unused->remove(); };
    std::unique_ptr<trace_folder, decltype(remove)> unused(&made->folder_, remove);
    if (!start_tracing(host.self(), job, file_of_part(made->folder_.path(), host.self()))) return nullptr;
    static_cast<void>(unused.release());
    made->goes_on_.store(true);
    static_cast<void>(::flock(base::trace_file(), LOCK_EX | LOCK_NB));
    return made;
  } catch (const std::exception& problem) {
    warn("this job is not traced: %s", problem.what());
    return nullptr;
  }
}

job_trace::job_trace(engine& host, std::string path, std::uint64_t job)
    : host_(host), path_(std::move(path)), folder_(folder_of_parts(path_)), job_(job) {}

job_trace::~job_trace() { finish(); }

/// The shortest of some round trips says how far the clocks are apart. A node has `max_wait` for all of them.
void job_trace::measure_clocks(const std::vector<node_t>& nodes, std::int64_t until_ns) {
  for (const node_t node : nodes) {
    const std::int64_t its_end_ns = base::now_ns() + time_left(until_ns).count();
    try {
      for (int i = 0; i < clock_round_trips; ++i)
        offload::sync(offload::within(host_.exactly(node), time_left(its_end_ns)), fn<&trace_control::ping>);
    } catch (const std::exception& problem) {
      warn("the clock of node %d is not measured: %s", node, problem.what());
    }
  }
}

/// Holds no lock: while it waits, the thread executes calls, which may add nodes.
void job_trace::add(const std::vector<node_t>& nodes) noexcept {
  if (!goes_on_.load()) return;
  const engine_scope scope(&host_);
  try {
    std::vector<node_t> begun;
    std::vector<std::pair<node_t, offload::future<void>>> begins;
    for (const node_t node : nodes)
      begins.emplace_back(node, offload::async(offload::within(host_.exactly(node), max_wait),
                                               fn<&trace_control::begin>, folder_.path(), job_));
    for (auto& [node, one] : begins) {
      if (const std::exception_ptr why = one.error(); why != nullptr)
        warn("node %d is not traced: %s", node, describe(why).c_str());
      else
        begun.push_back(node);
    }
    measure_clocks(begun, base::never_ns);
  } catch (const std::exception& problem) {
    warn("nodes are not traced: %s", problem.what());
  }
}

/// As much as comes in time: the last chunk of a part may end early.
std::vector<std::byte> job_trace::fetch_part(node_t node, std::uint64_t bytes, std::int64_t until_ns) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  const std::uint64_t most = std::min(bytes, base::trace_setup().max_bytes);  // whatever the node says
  std::vector<std::byte> all;
  while (all.size() < most) {
    const auto left = time_left(until_ns);
    if (left == 0ns) {
      warn("of node %d a part of what it has traced is missing: it did not come in time", node);
      break;
    }
    const std::vector<std::byte> next = offload::sync(offload::within(host_.exactly(node), left),
                                                      fn<&trace_control::read>, std::uint64_t{all.size()}, piece);
    if (next.empty()) break;
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
}

/// Of nodes that have no part in the folder. A node that does not answer is left with what is there.
std::vector<std::vector<std::byte>> job_trace::fetch_parts() {
  const std::int64_t until_ns = base::now_ns() + max_end_ns;
  std::vector<node_t> nodes = host_.peers.ready_nodes(host_.self());
  measure_clocks(nodes, until_ns);
  std::vector<std::pair<node_t, offload::future<std::uint64_t>>> ends;
  for (const node_t node : nodes) {
    try {
      ends.emplace_back(
          node, offload::async(offload::within(host_.exactly(node), time_left(until_ns)), fn<&trace_control::end>));
    } catch (const std::exception&) {  // it is lost
      continue;
    }
  }
  std::vector<std::vector<std::byte>> parts;
  for (auto& [node, one] : ends) {
    try {
      if (const std::uint64_t bytes = one.get(); bytes != 0) parts.push_back(fetch_part(node, bytes, until_ns));
    } catch (const std::exception& problem) {
      warn("of node %d there is in the trace what it has left: %s", node, problem.what());
    }
  }
  return parts;
}

void job_trace::finish() noexcept {
  if (!goes_on_.exchange(false)) return;
  const engine_scope scope(&host_);
  std::vector<std::vector<std::byte>> fetched;
  try {
    fetched = fetch_parts();
    stop_tracing();
    trace::job_parts parts = read_trace_parts(folder_.path(), job_);
    for (const std::vector<std::byte>& one : fetched)
      if (auto part = base::parse_trace_part(one); part && part->job == job_) parts.push_back(std::move(*part));
    const trace::join_result result = write_complete(path_, parts);
    folder_.remove();
    if (result.dropped != 0)
      warn("%llu events are not in %s: there was no room for them", static_cast<unsigned long long>(result.dropped),
           path_.c_str());
  } catch (const std::exception& problem) {
    stop_tracing();
    try {
      keep(fetched, folder_.path(), job_);
    } catch (const std::exception& other) {
      warn("what nodes have traced into memory is lost: %s", other.what());
    }
    warn("%s is not written, its parts are in %s: %s; when that is mended: ham-trace join %s", path_.c_str(),
         folder_.path().c_str(), problem.what(), path_.c_str());
  }
}

std::vector<base::trace_part> read_trace_parts(const std::string& folder, std::uint64_t job) {
  std::vector<base::trace_part> parts;
  std::error_code problem;
  for (const auto& file : fs::directory_iterator(folder, problem)) {
    if (!is_trace_part(file.path().filename().string())) continue;
    try {
      if (auto part = base::parse_trace_part(bytes_of_file(file.path().string()))) parts.push_back(std::move(*part));
    } catch (const std::bad_alloc&) {  // a file may say that it is long without having anything in it
      warn("there is no memory for %s, which is left out", file.path().c_str());
    }
  }
  if (job == 0) {
    for (const base::trace_part& one : parts)
      if (one.node == 0 || job == 0) job = one.job;
  }
  std::erase_if(parts, [job](const base::trace_part& one) { return one.job != job; });
  return parts;
}

}  // namespace detail

trace::contents trace::join(const std::string& path) {
  const std::string folder = ham::detail::folder_of_parts(path);
  const job_parts parts = ham::detail::read_trace_parts(folder, 0);
  if (parts.empty()) {
    throw config_error(
        "there are no parts of a trace in " + folder +
        " (its host has joined them, or HAM_TRACE named another file); give the name that HAM_TRACE had");
  }
  const join_result result = ham::detail::write_complete(path, parts);
  return {result.nodes, result.calls, result.dropped, result.max_backwards_ns};
}

}  // namespace ham
