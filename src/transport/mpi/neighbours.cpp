// Files of other processes are opened through /proc/PID/fd, which works for processes of one user in one container.
#include "transport/mpi/neighbours.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/process.hpp"
#include "base/settings.hpp"
#include "transport/common/mapped_memory.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

std::int64_t id_of(int file) noexcept {
  struct stat status {};
  return file >= 0 && ::fstat(file, &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : -1;
}

/// The very file that another process has open, or none.
base::unique_fd open_of(std::int64_t pid, std::int64_t file, std::int64_t id) {
  if (file < 0) return {};
  const std::string name = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(file);
  base::unique_fd opened(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  if (id_of(opened.get()) != id) opened.reset();
  return opened;
}

/// Equal where process ids mean the same. HAM_MPI_MAP=0 makes it different for each process.
std::string machine_id() {
  if (base::number_of(base::setting::mpi_map).value_or(1) == 0) return "alone " + std::to_string(::getpid());
  std::string text(36, '?');
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    text.resize(std::fread(text.data(), 1, text.size(), file));
    static_cast<void>(std::fclose(file));
  }
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) == 0) text += std::to_string(space.st_ino);
  return text;
}

}  // namespace

neighbours::rank_info neighbours::own_info(int heap_file) const {
  rank_info mine{};
  const std::string machine = machine_id();
  std::memcpy(mine.machine, machine.data(), std::min(machine.size(), sizeof mine.machine));
  mine.pid = ::getpid();
  mine.heap_file = heap_file;
  mine.heap_id = id_of(heap_file);
  mine.count_file = count_file_.get();
  mine.count_id = id_of(count_file_.get());
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) {
    for (std::size_t core = 0; core < 64 * mine.cores.size(); ++core) {
      if (CPU_ISSET(core, &cores)) mine.cores[core / 64] |= std::uint64_t{1} << core % 64;
    }
  }
  return mine;
}

std::int32_t neighbours::cores_of_all() const {
  int count = 0;
  for (std::size_t word = 0; word < rank_info{}.cores.size(); ++word) {
    std::uint64_t any = 0;
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (on_this_machine(static_cast<int>(rank))) any |= of_[rank].cores[word];
    }
    count += std::popcount(any);
  }
  return count != 0 ? count : static_cast<std::int32_t>(base::usable_cores());
}

neighbours::neighbours(MPI_Comm among, int heap_file)
    : count_file_(base::make_memory_file("ham-mpi-awake", sizeof(std::atomic<std::int32_t>))) {
  int size = 0;
  MPI_Comm_rank(among, &self_);
  MPI_Comm_size(among, &size);
  of_.resize(static_cast<std::size_t>(size));
  rank_info mine = own_info(heap_file);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, of_.data(), sizeof mine, MPI_BYTE, among);
  cores_ = cores_of_all();
  // The count of the first rank of this machine is the one that counts.
  for (int rank = 0; rank <= self_; ++rank) {
    if (!on_this_machine(rank)) continue;
    const rank_info& first = of_[static_cast<std::size_t>(rank)];
    base::unique_fd file = rank == self_ ? base::unique_fd(::dup(count_file_.get()))
                                         : open_of(first.pid, first.count_file, first.count_id);
    if (file) count_ = base::mapping(file.get(), sizeof(std::atomic<std::int32_t>));
    break;
  }
  if (count_) awake_ = reinterpret_cast<std::atomic<std::int32_t>*>(count_.data());
  MPI_Barrier(among);  // before that nobody may close the file that others open
  set_awake(true);
}

bool neighbours::on_this_machine(int rank) const noexcept {
  const rank_info& mine = of_[static_cast<std::size_t>(self_)];
  return std::memcmp(of_[static_cast<std::size_t>(rank)].machine, mine.machine, sizeof mine.machine) == 0;
}

bool neighbours::only_this_machine() const noexcept {
  for (int rank = 0; rank < static_cast<int>(of_.size()); ++rank) {
    if (!on_this_machine(rank)) return false;
  }
  return true;
}

std::int64_t neighbours::pid(int rank) const noexcept {
  return on_this_machine(rank) ? of_[static_cast<std::size_t>(rank)].pid : -1;
}

std::unique_ptr<remote_memory> neighbours::memory_of(int rank) const {
  if (!on_this_machine(rank)) return nullptr;
  const rank_info& other = of_[static_cast<std::size_t>(rank)];
  base::unique_fd heap = open_of(other.pid, other.heap_file, other.heap_id);
  return heap ? std::make_unique<mapped_memory>(std::move(heap)) : nullptr;
}

void neighbours::set_awake(bool on) noexcept {
  if (awake_ == nullptr || counted_ == on) return;
  counted_ = on;
  awake_->fetch_add(on ? 1 : -1, std::memory_order_relaxed);
}

}  // namespace ham::transport::mpi
