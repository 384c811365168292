// The table of a heap, which its owner changes while other processes read it without a lock: production heap and
// heap_view. One entry serves an allocation after the other; who names one of them gets that one, or is refused.
#include "explorer/production.hpp"
// System headers that the source below includes:
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
// The production code, with the shadows:
#include "base/heap.cpp"

namespace {

/// The file of the run: its begin only, since nobody touches what is allocated. All map it at the same place.
std::byte* the_file = nullptr;
std::uint64_t the_file_bytes = 0;
constexpr int the_descriptor = 1 << 20;

}  // namespace

namespace ham::inline v1::base {
unique_fd make_memory_file(const char*, std::size_t size_bytes) {
  the_file = static_cast<std::byte*>(::operator new(heap_table_offset + 4 * sizeof(heap_entry)));
  the_file_bytes = size_bytes;
  return unique_fd(the_descriptor);
}
std::uint64_t max_file_bytes() noexcept { return UINT64_MAX; }
bool resize_file(int, std::uint64_t size_bytes) noexcept {
  the_file_bytes = size_bytes;
  return true;
}
std::size_t file_size(int) noexcept { return the_file_bytes; }
mapping::mapping(int, std::size_t size_bytes) : data_(the_file), size_(size_bytes) {}
mapping::mapping(mapping&& other) noexcept : data_(other.data_), size_(other.size_) {}
mapping::~mapping() = default;
}  // namespace ham::base

namespace {

using namespace ham::base;

/// The allocations, one after the other, in the first entry: extents of other sizes, so that the second one is behind
/// where the first one was, and the third one there again.
constexpr std::size_t sizes[] = {64, 128, 32};
constexpr std::uint64_t offsets[] = {0, 64, 0};

struct job {
  heap memory{heap::make_file()};
  heap_view view{unique_fd(the_descriptor)};
  std::atomic<unsigned> told{0};

  [[nodiscard]] std::uint64_t address(unsigned number) const {
    return memory.address() + heap_data_offset + offsets[number];
  }
};

/// Of that number in the first entry: others may know it before it is given.
allocation_tag tag_of(unsigned number) { return (number + 1ULL) << heap_index_bits; }

allocation_tag allocate(job& own, unsigned number) {
  const heap::allocation made = own.memory.allocate(sizes[number]);
  model::check(reinterpret_cast<std::uintptr_t>(made.address) == own.address(number), "the scenario is wrong");
  return made.tag;
}

void free(job& own, unsigned number) {
  model::check(own.memory.free(own.address(number), tag_of(number)), "an allocation was not there");
}

/// The first one is there, and the other process has mapped the heap.
job* make() {
  auto* const own = new job;
  allocate(*own, 0);
  heap_check why{};
  static_cast<void>(own->view.translate(own->address(0), tag_of(0), 1, why));
  return own;
}

/// The other process, which names an allocation: whether it was found. What is one byte longer, or begins one byte
/// earlier, never is.
bool look(job& own, unsigned number, allocation_tag tag) {
  const std::uint64_t begin = own.address(number);
  const std::size_t size = sizes[number];
  heap_check why{};
  switch (model::choose(3, "itself, longer, earlier")) {
    case 0: {
      const std::byte* const at = own.view.translate(begin, tag, size, why);
      model::check(why != heap_check::out_of_range, "it has the extent of another allocation");
      model::check(at == nullptr || reinterpret_cast<std::uintptr_t>(at) == begin, "it is somewhere else");
      break;
    }
    case 1:
      model::check(own.view.translate(begin, tag, size + 1, why) == nullptr, "it has the size of another allocation");
      break;
    default:
      model::check(own.view.translate(begin - 1, tag, 1, why) == nullptr, "it begins where another allocation does");
  }
  const bool found = why != heap_check::stale;
  model::outcome(found ? "found" : "refused");
  return found;
}
bool look(job& own, unsigned number) { return look(own, number, tag_of(number)); }

/// The entry serves allocations up to `last` while somebody names one of them, perhaps one that he was not told of.
void start(unsigned last, unsigned times) {
  auto* const own = make();
  model::start_thread([=] {
    for (unsigned number = 0; number < last; ++number) {
      free(*own, number);
      const allocation_tag got = allocate(*own, number + 1);
      model::check(got == tag_of(number + 1), "the scenario is wrong");
    }
  });
  model::start_thread([=] {
    for (unsigned i = 0; i < times; ++i) look(*own, model::choose(last + 1, "allocation"));
  });
}
void used_again() { start(1, 1); }
void used_again_twice() { start(2, 1); }
void read_twice() { start(1, 2); }

/// Who was told of an allocation finds it until it is freed.
void told() {
  auto* const own = make();
  model::start_thread([=] {
    free(*own, 0);
    allocate(*own, 1);
    own->told.store(1, std::memory_order_release);
    while (own->told.load(std::memory_order_acquire) == 1) model::pause();
    free(*own, 1);
    allocate(*own, 2);
  });
  model::start_thread([=] {
    while (own->told.load(std::memory_order_acquire) == 0) model::pause();
    model::check(look(*own, 1), "an allocation that is there was not found");
    own->told.store(2, std::memory_order_release);
    look(*own, 1);
  });
}

/// One thread frees while another one allocates, in the same entry if that is free by then.
void two_owners() {
  auto* const own = make();
  model::start_thread([=] { free(*own, 0); });
  model::start_thread([=] {
    const allocation_tag got = allocate(*own, 1);
    if (got == tag_of(1)) model::outcome("the same entry");
    model::check(look(*own, 1, got), "an allocation that is there was not found");
  });
  model::start_thread([=] { look(*own, model::choose(2, "allocation")); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> both = {"found", "refused"};
  return model::run(argc, argv,
                    {{"used again", used_again, both},
                     {"used again twice", used_again_twice, both},
                     {"read twice", read_twice, both},
                     {"told of it", told, both},
                     {"two threads of the owner", two_owners, {"found", "refused", "the same entry"}}});
}
