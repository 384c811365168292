// HAM_TRACE: traces of jobs with several processes, read by a reader of the tests' own.
// link: ham::ham
// timeout: 300
#include "own_mounts.hpp"
#include "support.hpp"
#include "tcp_server.hpp"

#include <fstream>
#include <iterator>
#include <memory>

#include "ham/offload/trace.hpp"
#include "trace/proto_fields.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int traced_add(int one, int other) { return one + other; }
int traced_twice(int value) { return 2 * value; }
int traced_relay(node_t to, int value) { return offload::sync(to, fn<&traced_add>, value, 1); }
void traced_note(int) {}
[[noreturn]] void traced_crash() {
  ::raise(SIGKILL);
  std::abort();
}
[[noreturn]] int traced_end_of_host(pid_t host) {
  ::kill(host, SIGKILL);
  for (;;) ::pause();
}

constexpr int calls = 200;

/// All kinds of events, between all nodes.
int makes_calls() {
  runtime rt(nodes("shm:2"));
  const trace::span all("all calls");
  std::vector<future<int>> results;
  for (int i = 0; i < calls; ++i) results.push_back(offload::async(1 + i % 2, fn<&traced_add>, i, 1));
  for (auto& one : results) static_cast<void>(one.get());
  for (int i = 0; i < calls; ++i) static_cast<void>(offload::sync(1, fn<&traced_relay>, 2, i));
  for (int i = 0; i < 10; ++i) offload::ping(2, fn<&traced_note>, i);
  for (int i = 0; i < 10; ++i) static_cast<void>(offload::sync(1, pooled(fn<&traced_twice>), i));
  offload::buffer<int> there(1, 1000);
  const std::vector<int> here(1000, 3);
  offload::put_sync(here.data(), there.ptr(), 1000);
  trace::counter("residual", 0.25);
  return 0;
}

int loses_a_target() {
  runtime rt(nodes("shm:2"));
  static_cast<void>(offload::sync(1, fn<&traced_add>, 1, 2));
  try {
    offload::sync(1, fn<&traced_crash>);
  } catch (const node_failure&) {
    std::printf("lost\n");
  }
  static_cast<void>(offload::sync(2, fn<&traced_twice>, 2));
  return 0;
}

int makes_calls_over_emulated_pcie() {
  runtime rt(nodes("emulated:1"));
  for (int i = 0; i < calls; ++i) static_cast<void>(offload::sync(1, fn<&traced_add>, i, 1));
  return 0;
}

int is_killed() {
  runtime rt(nodes("shm:1"));
  static_cast<void>(offload::sync(1, fn<&traced_add>, 1, 2));
  offload::sync(1, fn<&traced_end_of_host>, ::getpid());
  return 0;
}

/// A slice, or a moment, of a trace.
struct read_slice {
  std::string name;
  std::string category;
  std::uint64_t track = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t flow_out = 0;
  std::uint64_t flow_in = 0;
};

struct read_trace {
  std::vector<read_slice> slices;
  std::set<std::string> processes;
  std::set<std::string> counters;
  std::vector<std::string> remarks;
  std::int64_t max_bound_ns = 0;
  bool nested = true;  ///< all slices end, and one inside of the other

  explicit read_trace(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (const proto_fields& packet : proto_fields(bytes).messages(1)) read(packet);
    for (const auto& [track, open] : open_) nested = nested && open.empty();
  }
  /// How many slices there are of that category whose names begin and go on like that.
  [[nodiscard]] int count(const std::string& category, const std::string& name, const std::string& begin = "") const {
    return static_cast<int>(std::count_if(slices.begin(), slices.end(), [&](const read_slice& one) {
      return one.category == category && one.name.starts_with(begin) && one.name.find(name) != std::string::npos;
    }));
  }

