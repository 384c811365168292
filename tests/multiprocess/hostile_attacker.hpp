// A target that was taken over: finds what its process shares with others by itself, and does its worst with it.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/control_socket.hpp"
#include "base/heap.hpp"
#include "base/memory_file.hpp"
#include "base/recorder_area.hpp"
#include "core/wire.hpp"
#include "transport/common/ring_endpoint.hpp"
#include "transport/shm/messages.hpp"
#include "transport/shm/segment.hpp"

namespace ham::inline v1::test {

// All kinds of what is sent. Of one that is missing here the compiler says so (-Wswitch).
[[nodiscard]] constexpr bool is_known(detail::wire_kind kind) {
  using enum detail::wire_kind;
  switch (kind) {
    case call:
    case reply:
    case reply_error:
    case fragment:
    case batch:
    case batch_reply:
    case hello:
    case manifest:
    case goodbye:
    case notice:
    case flow:
    case relay:
    case cancel:
    case replayed: return true;
  }
  return false;
}
[[nodiscard]] constexpr bool is_known(transport::shm::control_kind kind) {
  using enum transport::shm::control_kind;
  switch (kind) {
    case welcome:
    case connect:
    case connected:
    case refused:
    case joined:
    case ended: return true;
  }
  return false;
}
/// They are numbered from 1 on.
template <class Kind>
inline constexpr std::uint32_t last_kind = [] {
  std::uint32_t last = 0;
  while (is_known(static_cast<Kind>(last + 1))) ++last;
  return last;
}();

class attacker {
 public:
  explicit attacker(std::uint64_t seed) : random_(seed) {
    find_memory();
    find_descriptors();
  }
  attacker(const attacker&) = delete;
  attacker& operator=(const attacker&) = delete;
  ~attacker() {
    for (const region& one : mapped_) ::munmap(one.at, one.bytes);
  }

  /// Of what the process shares, how many of each kind it has found.
  struct findings {
    std::uint32_t jobs;
    std::uint32_t pairs;
    std::uint32_t areas;
    std::uint32_t heaps;
    std::uint32_t recorders;
    std::uint32_t counters;
    std::uint32_t others;  ///< memory that this class knows nothing of
    std::uint32_t files;
    std::uint32_t events;
    std::uint32_t controls;
  };
  [[nodiscard]] findings found() const {
    const auto count = [](const auto& of) { return static_cast<std::uint32_t>(of.size()); };
    return {count(jobs_),     count(pairs_),  count(areas_), count(heaps_),  count(recorders_),
            count(counters_), count(others_), count(files_), count(events_), count(controls_)};
  }
  /// What is about single nodes is about these; not empty. Some of them may be still to come.
  void aim_at(std::vector<std::uint32_t> nodes) { nodes_ = std::move(nodes); }
  /// One thing of many, chosen by the seed.
  void act() {
    using move = void (attacker::*)();
    static constexpr move moves[] = {&attacker::scribble,
                                     &attacker::scribble_where_it_hurts,
                                     &attacker::scribble_where_it_hurts,
                                     &attacker::forge_deaths,
                                     &attacker::flicker_life_words,
                                     &attacker::silence_bells,
                                     &attacker::ring_all_bells,
                                     &attacker::jam_events,
                                     &attacker::drain_events,
                                     &attacker::forge_frames,
                                     &attacker::forge_frames,
                                     &attacker::move_counters,
                                     &attacker::lie_in_tables,
                                     &attacker::return_areas,
                                     &attacker::damage_recorders,
                                     &attacker::spoil_job,
                                     &attacker::talk_nonsense,
                                     &attacker::ask_for_everybody,
                                     &attacker::grow_files,
                                     &attacker::punch_holes,
                                     &attacker::keep_output_lock};
    (this->*moves[random_() % std::size(moves)])();
  }

