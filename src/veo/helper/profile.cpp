// The table is written by an exit handler.
#include "profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "../settings.hpp"
#include "static_symbols.hpp"

namespace ham::inline v1::veo {
namespace {

void write_table() {
  const profile* const own = profile::of_this_process();
  if (own == nullptr) return;
  const char* const node = variable("VE_NODE_NUMBER");
  const std::string text = "FTRACE of helper " + std::to_string(::getpid()) + ", node " +
                           (node == nullptr ? "?" : node) + '\n' + own->table();
  std::FILE* file = stderr;
  if (const char* const name = variable("VE_FTRACE_OUT_NAME")) {
    file = std::fopen(name, "ae");  // several helpers may write there
    if (file == nullptr) {
      std::fprintf(stderr, "aveorun: cannot write VE_FTRACE_OUT_NAME=%s; the table follows here\n", name);
      file = stderr;
    }
  }
  std::fwrite(text.data(), 1, text.size(), file);
  if (file == stderr)
    std::fflush(file);
  else
    std::fclose(file);
}

double in_us(std::int64_t time_ns) noexcept { return static_cast<double>(time_ns) / 1e3; }

}  // namespace

profile* profile::own = nullptr;

void profile::start() {
  own = new profile;  // never destroyed: kernels may run until the very end
  std::atexit(&write_table);
}

bool profile::is_new(std::uint64_t kernel) const {
  std::lock_guard guard(mutex_);
  return !kernels_.contains(kernel);
}

void profile::add(std::uint64_t kernel, std::int64_t time_ns, const std::string& name) {
  std::lock_guard guard(mutex_);
  entry& one = kernels_[kernel];
  if (one.name.empty()) one.name = name;
  ++one.calls;
  one.total_ns += time_ns;
  one.min_ns = std::min(one.min_ns, time_ns);
  one.max_ns = std::max(one.max_ns, time_ns);
}

std::string profile::table() const {
  std::map<std::string, entry> by_name;
  std::int64_t all_ns = 0;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [address, one] : kernels_) {
      entry& sum = by_name[one.name];
      sum.name = one.name;
      sum.calls += one.calls;
      sum.total_ns += one.total_ns;
      sum.min_ns = std::min(sum.min_ns, one.min_ns);
      sum.max_ns = std::max(sum.max_ns, one.max_ns);
      all_ns += one.total_ns;
    }
  }
  std::vector<const entry*> lines;
  for (const auto& [name, one] : by_name) lines.push_back(&one);
  std::ranges::stable_sort(lines, std::greater<>(), [](const entry* one) { return one->total_ns; });
  std::string text = "     calls      total/s  share      mean/us       min/us       max/us  kernel\n";
  for (const entry* const one : lines) {
    char numbers[128];
    std::snprintf(numbers, sizeof numbers, "%10llu %12.6f %5.1f%% %12.3f %12.3f %12.3f  ",
                  static_cast<unsigned long long>(one->calls), in_us(one->total_ns) / 1e6,
                  all_ns == 0 ? 0.0 : 100.0 * static_cast<double>(one->total_ns) / static_cast<double>(all_ns),
                  in_us(one->total_ns) / static_cast<double>(one->calls), in_us(one->min_ns), in_us(one->max_ns));
    text += numbers + one->name + '\n';
  }
  return text;
}

bool wants_profile(const std::string& program) noexcept {
  if (&ham_veo_static_ftrace != nullptr && ham_veo_static_ftrace != 0) return true;
  const std::size_t name = program.rfind('/') + 1;  // 0 if there is none
  return program.compare(name, 14, "aveorun-ftrace") == 0;
}

}  // namespace ham::veo