 private:
  void read(const proto_fields& packet) {
    const proto_fields names = packet.message(12);
    for (std::uint32_t kind : {1U, 2U, 3U})
      for (const proto_fields& one : names.messages(kind)) names_[kind][one.number(1)] = one.text(2);
    if (packet.has(60)) {
      const proto_fields track = packet.message(60);
      if (track.has(3)) processes.insert(track.message(3).text(6));
      if (track.has(8)) counters.insert(track.text(2));
    }
    if (packet.has(11)) take(packet.message(11), static_cast<std::int64_t>(packet.number(8)));
  }
  void take(const proto_fields& event, std::int64_t at) {
    auto& open = open_[event.number(11)];
    const std::uint64_t type = event.number(9);
    if (type == 2) {
      nested = nested && !open.empty() && slices[open.back()].begin <= at;
      if (open.empty()) return;
      slices[open.back()].end = at;
      open.pop_back();
      return;
    }
    if (type != 1 && type != 3) return;
    read_slice one{names_[2].at(event.number(10)),
                   names_[1].at(event.number(3)),
                   event.number(11),
                   at,
                   at,
                   event.number(47),
                   event.number(48)};
    if (one.category == "trace") {
      remarks.push_back(one.name);
      for (const proto_fields& note : event.messages(4))
        if (names_[3].at(note.number(1)) == "bound_ns")
          max_bound_ns = std::max(max_bound_ns, static_cast<std::int64_t>(note.number(4)));
      return;
    }
    nested = nested && (open.empty() || slices[open.back()].begin <= at);
    if (type == 1) open.push_back(slices.size());
    slices.push_back(one);
  }

  std::map<std::uint32_t, std::map<std::uint64_t, std::string>> names_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
};

// ---- a disk without room: one of 16 MB, at the folder of the trace

constexpr int not_permitted = 125;

std::string trace_on_disk() { return std::getenv("HAM_TRACE"); }
std::string filler_on_disk() { return std::filesystem::path(trace_on_disk()).replace_filename("filler"); }
/// Targets begin with the scenario, too, and see what the host has mounted.
bool is_target() { return std::getenv("HAM_TARGET") != nullptr; }
bool mount_disk() {
  if (is_target()) return true;
  const std::string folder = std::filesystem::path(trace_on_disk()).parent_path();
  return own_mounts() && ::mount("none", folder.c_str(), "tmpfs", 0, "size=16m") == 0;
}
int sum_of_calls(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += offload::sync(1, fn<&traced_add>, i, 1) - i;
  return sum;
}

/// It is full from the begin on.
int has_no_disk_for_a_trace() {
  if (!mount_disk()) return not_permitted;
  if (!is_target() && !fill_disk(filler_on_disk())) return 1;
  auto rt = std::make_unique<runtime>(nodes("shm:2"));
  if (sum_of_calls(calls) != calls) return 2;
  rt.reset();
  if (std::filesystem::exists(trace_on_disk())) return 3;
  return std::filesystem::exists(trace_on_disk() + ".parts") ? 4 : 7;
}

/// It is full for a while, in which more is traced than what threads have room for already.
int has_a_full_disk_meanwhile() {
  if (!mount_disk()) return not_permitted;
  auto rt = std::make_unique<runtime>(nodes("shm:1"));
  if (sum_of_calls(calls) != calls) return 1;
  if (!fill_disk(filler_on_disk())) return 2;
  if (sum_of_calls(5000) != 5000) return 3;
  std::filesystem::remove(filler_on_disk());
  rt.reset();
  const read_trace made(trace_on_disk());
  std::printf("calls: %d\n", made.count("execute", "traced_add("));
  std::printf("dropped: %d\n", static_cast<int>(std::ranges::count(made.remarks, "events dropped")));
  return std::filesystem::exists(trace_on_disk() + ".parts") ? 4 : 7;
}

