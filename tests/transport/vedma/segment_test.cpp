// SysV segments: shared by their number while somebody is attached, and gone after that.
#include "transport/vedma/segment.hpp"

#include <gtest/gtest.h>
#include <sys/shm.h>

#include <cerrno>
#include <optional>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::transport::vedma {
namespace {

bool is_there(std::uint64_t id) {
  shmid_ds status{};
  return ::shmctl(static_cast<int>(id), IPC_STAT, &status) == 0;
}

TEST(vedma_segment, is_shared_by_its_number) {
  const segment made = segment::make(100);
  made.memory()[99] = std::byte{7};
  const segment attached = segment::attach(made.id(), 100);
  EXPECT_NE(attached.memory(), made.memory());
  EXPECT_EQ(attached.memory()[99], std::byte{7});
  attached.memory()[0] = std::byte{8};
  EXPECT_EQ(made.memory()[0], std::byte{8});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made.memory()) % 4096, 0U);
}

TEST(vedma_segment, is_left_behind_by_nobody) {
  std::optional<segment> made(segment::make(100));
  const std::uint64_t id = made->id();
  std::optional<segment> attached(segment::attach(id, 100));
  made.reset();
  EXPECT_TRUE(is_there(id)) << "somebody is attached";
  attached->memory()[0] = std::byte{1};
  {
    const segment moved(std::move(*attached));
    attached.reset();
    EXPECT_TRUE(is_there(id)) << "it was handed on";
  }
  EXPECT_FALSE(is_there(id));
}

TEST(vedma_segment, says_why_it_cannot_be_attached) {
  const auto refusal = [](std::uint64_t id, std::size_t size) -> std::string {
    try {
      static_cast<void>(segment::attach(id, size));
    } catch (const config_error& problem) {
      return problem.what();
    }
    return "it was attached";
  };
  const segment made = segment::make(100);
  errno = 0;
  const std::string small = refusal(made.id(), std::size_t{1} << 40);
  EXPECT_EQ(small,
            "cannot attach the shared memory segment of the host (Invalid argument); see the limits kernel.shmmax and "
            "kernel.shmmni");
  std::uint64_t gone = 0;
  {
    const segment other = segment::make(100);
    gone = other.id();
  }
  EXPECT_EQ(refusal(gone, 1).find("cannot find the shared memory segment of the host ("), 0U);
  for (const std::uint64_t id : {made.id() + (std::uint64_t{1} << 32), ~std::uint64_t{0}}) {
    EXPECT_EQ(refusal(id, 1),
              "cannot find the shared memory segment of the host (Invalid argument); see the limits kernel.shmmax and "
              "kernel.shmmni");
  }
}

}  // namespace
}  // namespace ham::transport::vedma
