// What a user of HAM may trip over on this machine, each tried or read, with what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "machine.hpp"
#include "transports.hpp"

namespace ham::inline v1::info {

enum class verdict { good, warning, problem };

/// One check. `advice` is empty where all is well.
struct check_result {
  std::string name;
  verdict how = verdict::good;
  std::string found;
  std::string advice;
};

// ---- what is judged, apart from how it is read

/// A limit of the process, of which HAM needs some and should have more. nullopt: no limit.
[[nodiscard]] check_result judge_limit(std::string name, std::optional<std::uint64_t> limit, std::uint64_t needed,
                                       std::uint64_t wanted, const std::string& advice);
/// Services of the kernel, as kernel_services() gives them.
[[nodiscard]] std::vector<check_result> judge_services(const std::vector<property>& services);
/// "max 100000" or "150000 100000" of cgroup v2's cpu.max beside the cores that may be used.
[[nodiscard]] check_result judge_cpu_quota(std::string_view cpu_max, std::size_t cores);
/// memory.max and memory.current of cgroup v2.
[[nodiscard]] check_result judge_memory_limit(std::string_view memory_max, std::string_view memory_current);
/// What `mpirun --version` says, and the transports.
[[nodiscard]] check_result judge_launcher(const std::string& version, const std::vector<transport_state>& transports);
/// The mode of a key file.
[[nodiscard]] check_result judge_key_mode(const std::string& file, unsigned mode);

// ---- all of it

[[nodiscard]] std::vector<check_result> check_machine();
void print_checks(std::ostream& out, const std::vector<check_result>& all);
void print_checks_json(std::ostream& out, const std::vector<check_result>& all);
/// Whether there is no problem; warnings do not count.
[[nodiscard]] bool all_well(const std::vector<check_result>& all) noexcept;

}  // namespace ham::info
