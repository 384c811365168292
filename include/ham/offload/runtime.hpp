// The runtime as an object: explicit start and end of a job.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "ham/error.hpp"
#include "ham/offload/destination.hpp"

namespace ham::inline v1 {

namespace detail {
class engine;
struct runtime_parts;
/// Bytes of a communicator's handle, of whatever MPI; see ham/mpi.hpp.
struct communicator_handle {
  alignas(16) std::byte bytes[16]{};
};
}  // namespace detail

/// Settings of a runtime. Each is also an option of the command line and a variable of the environment; `tcp_timeout`
/// is
/// --ham-tcp-timeout and HAM_TCP_TIMEOUT. The command line comes first, then what is set here, then the environment,
/// then the default. docs/configuration.md lists values and defaults. Throws ham::config_error at the start for what
/// cannot be used.
struct runtime_options {
  std::string nodes{};  ///< "shm:2", "loopback:3", "shm:1@1,shm:1"; "none": add_node later; default "shm:1"
  /// What stands in for "shm:1" as the default, where neither `nodes` nor HAM_NODES says anything: "shm:4".
  std::string default_nodes{};
  /// Where host and targets of this machine run. "auto", the default: each waits for calls on a core of its own while
  /// there are enough; nothing is bound. "none": as the system decides. "0,1,2": node 0, 1, ... are bound to these
  /// cores.
  std::string cpu_affinity{};
  /// A thread of the library executes arriving calls while the host computes; also with HAM_PROGRESS_THREAD=1.
  bool progress_thread = false;
  /// Key that other machines have to show: a file, or "fd:NUMBER"; also --ham-key and HAM_KEY.
  std::string key{};
  std::string serve{};          ///< wait for hosts at this address instead of being one: "ADDR:PORT", --ham-serve
  std::size_t jobs = 1;         ///< hosts served at once, --ham-jobs
  bool one_sided = true;        ///< false: put and get always travel in messages (tests)
  std::size_t max_message = 0;  ///< longest message that is taken, in bytes; 0: HAM_MAX_MESSAGE
  /// In a target started here: stdout and stderr stay as they are. Else each line leaves in one piece.
  bool plain_output = false;
  /// The node that runs main, in which the start of the runtime returns. Another than 0: that target runs it, with the
  /// host's arguments, while the host serves, and exits with main's status (docs/running.md). Also --ham-main-node;
  /// HAM_MAIN_NODE only where the command line is given.
  std::size_t main_node = 0;

  /// In a process that was started as a target: true: the constructor of the runtime returns, and serve() executes
  /// calls; for programs that have to return from main in every process.
  bool returns_in_targets = false;

  // Of the whole process, and of the targets that it starts: what the runtime says that was started last.

