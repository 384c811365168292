// First fit over a growing memfd; the window is mapped once, far larger than the file.
#include "base/heap.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t large_from = 64ULL << 10;
constexpr std::uint64_t growth = 64ULL << 20;
constexpr std::uint64_t emulated_window_bytes = 4ULL << 30;
constexpr std::uint64_t punch_from = 32ULL << 20;  // freed memory of this size goes back to the system at once

/// Behind a large allocation. Arrays that begin at the same place of a page keep a loop over several of them waiting:
/// what it stores in one appears to be what it loads of another one next, and all want the same lines of the cache. An
/// odd number of lines, so that the places of 64 arrays of whole pages all differ.
constexpr std::uint64_t stagger = 5 * line;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) noexcept { return (value + to - 1) / to * to; }

/// Under an emulator like qemu-user a mapping costs time and memory by its length, whether it is used or not. They do
/// not know the robust list, which every Linux does.
bool emulated() noexcept {
  static const bool result = [] {
    void* list = nullptr;
    std::size_t length = 0;
    return ::syscall(SYS_get_robust_list, 0, &list, &length) != 0;
  }();
  return result;
}

/// Address space for the heap of a process of this machine: more than the machine's memory, so that it never has to
/// move.
std::size_t max_window_bytes() noexcept {
  const auto pages = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PAGE_SIZE)));
  std::uint64_t bytes = 1ULL << 30;
  while (bytes < 2 * pages * page_bytes && bytes < (1ULL << 40)) bytes *= 2;
  return bytes;
}

std::size_t own_window_bytes() noexcept { return emulated() ? emulated_window_bytes : max_window_bytes(); }

/// At least `needed` bytes of the heap of another process, with room for it to grow. Its owner has no more of it than
/// its own window, however long others make the file.
std::size_t view_window_bytes(std::uint64_t needed) noexcept {
  std::uint64_t bytes = emulated() ? 1ULL << 30 : max_window_bytes();
  while (bytes < needed) bytes *= 2;
  return bytes;
}

/// As large a window as the limits of this process allow.
mapping map_window(int fd, std::size_t bytes) {
  for (;; bytes /= 2) {
    try {
      return mapping(fd, bytes);
    } catch (const config_error&) {
      if (bytes <= 2 * heap_data_offset) throw;
    }
  }
}

}  // namespace

unique_fd heap::make_file() { return make_memory_file("ham-heap", heap_data_offset); }

heap::heap(unique_fd file)
    : file_(std::move(file)),
      window_(map_window(file_.get(), own_window_bytes())),
      table_(address()),
      file_bytes_(heap_data_offset) {
  reinterpret_cast<heap_header*>(window_.data())
      ->owner_base.store(reinterpret_cast<std::uintptr_t>(window_.data()), std::memory_order_release);
}

heap_entry& heap::entry(std::uint64_t index) const noexcept {
  return reinterpret_cast<heap_entry*>(window_.data() + heap_table_offset)[index];
}

std::uint64_t heap::take_extent(std::uint64_t size) {
  if (const auto offset = extents_.take(size)) return *offset;
  if (size > window_.size() || end_ > window_.size() - size) throw std::bad_alloc();
  if (end_ + size > file_bytes_) {
    const std::uint64_t limit = max_file_bytes();
    if (end_ + size > limit) {
      throw config_error(
          "cannot allocate " + std::to_string(size) +
          " bytes (with them this node's memory would exceed "
          "the limit of file sizes, " +
          std::to_string(limit) +
          " bytes, which counts for shared memory, too); raise the limit ulimit -f before the job starts");
    }
    const std::uint64_t bytes = std::min<std::uint64_t>({round_up(end_ + size, growth), window_.size(), limit});
    // Others can make the file longer, and nobody can make it shorter again.
    if (file_size(file_.get()) < bytes && !resize_file(file_.get(), bytes)) throw std::bad_alloc();
    file_bytes_ = bytes;
  }
  const std::uint64_t offset = end_;
  extents_.add_used(offset, size);
  end_ += size;
  return offset;
}

