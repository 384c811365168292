// Files of flight recorders, found in /proc.
#include "runtime/recorder_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "base/memory_file.hpp"

namespace ham::inline v1::detail {
namespace {

file_id id_of(int fd) {
  struct stat about {};
  EXPECT_EQ(::fstat(fd, &about), 0);
  return {about.st_dev, about.st_ino};
}

TEST(recorder_files, are_those_of_their_names_that_have_none_in_a_file_system) {
  const base::unique_fd job = base::make_memory_file("ham-job", 4096);
  const base::unique_fd job_again(::dup(job.get()));
  const base::unique_fd own = base::make_memory_file("ham-recorder", 8192);
  const base::unique_fd heap = base::make_memory_file("ham-heap", 4096);
  const base::unique_fd empty = base::make_memory_file("ham-recorder", 0);
  std::map<file_id, std::uint64_t> found;
  std::map<file_id, int> times;
  const recorder_files files = find_recorder_files([&](file_id id, int fd, std::uint64_t bytes) {
    EXPECT_EQ(id_of(fd), id);
    found[id] = bytes;
    ++times[id];
  });
  EXPECT_EQ(found[id_of(job.get())], 4096U);
  EXPECT_EQ(times[id_of(job.get())], 1);
  EXPECT_EQ(found[id_of(own.get())], 8192U);
  EXPECT_FALSE(found.contains(id_of(heap.get())));
  EXPECT_FALSE(found.contains(id_of(empty.get())));
  const auto& mine = files.of.at(::getpid());
  EXPECT_TRUE(mine.contains(id_of(job.get())));
  EXPECT_TRUE(mine.contains(id_of(own.get())));
  EXPECT_FALSE(mine.contains(id_of(heap.get())));
}

TEST(recorder_files, relate_processes_that_share_them) {
  const auto file = [](ino_t number) { return file_id{1, number}; };
  recorder_files files;
  files.of = {{10, {file(1), file(2)}}, {11, {file(2)}}, {12, {file(2), file(3)}}, {13, {file(3)}}, {14, {file(4)}}};
  EXPECT_EQ(related_to({11}, files), (std::set<pid_t>{10, 11, 12, 13}));
  EXPECT_EQ(related_to({14}, files), (std::set<pid_t>{14}));
  EXPECT_EQ(related_to({99}, files), (std::set<pid_t>{99})) << "it has none";
  EXPECT_TRUE(related_to({}, files).empty());
}

}  // namespace
}  // namespace ham::detail
