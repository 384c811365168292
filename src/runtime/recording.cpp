// The recorder of this process, and what those of others say.
#include "ham/offload/recording.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include "base/process_end.hpp"
#include "base/recorder.hpp"
#include "base/recording.hpp"
#include "base/settings.hpp"
#include "base/tracer.hpp"
#include "core/last_events.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "runtime/recorder_files.hpp"
#include "runtime/recording.hpp"

namespace ham::inline v1 {
namespace detail {
namespace {

bool handler_name(std::uint32_t key, std::string_view& name) noexcept {
  const msg::handler_table& table = msg::handler_table::local();
  if (key >= table.size()) return false;
  name = table.name(key);
  return true;
}

using contents = std::map<file_id, std::vector<base::recording>>;

/// All that a file holds: areas begin at multiples of their size.
std::vector<base::recording> read_areas(int fd, std::uint64_t bytes) {
  std::vector<base::recording> found;
  constexpr std::uint64_t step = base::recorder_area::bytes;
  constexpr std::uint64_t max_areas = 1024;  // as many as a job has nodes; bounds what hostile files may cost
  const std::uint64_t end = std::min(bytes, max_areas * step);
  for (std::uint64_t at = 0; at + step <= end; at += step) {
    if (auto read = base::parse_recording(base::read_recorder_area(fd, at))) found.push_back(std::move(*read));
  }
  return found;
}

node_recording::action action_of(base::recorded_kind kind) noexcept {
  using from = base::recorded_kind;
  using to = node_recording::action;
  switch (kind) {
    case from::sent: return to::called;
    case from::pinged: return to::pinged;
    case from::sent_batch: return to::sent_batch;
    case from::executing: return to::executing;
    case from::queued: return to::queued;
    case from::executed:
    case from::none: break;
  }
  return to::executed;
}

std::vector<node_recording::event> for_people(const base::recording& of,
                                              const std::vector<base::recording::event>& all) {
  std::vector<node_recording::event> result;
  for (const base::recording::event& one : all) {
    const node_recording::action what = action_of(one.kind);
    result.push_back({what, what == node_recording::action::sent_batch ? std::string() : recorded_function(of, one),
                      one.peer, one.call, one.age_ns < 0 ? -1 : static_cast<double>(one.age_ns) / 1e9});
  }
  return result;
}

node_recording for_people(const base::recording& of) {
  node_recording result;
  result.node = of.node;
  result.pid = of.pid;
  result.alive =
      base::process_is_there(of.pid) && !base::confirms_end(static_cast<pid_t>(of.pid), std::chrono::microseconds(0));
  for (const base::recording::thread& one : of.threads)
    result.threads.push_back({one.id, for_people(of, one.open), for_people(of, one.past)});
  return result;
}

/// The process itself if it has such a file, and those that hold what it has recorded.
std::set<pid_t> who_knows(std::int64_t pid, const recorder_files& files, const contents& read) {
  std::set<pid_t> result;
  for (const auto& [process, open] : files.of) {
    bool knows = process == pid;
    for (const file_id& id : open) {
      const auto& areas = read.at(id);
      knows = knows || std::any_of(areas.begin(), areas.end(), [&](const auto& one) { return one.pid == pid; });
    }
    if (knows) result.insert(process);
  }
  return result;
}

[[noreturn]] void throw_nothing(std::int64_t pid, bool refused) {
  const std::string who = "process " + std::to_string(pid);
  if (base::process_is_there(pid)) {
    throw config_error("there is no recording of " + who +
                       " (it is in no job of HAM, has called and executed nothing, has HAM_RECORDER=off" +
                       (refused ? ", or belongs to another user, as whom this has to run)" : ")") +
                       "; give the pid of the host or of a target");
  }
  throw config_error("there is no recording of " + who +
                     " (it has ended, and no process of its job lives that shares memory with it); give the pid of a "
                     "process of the job that lives");
}

}  // namespace

void start_recorder(node_t self) {
  constexpr std::int64_t off = 1;
  if (base::number_of(base::setting::recorder) == off)
    base::disable_recorder();
  else
    base::enable_recorder(self, &handler_name);
}

void name_execution(std::string_view name) noexcept {
  if (const std::uint32_t key = base::named_function(name); key != msg::invalid_key)
    base::this_recorder.name_execution(key);
  if (base::tracing()) base::this_tracer.name_execution(name);
}
void name_execution(const msg::handler_entry& function) noexcept {
  base::this_recorder.name_execution(function.key());
  if (base::tracing()) base::this_tracer.name_execution(function.key());
}

}  // namespace detail

const char* to_string(node_recording::action what) noexcept {
  switch (what) {
    case node_recording::action::called: return "called";
    case node_recording::action::pinged: return "pinged";
    case node_recording::action::sent_batch: return "sent batch";
    case node_recording::action::executing: return "executing";
    case node_recording::action::executed: return "executed";
    case node_recording::action::queued: return "queued";
  }
  return "unknown";
}

std::vector<node_recording> read_recordings(std::int64_t pid) {
  detail::contents read;
  const detail::recorder_files files = detail::find_recorder_files(
      [&](detail::file_id id, int fd, std::uint64_t bytes) { read[id] = detail::read_areas(fd, bytes); });
  std::set<detail::file_id> shown;
  for (const pid_t process : detail::related_to(detail::who_knows(pid, files, read), files))
    shown.insert(files.of.at(process).begin(), files.of.at(process).end());
  std::vector<node_recording> result;
  for (const detail::file_id& id : shown) {
    for (const base::recording& one : read.at(id)) result.push_back(detail::for_people(one));
  }
  if (result.empty()) detail::throw_nothing(pid, files.refused);
  std::sort(result.begin(), result.end(), [](const node_recording& one, const node_recording& other) {
    return std::tie(one.node, one.pid) < std::tie(other.node, other.pid);
  });
  return result;
}

}  // namespace ham