  // ---- moves that a test may choose by itself
  void forge_deaths() {
    for (const std::uint32_t node : nodes_) {
      static constexpr std::uint32_t marks[] = {FUTEX_OWNER_DIED, FUTEX_OWNER_DIED | FUTEX_WAITERS, 0, FUTEX_WAITERS};
      set_life(node, random_() % 4 == 0 ? static_cast<std::uint32_t>(random_()) : marks[random_() % 4]);
    }
  }
  void forge_death_of(std::uint32_t node) { set_life(node, FUTEX_OWNER_DIED); }
  void jam_events() {
    for (const int event : events_) {
      ::fcntl(event, F_SETFL, O_NONBLOCK);
      eventfd_t count = 0;
      static_cast<void>(::eventfd_read(event, &count));
      static_cast<void>(::eventfd_write(event, UINT64_MAX - 1));
      ::fcntl(event, F_SETFL, 0);
    }
  }
  /// For two seconds: whoever sends something writes to an event that is full, and would wait until somebody reads it.
  void trap_who_wakes() {
    jam_events();
    for (int i = 0; i < 500; ++i) {
      for (const region& pair : pairs_) {
        auto* const controls = reinterpret_cast<transport::ring_control*>(pair.at);
        controls[0].armed.store(1);
        controls[1].armed.store(1);
      }
      for (transport::shm::job_segment* job : jobs_) {
        for (const std::uint32_t node : nodes_) job->of(static_cast<node_t>(node)).ring_me.sleeping.store(1);
      }
      ::usleep(4000);
    }
  }
  void drain_events() {
    for (int i = 0; i < 1000; ++i) {
      for (const int event : events_) {
        ::fcntl(event, F_SETFL, O_NONBLOCK);
        eventfd_t count = 0;
        static_cast<void>(::eventfd_read(event, &count));
        ::fcntl(event, F_SETFL, 0);
      }
      if (i % 100 == 0) ::usleep(1000);
    }
  }
  void silence_bells() {
    for (int i = 0; i < 20000; ++i) {
      for (transport::shm::job_segment* job : jobs_) {
        for (const std::uint32_t node : nodes_) {
          transport::bell& bell = job->of(static_cast<node_t>(node)).ring_me;
          bell.attention.store(0, std::memory_order_relaxed);
          bell.sleeping.store(0, std::memory_order_relaxed);
          bell.bits[0].store(0, std::memory_order_relaxed);
        }
      }
      if (i % 1000 == 0) ::sched_yield();
    }
  }
  void grow_files() {
    for (const int file : files_) {
      static_cast<void>(!::ftruncate(file, static_cast<off_t>(std::uint64_t{1} << (30 + random_() % 16))));
    }
  }
  void keep_output_lock() {
    static const int program = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ::flock(program, LOCK_EX | LOCK_NB);
  }
  /// Descriptors whose last close waits.
  void send_descriptors() {
    const base::unique_fd lingers = lingering();
    std::vector<int> fds(events_.begin(),
                         events_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(events_.size(), 4)));
    if (lingers) fds.push_back(lingers.get());
    const transport::shm::control_text text{.kind = transport::shm::control_kind::connect, .peer = 2};
    for (const int control : controls_) {
      for (int i = 0; i < 20; ++i) base::send_control(control, std::as_bytes(std::span(&text, 1)), fds);
    }
  }

 private:
  struct region {
    std::byte* at;
    std::size_t bytes;  ///< that may be written without a signal
  };

  // ---- what there is

