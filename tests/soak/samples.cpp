#include "soak/samples.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace soak {
namespace {

namespace fs = std::filesystem;

std::uint64_t entries(const fs::path& folder, std::error_code& failed) {
  fs::directory_iterator all(folder, failed);
  return failed ? 0 : static_cast<std::uint64_t>(std::distance(begin(all), end(all)));
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

}  // namespace

std::optional<sample> sample_of(std::int64_t pid) {
  const fs::path process = "/proc/" + std::to_string(pid);
  std::ifstream rollup(process / "smaps_rollup");
  if (!rollup) return std::nullopt;
  sample result;
  std::string word;
  for (std::string line; std::getline(rollup, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    const std::uint64_t kb = std::strtoull(line.c_str() + colon + 1, nullptr, 10);
    if (name == "Rss") result.rss_kb = kb;
    if (name == "Pss") result.pss_kb = kb;
    if (name == "Private_Clean" || name == "Private_Dirty") result.private_kb += kb;
  }
  std::error_code failed;
  result.descriptors = entries(process / "fd", failed);
  result.threads = entries(process / "task", failed);
  if (failed) return std::nullopt;
  std::ifstream maps(process / "maps");
  result.maps = static_cast<std::uint64_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
  return result.rss_kb == 0 ? std::nullopt : std::optional(result);
}

std::string to_json(const sample& one) {
  return "{\"rss_kb\":" + std::to_string(one.rss_kb) + ",\"pss_kb\":" + std::to_string(one.pss_kb) +
         ",\"private_kb\":" + std::to_string(one.private_kb) + ",\"descriptors\":" + std::to_string(one.descriptors) +
         ",\"maps\":" + std::to_string(one.maps) + ",\"threads\":" + std::to_string(one.threads) +
         (one.heap_kb == 0 ? "" : ",\"heap_kb\":" + std::to_string(one.heap_kb)) + "}";
}

std::string describe_process(std::int64_t pid) {
  const fs::path process = "/proc/" + std::to_string(pid);
  const std::string stat = first_line(process / "stat");
  const std::size_t behind_name = stat.rfind(") ");
  if (behind_name == std::string::npos) return "is not there";
  std::string text = std::string("state ") + stat.substr(behind_name + 2, 1) + ", threads wait in";
  std::error_code failed;
  for (const auto& task : fs::directory_iterator(process / "task", failed)) {
    const std::string where = first_line(task.path() / "wchan");
    text += " " + (where.empty() || where == "0" ? "user code" : where);
  }
  return text;
}

}  // namespace soak