/// It has room for the parts, and none for the trace; some is made later.
int has_no_disk_at_the_end() {
  if (!mount_disk()) return not_permitted;
  auto rt = std::make_unique<runtime>(nodes("shm:1"));
  if (sum_of_calls(calls) != calls) return 1;
  if (!fill_disk(filler_on_disk())) return 2;
  rt.reset();
  if (std::filesystem::exists(trace_on_disk())) return 3;
  if (std::filesystem::exists(trace_on_disk() + ".part")) return 4;
  std::printf("join: ");
  try {
    static_cast<void>(trace::join(trace_on_disk()));
    return 5;
  } catch (const config_error& problem) {
    std::printf("%s\n", problem.what());
  }
  std::filesystem::remove(filler_on_disk());
  const trace::contents made = trace::join(trace_on_disk());
  std::printf("calls: %d\n", read_trace(trace_on_disk()).count("execute", "traced_add("));
  return made.nodes == 2 ? 7 : 6;
}

/// Of a node that does not see the folder of the trace, and traces into memory. TEST_CASE: the disk is full at the end;
/// or a folder is in the place of the trace, so that there is room for the part.
int keeps_the_part_of_a_node_elsewhere() {
  if (!mount_disk()) return not_permitted;
  const bool is_full = std::string(std::getenv("TEST_CASE")) == "full";
  auto rt = std::make_unique<runtime>(nodes(std::getenv("TEST_NODES")));
  if (sum_of_calls(calls) != calls) return 1;
  if (is_full ? !fill_disk(filler_on_disk()) : !std::filesystem::create_directory(trace_on_disk())) return 2;
  rt.reset();
  const std::string part = trace_on_disk() + ".parts/node-1";
  if (is_full) {
    if (std::filesystem::exists(part)) return 3;
    std::filesystem::remove(filler_on_disk());
    for (const auto& one : std::filesystem::directory_iterator(std::getenv("TMPDIR")))
      if (one.path().filename().string().ends_with("-node-1")) std::filesystem::copy_file(one.path(), part);
  } else {
    std::filesystem::remove(trace_on_disk());
  }
  const trace::contents made = trace::join(trace_on_disk());
  std::printf("calls: %d\n", read_trace(trace_on_disk()).count("execute", "traced_add("));
  return made.nodes == 2 ? 7 : 6;
}

const scenario scenarios[] = {{"makes_calls", makes_calls},
                              {"has_no_disk_for_a_trace", has_no_disk_for_a_trace},
                              {"has_a_full_disk_meanwhile", has_a_full_disk_meanwhile},
                              {"has_no_disk_at_the_end", has_no_disk_at_the_end},
                              {"keeps_the_part_of_a_node_elsewhere", keeps_the_part_of_a_node_elsewhere},
                              {"loses_a_target", loses_a_target},
                              {"is_killed", is_killed},
                              {"makes_calls_over_emulated_pcie", makes_calls_over_emulated_pcie}};

/// A folder for a trace, and a job that writes it there.
class traced_job {
 public:
  explicit traced_job(const std::string& scenario, const std::vector<std::string>& more = {})
      : folder_(testing::TempDir() + "trace_test." + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::vector<std::string> environment{"HAM_TRACE=" + path()};
    environment.insert(environment.end(), more.begin(), more.end());
    host_process host(scenario, environment);
    output = host.rest();
    status = host.wait();
  }
  ~traced_job() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ + "/run.pftrace"; }
  [[nodiscard]] bool has_parts() const { return std::filesystem::exists(path() + ".parts"); }

  std::string output;
  int status = -1;

 private:
  const std::string folder_;
};

int number_behind(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + word.size());
}

class traces : public testing::Test {
 protected:
  static const read_trace& of_calls() {
    static const traced_job job("makes_calls");
    EXPECT_EQ(job.status, 0) << job.output;
    EXPECT_EQ(job.output, "");
    EXPECT_FALSE(job.has_parts()) << "they are in the trace";
    static const read_trace trace(job.path());
    return trace;
  }
};