  void find_memory() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long begin = 0;
      unsigned long end = 0;
      unsigned long offset = 0;  // the areas of a connection have other rights to be dumped, and a line of their own
      std::array<char, 8> rights{};
      if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx", &begin, &end, rights.data(), &offset) != 4) continue;
      if (std::strcmp(rights.data(), "rw-s") != 0) continue;
      auto* const at = reinterpret_cast<std::byte*>(begin);
      const std::size_t bytes = end - begin;
      using namespace transport;
      const auto is = [&](const char* name) { return line.find(name) != std::string::npos; };
      if (is("/memfd:ham-job") && bytes >= sizeof(shm::job_segment)) {
        jobs_.push_back(reinterpret_cast<shm::job_segment*>(at));
        regions_.push_back({at, sizeof(shm::job_segment)});
      } else if (is("/memfd:ham-pair") && offset == 0 && bytes >= ring_pair::bytes) {
        pairs_.push_back({at, ring_pair::bytes});
        regions_.push_back({at, ring_pair::bytes});
      } else if (is("/memfd:ham-pair") && offset == ring_pair::areas_offset) {
        for (std::size_t direction = 0; direction < 2; ++direction) {
          std::byte* const area = at + direction * area_layout::bytes;
          areas_.push_back(reinterpret_cast<area_layout*>(area));
          add_pieces_of(area);
        }
      } else if (is("/memfd:ham-heap") && bytes >= base::heap_data_offset) {
        heaps_.push_back(at);
        regions_.push_back({at, base::heap_data_offset});
      } else if (is("/memfd:ham-counters")) {
        counters_.push_back({at, bytes});
        regions_.push_back(counters_.back());
      } else if (is("/memfd:") && !is("/memfd:ham-job") && !is("/memfd:ham-pair") && !is("/memfd:ham-heap")) {
        others_.push_back({at, bytes});
      }
    }
  }
  /// An area has room for half a gigabyte, of which little is used: its begin, and a few places in the rest.
  void add_pieces_of(std::byte* area) {
    using transport::area_layout;
    constexpr std::size_t begin = std::size_t{1} << 20;
    constexpr std::size_t pages = area_layout::bytes / area_layout::page_bytes;
    regions_.push_back({area, begin});
    for (int i = 0; i < 4; ++i) regions_.push_back({area + random_() % pages * area_layout::page_bytes, 4096});
  }
  /// Behind the segment are the flight recorders of all targets, which a target maps by its descriptor if it likes.
  void map_recorders(int job_file) {
    const std::uint64_t first = transport::shm::recorder_offset(0);
    const std::size_t file_bytes = base::file_size(job_file);  // it never shrinks, but may have been made huge
    if (file_bytes <= first) return;
    const std::size_t bytes = std::min<std::size_t>(file_bytes - first, 16 * base::recorder_area::bytes);
    void* const at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, job_file, static_cast<off_t>(first));
    if (at == MAP_FAILED) return;
    mapped_.push_back({static_cast<std::byte*>(at), bytes});
    for (std::size_t area = 0; area + base::recorder_area::bytes <= bytes; area += base::recorder_area::bytes) {
      recorders_.push_back({static_cast<std::byte*>(at) + area, base::recorder_area::bytes});
      regions_.push_back(recorders_.back());
    }
  }
  void find_descriptors() {
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string to = std::filesystem::read_symlink(one.path(), gone);
      const int fd = std::atoi(one.path().filename().c_str());
      if (to.find("memfd:ham-") != std::string::npos) files_.push_back(fd);
      if (to.find("memfd:ham-job") != std::string::npos) map_recorders(fd);
      if (to.find("[eventfd") != std::string::npos) events_.push_back(fd);
      int type = 0;
      socklen_t length = sizeof type;
      if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET) controls_.push_back(fd);
    }
  }
  static base::unique_fd lingering() {
    base::unique_fd writes(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    static const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // nobody reads what is sent to it
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    socklen_t length = sizeof at;
    ::bind(listener, address, sizeof at);
    ::listen(listener, 4);
    ::getsockname(listener, address, &length);
    const linger for_long{1, 60};
    ::setsockopt(writes.get(), SOL_SOCKET, SO_LINGER, &for_long, sizeof for_long);
    if (::connect(writes.get(), address, length) != 0) return {};
    const std::vector<char> much(std::size_t{16} << 20);
    ::send(writes.get(), much.data(), much.size(), MSG_DONTWAIT);
    return writes;
  }

  // ---- writing

  [[nodiscard]] std::uint32_t word() {
    switch (random_() % 6) {
      case 0: return 0;
      case 1: return UINT32_MAX;
      case 2: return static_cast<std::uint32_t>(random_() % 64);
      case 3: return 0x80000000U | static_cast<std::uint32_t>(random_() % 4);
      default: return static_cast<std::uint32_t>(random_());
    }
  }
  [[nodiscard]] node_t one_of_them() { return static_cast<node_t>(nodes_[random_() % nodes_.size()]); }
  void write_word(const region& in, std::size_t index) {
    reinterpret_cast<std::atomic<std::uint32_t>*>(in.at)[index % (in.bytes / 4)].store(word());
  }
  void set_life(std::uint32_t node, std::uint32_t value) {
    for (transport::shm::job_segment* job : jobs_) {
      job->of(static_cast<node_t>(node)).alive.store(value);
      ::syscall(SYS_futex, &job->of(static_cast<node_t>(node)).alive, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
    }
  }

  void scribble() {
    if (regions_.empty()) return;
    for (int i = 0; i < 2000; ++i) write_word(regions_[random_() % regions_.size()], random_());
  }
  void scribble_where_it_hurts() {
    for (int i = 0; i < 5000; ++i) {
      if (!jobs_.empty() && random_() % 2 == 0) {
        transport::shm::job_segment& job = *jobs_[0];
        if (random_() % 8 == 0)
          write_word({reinterpret_cast<std::byte*>(&job), offsetof(transport::shm::job_segment, nodes)}, random_());
        else
          write_word({reinterpret_cast<std::byte*>(&job.of(one_of_them())), sizeof(transport::shm::job_node)},
                     random_());
      } else if (!pairs_.empty()) {
        const region& pair = pairs_[random_() % pairs_.size()];
        write_word({pair.at, random_() % 2 == 0 ? 256U : 16384U}, random_());
      }
    }
  }
  void flicker_life_words() {
    for (int i = 0; i < 5000; ++i) {
      for (const std::uint32_t node : nodes_) {
        for (transport::shm::job_segment* job : jobs_)
          job->of(static_cast<node_t>(node)).alive.store(static_cast<std::uint32_t>(i + 1));
      }
      if (i % 16 == 0) set_life(static_cast<std::uint32_t>(one_of_them()), static_cast<std::uint32_t>(i));
    }
  }
  void ring_all_bells() {
    for (int i = 0; i < 500; ++i) {
      for (transport::shm::job_segment* job : jobs_) {
        for (const std::uint32_t node : nodes_) {
          transport::bell& bell = job->of(static_cast<node_t>(node)).ring_me;
          for (auto& bits : bell.bits) bits.store(~std::uint64_t{0}, std::memory_order_relaxed);
          bell.attention.store(word(), std::memory_order_relaxed);
          bell.sleeping.store(word(), std::memory_order_relaxed);
          bell.orders_senders.store(word() & 1U, std::memory_order_relaxed);
        }
      }
      ::sched_yield();
    }
  }
  /// Of a frame, mostly one that there is, and one beyond at each end; with flags now and then, whether or not they go
  /// with it.
  [[nodiscard]] std::uint32_t frame_kind() {
    if (random_() % 16 == 0) return static_cast<std::uint32_t>(random_() % 256);
    auto kind = static_cast<std::uint32_t>(random_() % (last_kind<detail::wire_kind> + 2));
    if (random_() % 4 == 0) kind |= detail::in_context;
    if (random_() % 4 == 0) kind |= detail::stoppable;
    if (random_() % 8 == 0) kind |= transport::long_flag;
    return kind;
  }
  /// Lines that look like frames, in both directions, of any kind and size; and what they announce.
  void forge_frames() {
    if (pairs_.empty()) return;
    const region& pair = pairs_[random_() % pairs_.size()];
    for (unsigned direction = 0; direction < 2; ++direction) {
      std::byte* const lines = pair.at + 2 * sizeof(transport::ring_control) +
                               direction * (transport::line_bytes << transport::ring_pair::lines_log2);
      const std::uint32_t lap = static_cast<std::uint32_t>(random_() % 3);
      for (std::uint64_t i = 0; i < (std::uint64_t{1} << transport::ring_pair::lines_log2); ++i) {
        if (random_() % 4 == 0) continue;
        auto* const head = reinterpret_cast<transport::line_head*>(lines + i * transport::line_bytes);
        const std::uint32_t kind = frame_kind();
        const std::uint32_t size =
            random_() % 3 == 0 ? word() & transport::size_mask : static_cast<std::uint32_t>(random_() % 100);
        head->key.store(word(), std::memory_order_relaxed);
        head->call.store(word(), std::memory_order_relaxed);
        head->size_and_kind.store(size | kind << 24, std::memory_order_relaxed);
        for (std::size_t k = 4; k < transport::line_bytes / 4; ++k)
          reinterpret_cast<std::atomic<std::uint32_t>*>(head)[k].store(word(), std::memory_order_relaxed);
        head->stamp.store(0x80000000U | lap, std::memory_order_release);
      }
    }
    ring_all_bells();
  }
  void move_counters() {
    for (const region& pair : pairs_) {
      auto* const controls = reinterpret_cast<transport::ring_control*>(pair.at);
      for (int i = 0; i < 200; ++i) {
        transport::ring_control& one = controls[random_() % 2];
        const std::uint64_t value = random_() % 3 == 0 ? random_() : random_() % 10000;
        (random_() % 2 == 0 ? one.taken : one.released).store(value);
        one.armed.store(word() & 1U);
        one.takes_long.store(word() & 1U);
      }
    }
  }
  void lie_in_tables() {
    for (std::byte* heap : heaps_) {
      auto* const entries = reinterpret_cast<base::heap_entry*>(heap + base::heap_table_offset);
      for (int i = 0; i < 100; ++i) {
        base::heap_entry& one = entries[random_() % 64];
        switch (random_() % 4) {
          case 0: one.offset.store(random_() % 2 == 0 ? random_() : std::uint64_t{1} << random_() % 64); break;
          case 1: one.size.store(random_() % 2 == 0 ? random_() : std::uint64_t{1} << random_() % 64); break;
          case 2: one.tag.store(random_()); break;
          default: reinterpret_cast<base::heap_header*>(heap)->owner_base.store(random_()); break;
        }
      }
    }
  }
  void return_areas() {
    for (transport::area_layout* area : areas_) {
      for (auto& one : area->returned) one.store(random_() % 2 == 0 ? word() : one.load() + 1);
    }
  }
  /// Heads, depths and names, which whoever explains the loss of a node reads.
  void damage_recorders() {
    for (const region& recorder : recorders_) {
      auto* const area = reinterpret_cast<base::recorder_area*>(recorder.at);
      switch (random_() % 4) {
        case 0: write_word({recorder.at, sizeof area->head}, random_()); break;
        case 1: area->head.names = word(); break;
        case 2: area->head.named = word(); break;
        default: std::memset(static_cast<void*>(area->names), static_cast<int>(random_() % 256), 4096); break;
      }
      const region ring{reinterpret_cast<std::byte*>(&area->rings[random_() % std::size(area->rings)]),
                        sizeof(base::recorder_ring)};
      for (int i = 0; i < 50; ++i) write_word(ring, random_());
    }
  }
  void spoil_job() {
    for (transport::shm::job_segment* job : jobs_) {
      job->awake.store(static_cast<std::int32_t>(word()));
      job->cores = word();
      job->magic = word();
      for (const std::uint32_t node : nodes_) {
        job->of(static_cast<node_t>(node)).home.store(static_cast<std::int32_t>(word()));
        job->of(static_cast<node_t>(node)).awake.store(word());
        job->of(static_cast<node_t>(node)).end.record(static_cast<int>(word() & 0xffffU));
      }
    }
  }
  void talk_nonsense() {
    for (const int control : controls_) {
      for (int i = 0; i < 50; ++i) {
        std::array<std::byte, 5000> text{};
        const std::size_t size = random_() % 3 == 0 ? random_() % text.size() : sizeof(transport::shm::control_text);
        for (std::byte& one : text) one = static_cast<std::byte>(random_());
        const std::uint32_t known[2] = {
            transport::shm::control_text::protocol,
            static_cast<std::uint32_t>(random_() % (last_kind<transport::shm::control_kind> + 2))};
        if (random_() % 2 == 0) std::memcpy(text.data(), known, sizeof known);
        base::send_control(control, {text.data(), size}, {});
      }
    }
  }
  void ask_for_everybody() {
    for (const int control : controls_) {
      for (std::uint32_t i = 0; i < 50; ++i) {
        transport::shm::control_text text;
        text.kind = transport::shm::control_kind::connect;
        text.peer = random_() % 2 == 0 ? one_of_them() : static_cast<std::int32_t>(random_());
        base::send_control(control, std::as_bytes(std::span(&text, 1)), {});
      }
    }
  }
  void punch_holes() {
    for (const int file : files_) {
      for (int i = 0; i < 10; ++i) {
        ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(random_() % 1000 * 4096),
                    static_cast<off_t>((1 + random_() % 100) * 4096));
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<std::uint32_t> nodes_{0, 1, 2, 3};
  std::vector<region> regions_;
  std::vector<transport::shm::job_segment*> jobs_;
  std::vector<region> pairs_;
  std::vector<region> recorders_;
  std::vector<region> counters_;
  std::vector<region> others_;
  std::vector<region> mapped_;  ///< by this object
  std::vector<transport::area_layout*> areas_;
  std::vector<std::byte*> heaps_;
  std::vector<int> files_;
  std::vector<int> events_;
  std::vector<int> controls_;
};

}  // namespace ham::test