void heap::give_extent(std::uint64_t offset, std::uint64_t size) noexcept {
  if (size >= punch_from) {
    // A refusal only means that the memory stays allocated until it is used again.
    [[maybe_unused]] const int punched = ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                                     static_cast<off_t>(offset), static_cast<off_t>(size));
  }
  extents_.give(offset);
}

heap::allocation heap::allocate(std::size_t size) {
  if (size > window_.size()) throw std::bad_alloc();
  const std::uint64_t extent = round_up(std::max<std::uint64_t>(size, 1), line) + (size >= large_from ? stagger : 0);
  std::lock_guard guard(mutex_);
  table_.require_room();
  const std::uint64_t offset = take_extent(extent);
  const allocation_tag tag = table_.add(offset, size, extent);
  heap_entry& shared = entry(index_of(tag));
  std::atomic_thread_fence(std::memory_order_release);  // who sees what follows sees that the last tag has gone
  shared.offset.store(offset, std::memory_order_relaxed);
  shared.size.store(size, std::memory_order_relaxed);
  shared.tag.store(tag, std::memory_order_release);
  return {window_.data() + offset, tag};
}

bool heap::free(std::uint64_t address, allocation_tag tag) {
  std::lock_guard guard(mutex_);
  const allocation_table::record* const found = table_.find(address, tag);
  if (found == nullptr) return false;
  const allocation_table::record freed = *found;
  entry(index_of(tag)).tag.store(0, std::memory_order_release);
  table_.remove(tag);
  give_extent(freed.offset, freed.extent);
  return true;
}

heap_check heap::check(std::uint64_t address, allocation_tag tag, std::size_t size) const {
  std::lock_guard guard(mutex_);
  return table_.check(address, tag, size);
}

allocation_tag heap::tag_of(std::uint64_t address) const {
  if (address - this->address() >= window_.size()) return 0;
  std::lock_guard guard(mutex_);
  return table_.tag_of(address);
}

std::size_t heap::live() const {
  std::lock_guard guard(mutex_);
  return table_.live();
}

heap_view::heap_view(unique_fd file) : file_(std::move(file)) {}

const mapping* heap_view::reach(std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  if (bytes > std::max<std::uint64_t>(max_window_bytes(), emulated_window_bytes)) return nullptr;
  if (windows_.empty() || windows_.back().size() < bytes) {
    windows_.push_back(map_window(file_.get(), view_window_bytes(bytes)));  // others may still use the shorter ones
    window_.store(&windows_.back(), std::memory_order_release);
  }
  return windows_.back().size() < bytes ? nullptr : &windows_.back();
}

std::byte* heap_view::translate(std::uint64_t address, allocation_tag tag, std::size_t size, heap_check& why) {
  const mapping* window = window_.load(std::memory_order_acquire);
  if (window == nullptr && (window = reach(heap_data_offset)) == nullptr) {
    why = heap_check::out_of_range;
    return nullptr;
  }
  std::byte* const base = window->data();
  why = heap_check::stale;
  auto& entry = reinterpret_cast<heap_entry*>(base + heap_table_offset)[index_of(tag)];
  if (tag == 0 || entry.tag.load(std::memory_order_acquire) != tag) return nullptr;
  const std::uint64_t offset = entry.offset.load(std::memory_order_relaxed);
  const std::uint64_t length = entry.size.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.tag.load(std::memory_order_relaxed) != tag) return nullptr;
  const std::uint64_t begin = reinterpret_cast<heap_header*>(base)->owner_base.load(std::memory_order_acquire) + offset;
  why = heap_check::out_of_range;
  if (address < begin || address - begin > length || size > length - (address - begin)) return nullptr;
  const std::uint64_t at = offset + (address - begin);
  // The table is the peer's word; the file's real size is the kernel's.
  if (at < heap_data_offset || size > UINT64_MAX - at) return nullptr;
  if (at + size > known_bytes_.load(std::memory_order_relaxed)) {
    known_bytes_.store(file_size(file_.get()), std::memory_order_relaxed);
    if (at + size > known_bytes_.load(std::memory_order_relaxed)) return nullptr;
  }
  if (at + size > window->size() && (window = reach(at + size)) == nullptr) return nullptr;
  why = heap_check::valid;
  return window->data() + at;
}

}  // namespace ham::base
