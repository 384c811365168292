// How findings are judged and printed.
#include "checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "json_text.hpp"

namespace ham::inline v1::info {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// nullopt: no number, such as "max".
std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    number = number * 10 + static_cast<std::uint64_t>(text[digits] - '0');
  return digits == 0 ? std::nullopt : std::optional(number);
}

struct service_advice {
  const char* service;
  verdict without;
  const char* advice;
};
constexpr service_advice advice_of_services[] = {
    {"memfd_create", verdict::problem, "shared memory needs it: allow it in the container's filter of system calls"},
    {"eventfd", verdict::problem, "sleeping nodes need it: allow it in the container's filter of system calls"},
    {"pidfd_open", verdict::warning,
     "the death of a process is found more slowly: Linux 5.3, or allow it in the filter"},
    {"robust futexes", verdict::warning, "the death of a process is found more slowly: allow get_robust_list"},
    {"futex_waitv", verdict::warning, "waiting for several peers costs more: Linux 5.16, or allow it in the filter"},
    {"expedited membarrier", verdict::warning, "each call costs some 10 ns more: Linux 4.16, or allow membarrier"},
};

const char* word_of(verdict how) noexcept {
  switch (how) {
    case verdict::good: return "ok";
    case verdict::warning: return "WARNING";
    case verdict::problem: return "PROBLEM";
  }
  return "";
}

}  // namespace

check_result judge_limit(std::string name, std::optional<std::uint64_t> limit, std::uint64_t needed,
                         std::uint64_t wanted, const std::string& advice) {
  check_result result{std::move(name), verdict::good, limit ? std::to_string(*limit) : "no limit", {}};
  if (!limit || *limit >= wanted) return result;
  result.how = *limit < needed ? verdict::problem : verdict::warning;
  result.advice = advice;
  return result;
}

std::vector<check_result> judge_services(const std::vector<property>& services) {
  std::vector<check_result> all;
  for (const property& one : services) {
    check_result& result = all.emplace_back(check_result{one.name, verdict::good, one.value, {}});
    if (one.value == "yes") continue;
    result.how = verdict::warning;
    result.advice = one.remark;
    for (const service_advice& known : advice_of_services) {
      if (one.name != known.service) continue;
      result.how = known.without;
      result.advice = known.advice;
    }
  }
  return all;
}

check_result judge_cpu_quota(std::string_view cpu_max, std::size_t cores) {
  check_result result{"processor time", verdict::good, "no quota of the container", {}};
  const auto quota = number_in(cpu_max);
  const std::size_t space = cpu_max.find(' ');
  const auto period = space == std::string_view::npos ? std::nullopt : number_in(cpu_max.substr(space + 1));
  if (!quota || !period || *period == 0) return result;
  std::ostringstream text;
  text << "quota of " << static_cast<double>(*quota) / static_cast<double>(*period) << " of " << cores << " cores";
  result.found = text.str();
  if (*quota >= *period * cores) return result;
  result.how = verdict::warning;
  result.advice =
      "nodes that wait use the quota up and are stopped for milliseconds: bind the container to whole cores "
      "(docker --cpuset-cores) in place of a quota";
  return result;
}

check_result judge_memory_limit(std::string_view memory_max, std::string_view memory_current) {
  check_result result{"memory of the container", verdict::good, "no limit", {}};
  const auto most = number_in(memory_max);
  if (!most) return result;
  const std::uint64_t used = number_in(memory_current).value_or(0);
  const std::uint64_t left = *most > used ? *most - used : 0;
  result.found = std::to_string(left / mebibyte) + " of " + std::to_string(*most / mebibyte) + " MiB left";
  if (left >= 256 * mebibyte) return result;
  result.how = left < 32 * mebibyte ? verdict::problem : verdict::warning;
  result.advice = "memory that nodes share counts here as well; raise the container's limit";
  return result;
}

check_result judge_launcher(const std::string& version, const std::vector<transport_state>& transports) {
  check_result result{"MPI launcher", verdict::good, "none (mpirun is not in PATH)", {}};
  if (version.empty()) return result;
  result.found = version.substr(0, version.find('\n'));
  const bool open = version.find("Open MPI") != std::string::npos || version.find("OpenRTE") != std::string::npos;
  const bool mpich = version.find("HYDRA") != std::string::npos || version.find("MPICH") != std::string::npos;
  const auto mpi =
      std::find_if(transports.begin(), transports.end(), [](const transport_state& one) { return one.name == "mpi"; });
  if (mpi == transports.end() || !mpi->available) {
    result.how = verdict::warning;
    result.advice = "mpi targets cannot be used: " + (mpi == transports.end() ? "no such transport" : mpi->reason);
    return result;
  }
  if (!open && !mpich) {
    result.how = verdict::warning;
    result.advice = "neither Open MPI's nor MPICH's: name the module with HAM_MPI_MODULE=openmpi or mpich";
    return result;
  }
  const bool has = mpi->version.find(open ? "Open MPI" : "MPICH") != std::string::npos ||
                   mpi->version.find(open ? "openmpi" : "mpich") != std::string::npos;
  if (!has && !mpi->version.empty()) {
    result.how = verdict::problem;
    result.advice = "this is the launcher of " + std::string(open ? "Open MPI" : "MPICH") +
                    ", HAM's modules are for: " + mpi->version + "; install the other module, or use its launcher";
  }
  return result;
}

check_result judge_key_mode(const std::string& file, unsigned mode) {
  check_result result{"key " + file, verdict::good, "readable for its owner only", {}};
  if ((mode & 077U) == 0) return result;
  result.how = verdict::problem;
  result.found = "others may read or change it";
  result.advice = "chmod 600 " + file + ", and make a new one (--ham-make-key) if others may have read it";
  return result;
}

void print_checks(std::ostream& out, const std::vector<check_result>& all) {
  std::size_t widest = 0;
  for (const check_result& one : all) widest = std::max(widest, one.name.size());
  for (const check_result& one : all) {
    const std::string word = word_of(one.how);
    out << word << std::string(9 - word.size(), ' ') << one.name << std::string(widest + 2 - one.name.size(), ' ')
        << one.found << '\n';
    if (!one.advice.empty()) out << std::string(9, ' ') << "-> " << one.advice << '\n';
  }
  const auto count = [&](verdict how) {
    return std::count_if(all.begin(), all.end(), [how](const check_result& one) { return one.how == how; });
  };
  out << count(verdict::problem) << " problems, " << count(verdict::warning) << " warnings, " << count(verdict::good)
      << " ok\n";
}

void print_checks_json(std::ostream& out, const std::vector<check_result>& all) {
  json_text json(out);
  json.open_object().open_list("checks");
  for (const check_result& one : all) {
    json.open_object()
        .value("name", one.name)
        .value("verdict", one.how == verdict::good      ? "ok"
                          : one.how == verdict::warning ? "warning"
                                                        : "problem")
        .value("found", one.found)
        .value("advice", one.advice)
        .close_object();
  }
  json.close_list().value("all_well", all_well(all)).close_object();
}

bool all_well(const std::vector<check_result>& all) noexcept {
  return std::none_of(all.begin(), all.end(), [](const check_result& one) { return one.how == verdict::problem; });
}

}  // namespace ham::info
