// Jobs whose targets are of one kind: every kind that targets of this machine can have. Ranks of MPI: tests/mpi.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "ham/offload/transports.hpp"
#include "tcp_server.hpp"

namespace ham::inline v1::test {

struct target_kind {
  const char* name;    ///< of tests
  const char* medium;  ///< of transport_info
  const char* rest;    ///< of a group in HAM_NODES, behind the number of targets
};

inline constexpr std::array target_kinds{
    target_kind{"loopback", "loopback", ""},
    target_kind{"shm", "shm", ""},
    target_kind{"exec", "exec", ""},
    target_kind{"emulated", "emulated", ""},
    target_kind{"emulated_by_host", "emulated", "/initiator=host"},
    target_kind{"tcp", "tcp", ""},
    target_kind{"tcp_tls", "tcp", ""},
    target_kind{"veo", "veo", ""},
    target_kind{"vedma", "vedma", ""},
    target_kind{"cuda_emulated", "cuda-emulated", ""},
    target_kind{"file", "file", ""},
};

/// The programs that wait, where the kind needs them, live as long as this.
class job_of_kind {
 public:
  explicit job_of_kind(const target_kind& kind) : kind_(kind) {}

  /// Threads of this process, which do not die, and are not added.
  [[nodiscard]] bool has_threads() const { return is("loopback"); }
  [[nodiscard]] bool is_invited() const { return is("tcp"); }
  [[nodiscard]] bool is(std::string_view medium) const { return medium == kind_.medium; }

  /// Empty: this machine has such targets.
  [[nodiscard]] std::string why_not() const {
    if ((is("veo") || is("vedma")) && std::getenv("HAM_VEO_LIBRARY") == nullptr)
      return "HAM_VEO_LIBRARY names no VEO library";
    const auto all = list_transports();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return is(one.name); });
    if (found == all.end()) return std::string(kind_.medium) + " is not in this library (HAM_EXTRA_TRANSPORTS)";
    return found->available ? std::string() : found->remark;
  }

  /// For HAM_NODES.
  [[nodiscard]] std::string targets(int count, const std::string& behind = "") {
    if (is("exec"))
      return "exec:" + std::filesystem::read_symlink("/proc/self/exe").string() + "*" + std::to_string(count) + behind;
    if (!is_invited()) return std::string(kind_.medium) + ":" + std::to_string(count) + kind_.rest + behind;
    std::string all;
    for (int i = 0; i < count; ++i)
      all += (i == 0 ? "" : ",") + waiting_.emplace_back(has_tls() ? key_.path() : "", 16).nodes() + behind;
    return all;
  }
  [[nodiscard]] runtime_options options(const std::string& list) const {
    runtime_options result = nodes(list);
    if (has_tls()) result.key = key_.path();
    if (is_invited() && !has_tls()) result.tcp_security = "off";
    return result;
  }
  /// A job of so many.
  [[nodiscard]] runtime_options options(int count) { return options(targets(count)); }
  /// Of a job over tcp.
  [[nodiscard]] server& waiting(std::size_t which) { return waiting_.at(which); }

 private:
  [[nodiscard]] bool has_tls() const { return std::string_view(kind_.name) == "tcp_tls"; }

  target_kind kind_;
  scratch_key key_{'5'};
  std::deque<server> waiting_;
};

class over_every_kind : public testing::TestWithParam<target_kind> {
 protected:
  void SetUp() override {
    if (const std::string why = job.why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  job_of_kind job{GetParam()};
};

[[nodiscard]] inline std::string kind_name(const testing::TestParamInfo<target_kind>& one) { return one.param.name; }

}  // namespace ham::test