  std::string tcp_security{};  ///< "on", "off" or "force-off"; empty: HAM_TCP_SECURITY
  std::string tcp_records{};   ///< "ham" or "openssl": whose records of TLS; empty: HAM_TCP_RECORDS
  std::string module_path{};   ///< absolute folders, separated by colons, that modules are looked for in first
  std::string mpi_module{};    ///< "openmpi", "mpich" or the file of a module
  std::optional<std::chrono::microseconds> mpi_pause{};   ///< longest pause between two polls of MPI; 0: none
  std::optional<std::chrono::seconds> mpi_end_timeout{};  ///< for ranks that still execute something at the end; 0: any
  std::optional<bool> mpi_map{};                          ///< whether memory of ranks on one machine is mapped
  std::size_t pool_threads = 0;                           ///< of the pool behind `pooled`; 0: HAM_POOL_THREADS
  std::optional<std::chrono::milliseconds> tcp_timeout{};    ///< after which a peer out of reach is lost
  std::optional<std::chrono::milliseconds> close_timeout{};  ///< after which destructors of handles give a node up
  std::optional<std::chrono::seconds> start_timeout{};       ///< for a target to join and greet; 0: no limit
  std::optional<std::chrono::microseconds> cuda_linger{};    ///< the resident kernel of a GPU stays without a call
  std::string unobserved_errors{};                           ///< "report" or "ignore", see on_unobserved_error
  std::string log{};              ///< what the library tells on stderr: "debug", "info,tcp=debug"
  std::string recorder{};         ///< "on" or "off": the flight recorder, by the first runtime of the process
  std::string trace{};            ///< the file for a trace of this job (docs/tracing.md)
  std::size_t metrics = 0;        ///< the port of loopback for Prometheus (docs/monitoring.md); 0: HAM_METRICS
  std::string output{};           ///< the folder for what targets print (docs/debugging.md)
  std::string veo_library{};      ///< the VEO library of veo and vedma targets
  std::string veo_application{};  ///< the application as a library for Vector Engines
  /// Calls and connections of this process that fail on purpose, for tests: "solve:reply=kill:0.01"; empty: HAM_FAULT,
  /// which targets started here obey as well (docs/debugging.md).
  std::string fault{};
};

/// A job: this process as host and the targets it starts. Leaving its scope ends the targets.
///
/// In a process that was started as a target the constructor does not return: it executes calls until the host ends and
/// then leaves the process; unless runtime_options::returns_in_targets says that serve() does that. One runtime of a
/// process may start targets as processes; several may live side by side over loopback. The functions of ham::offload
/// use the runtime made last by this process, inside offloaded functions the one that executes them. Throws
/// ham::config_error with what to do.
class runtime {
 public:
  /// Reads and removes the --ham-* options of a command line.
  runtime(int& argc, char**& argv);
  runtime(int& argc, char**& argv, runtime_options options);
  /// Leaves the command line alone; targets are started with the program's arguments all the same.
  explicit runtime(runtime_options options);
  /// The ranks of a communicator of an MPI program, ham::mpi_communicator(comm): all of them call it together. Rank 0
  /// is the host, where the constructor returns at once; in the others it executes calls until the host's runtime has
  /// ended, and then returns as well. MPI stays the program's, who ends it.
  explicit runtime(const detail::communicator_handle& ranks, runtime_options options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  /// Nodes of this job, as offload::num_nodes() counts them.
  [[nodiscard]] std::size_t num_nodes() const noexcept;
  /// Number of this process in it.
  [[nodiscard]] node_t this_node() const noexcept;

  /// A node of this job, whatever runtime the calling thread uses: async(rt.node(1), f), context(rt.node(1)),
  /// put(rt.node(1), src, dst, n). Futures, buffers, contexts, batches and remote objects that are made with it belong
  /// to this runtime, and so does within(rt.node(1), 1s). Takes no connection up, and any number: a call to one that is
  /// no node throws ham::call_error. Throws ham::config_error in a target before serve(), or when its job has ended.
  [[nodiscard]] offload::destination node(offload::node_number number) const;

  /// With runtime_options::returns_in_targets, in a target: executes calls until the host ends, then returns true. The
  /// host waits for it in its own start, so that little should be done before. On the host: false, at once; so
  /// `if (rt.serve()) return 0;` leaves main to the host. Where the constructor has executed calls already, as in ranks
  /// of MPI: true. Not again; main cannot run on such a target (main_node). Throws ham::config_error.
  bool serve();

  /// Makes this the runtime that ham::offload uses in the calling thread until the object returned goes.
  class scope {
   public:
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    friend class runtime;
    explicit scope(detail::engine* at) noexcept;
    detail::engine* before_;
  };
  /// For `const auto here = rt.use();`: end scopes in the thread that made them, the last one first.
  [[nodiscard]] scope use() noexcept;

 private:
  detail::runtime_parts* parts_ = nullptr;  // owned
};

/// A transport that is a module of its own, as this process finds it.
struct module_state {
  bool available = false;  ///< whether its transport can be used here
  std::string remark;      ///< why it is not there and what to do; or what it cannot do here
  std::string version;     ///< of what it rests on: the MPI, or what secures connections
};
/// Loads the module of a transport ("tcp" or "mpi"), if it is there. Any thread; does not throw.
[[nodiscard]] module_state find_module(const std::string& transport);

namespace offload {

/// Explicit start in the style of MPI: every process runs main. True on the host; in a target it executes calls until
/// the host has finished and then returns false. Define HAM_EXPLICIT before including ham/offload.hpp.
bool ham_init(int* argc, char*** argv);
/// The older form. The caller's command line keeps the --ham-* options.
bool ham_init(int argc, char** argv);
/// Ends the targets; on the host, after the last call.
void ham_finalise();

}  // namespace offload
}  // namespace ham
