// The trace of a job, from the host's side: has nodes begin, collects what they have written, and joins it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/trace_part.hpp"
#include "ham/misc/types.hpp"
#include "job/trace_folder.hpp"

namespace ham::inline v1::detail {

class engine;

/// On the host; any thread.
class job_trace {
 public:
  /// nullptr: HAM_TRACE does not ask for one, or it cannot be, which is logged. `host` outlives this.
  [[nodiscard]] static std::unique_ptr<job_trace> start(engine& host);
  job_trace(const job_trace&) = delete;
  job_trace& operator=(const job_trace&) = delete;
  ~job_trace();

  /// Nodes that can be called have joined: they trace from now on. Blocks for some round trips.
  void add(const std::vector<node_t>& nodes) noexcept;
  /// Ends tracing on all nodes that can be called and writes the trace. Blocks. Again: nothing.
  void finish() noexcept;

 private:
  job_trace(engine& host, std::string path, std::uint64_t job);
  void measure_clocks(const std::vector<node_t>& nodes, std::int64_t until_ns);
  [[nodiscard]] std::vector<std::vector<std::byte>> fetch_parts();
  [[nodiscard]] std::vector<std::byte> fetch_part(node_t node, std::uint64_t bytes, std::int64_t until_ns);

  engine& host_;
  const std::string path_;
  trace_folder folder_;
  const std::uint64_t job_;
  std::atomic<bool> goes_on_{false};  ///< from the start of the trace to finish()
};

/// All parts in a folder that are of one trace: of that job, or, for 0, of the one of the host's part.
[[nodiscard]] std::vector<base::trace_part> read_trace_parts(const std::string& folder, std::uint64_t job);

}  // namespace ham::detail