TEST_F(traces, have_a_process_for_each_node) {
  const auto& processes = of_calls().processes;
  ASSERT_EQ(processes.size(), 3U);
  EXPECT_TRUE(processes.begin()->starts_with("node 0, host: ")) << *processes.begin();
}

TEST_F(traces, have_every_call_at_both_ends) {
  const read_trace& trace = of_calls();
  EXPECT_EQ(trace.count("encode", "traced_add(", "call "), 2 * calls);
  EXPECT_EQ(trace.count("execute", "traced_add("), 2 * calls);
  EXPECT_EQ(trace.count("reply", "traced_add(", "reply to "), 2 * calls);
  EXPECT_EQ(trace.count("reply", "traced_add(", "answer of "), 2 * calls);
  EXPECT_EQ(trace.count("execute", "traced_relay("), calls);
  EXPECT_EQ(trace.count("encode", "traced_note(", "ping "), 10);
  EXPECT_EQ(trace.count("execute", "traced_note("), 10);
  EXPECT_EQ(trace.count("execute", "traced_twice("), 10);
  EXPECT_GE(trace.count("queue", "traced_twice(", "queue "), 10) << "for a thread of the pool";
  EXPECT_GE(trace.count("transfer", "put to node 1"), 1);
  EXPECT_EQ(trace.count("span", "all calls"), 1);
  EXPECT_EQ(trace.count("encode", "trace_control"), 0) << "the library's own";
}

TEST_F(traces, have_counters) {
  for (const char* const name : {"residual", "bytes sent per second"}) EXPECT_TRUE(of_calls().counters.contains(name));
}

TEST_F(traces, have_slices_one_inside_of_the_other) { EXPECT_TRUE(of_calls().nested); }

TEST_F(traces, arrows_have_two_ends_and_do_not_point_backwards) {
  const read_trace& trace = of_calls();
  std::map<std::uint64_t, const read_slice*> begins;
  int arrows = 0;
  std::size_t ends = 0;
  for (const read_slice& one : trace.slices) {
    if (one.flow_out == 0) continue;
    EXPECT_TRUE(begins.try_emplace(one.flow_out, &one).second);
  }
  for (const read_slice& one : trace.slices) {
    if (one.flow_in == 0) continue;
    ASSERT_TRUE(begins.contains(one.flow_in)) << one.name;
    const read_slice& from = *begins.at(one.flow_in);
    EXPECT_LE(from.end - one.begin, 2 * trace.max_bound_ns + 1) << from.name << " to " << one.name;
    ++ends;
    const std::size_t name = one.name.find("traced_");
    if (name == std::string::npos) continue;  // of memory
    ++arrows;
    EXPECT_NE(from.name.find(one.name.substr(name)), std::string::npos) << from.name << " to " << one.name;
  }
  EXPECT_EQ(begins.size(), ends);
  EXPECT_EQ(arrows, 2 * (2 * calls + calls + 10) + 10) << "two of each call, one of each ping";
}

TEST_F(traces, state_bounds_of_all_clocks_and_lose_nothing) {
  const read_trace& trace = of_calls();
  EXPECT_EQ(std::count(trace.remarks.begin(), trace.remarks.end(), "clock offset"), 3);
  EXPECT_EQ(std::count(trace.remarks.begin(), trace.remarks.end(), "events dropped"), 0);
}

TEST_F(traces, keep_what_a_killed_target_has_done) {
  const traced_job job("loses_a_target", {"HAM_RECORDER=off"});
  EXPECT_EQ(job.status, 0) << job.output;
  const read_trace trace(job.path());
  EXPECT_EQ(trace.processes.size(), 3U);
  EXPECT_EQ(trace.count("execute", "traced_add("), 1);
  EXPECT_EQ(trace.count("encode", "traced_crash(", "call "), 1);
  EXPECT_EQ(trace.count("execute", "traced_twice("), 1);
  EXPECT_TRUE(trace.nested);
}

TEST_F(traces, of_a_killed_host_are_made_of_its_parts) {
  const traced_job job("is_killed");
  EXPECT_NE(job.status, 0);
  ASSERT_TRUE(job.has_parts());
  const trace::contents made = trace::join(job.path());
  EXPECT_EQ(made.nodes, 2U);
  const read_trace trace(job.path());
  EXPECT_EQ(trace.count("execute", "traced_add("), 1);
  EXPECT_TRUE(trace.nested);
}

TEST_F(traces, of_other_transports_are_as_complete) {
  const traced_job job("makes_calls_over_emulated_pcie");
  EXPECT_EQ(job.status, 0) << job.output;
  const read_trace trace(job.path());
  EXPECT_EQ(trace.count("execute", "traced_add("), calls);
  EXPECT_EQ(trace.count("reply", "traced_add(", "answer of "), calls);
}

TEST_F(traces, that_a_full_disk_has_no_room_for_are_not_made) {
  const traced_job job("has_no_disk_for_a_trace");
  if (WEXITSTATUS(job.status) == not_permitted) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(WEXITSTATUS(job.status), 7) << job.output;
  EXPECT_NE(job.output.find("this job is not traced: cannot trace to " + job.path() +
                            ".parts/node-0 "
                            "(there is no room); free some, or choose another file by HAM_TRACE"),
            std::string::npos)
      << job.output;
}

TEST_F(traces, say_how_much_is_missing_if_the_disk_was_full_for_a_while) {
  const traced_job job("has_a_full_disk_meanwhile");
  if (WEXITSTATUS(job.status) == not_permitted) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(WEXITSTATUS(job.status), 7) << job.output;
  EXPECT_NE(job.output.find(" events are not in " + job.path() + ": there was no room for them"), std::string::npos)
      << job.output;
  EXPECT_GE(number_behind(job.output, "calls: "), calls) << job.output;
  EXPECT_GE(number_behind(job.output, "dropped: "), 1) << job.output;
}

TEST_F(traces, that_a_full_disk_has_no_room_for_are_made_of_their_parts_later) {
  const traced_job job("has_no_disk_at_the_end");
  if (WEXITSTATUS(job.status) == not_permitted) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(WEXITSTATUS(job.status), 7) << job.output;
  const std::string why = "cannot write " + job.path() + " (No space left on device)";
  EXPECT_NE(job.output.find(job.path() + " is not written, its parts are in " + job.path() + ".parts: " + why),
            std::string::npos)
      << job.output;
  EXPECT_NE(job.output.find("ham-trace join " + job.path()), std::string::npos) << job.output;
  EXPECT_NE(job.output.find("join: " + why), std::string::npos) << job.output;
  EXPECT_EQ(number_behind(job.output, "calls: "), calls) << job.output;
}

TEST_F(traces, that_cannot_be_written_keep_the_parts_of_nodes_elsewhere) {
  for (const char* const which : {"full", "folder"}) {
    const std::string others = testing::TempDir() + "trace_test.parts." + std::to_string(::getpid());
    std::filesystem::create_directory(others);
    const server elsewhere("");
    const traced_job job("keeps_the_part_of_a_node_elsewhere",
                         {"HAM_TCP_SECURITY=off", "TEST_NODES=" + elsewhere.nodes(), "TMPDIR=" + others,
                          std::string("TEST_CASE=") + which});
    std::filesystem::remove_all(others);
    if (WEXITSTATUS(job.status) == not_permitted) GTEST_SKIP() << "no namespaces here";
    EXPECT_EQ(WEXITSTATUS(job.status), 7) << which << job.output;
    EXPECT_EQ(number_behind(job.output, "calls: "), calls) << which << job.output;
    const bool says_where = job.output.find("what node 1 has traced is in " + others) != std::string::npos;
    EXPECT_EQ(says_where, which == std::string("full")) << job.output;
  }
}

}  // namespace

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
