// Sections of ELF files: of this program, of a file made here, and of files that are damaged.
#include "debug_info/elf_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "debug_info/bytes.hpp"

namespace ham::inline v1::debug_info {
namespace {

/// A file that is there as long as this.
class written_file {
 public:
  explicit written_file(const std::string& content) { std::ofstream(path_, std::ios::binary) << content; }
  ~written_file() { std::remove(path_.c_str()); }
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "ham_elf_file_" + std::to_string(::getpid());
};

template <class T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The smallest file with sections: a header, contents, their names, and the table of them.
struct made_file {
  struct part {
    std::string name, content;
    std::uint32_t type = SHT_PROGBITS;
    std::uint64_t flags = 0;
  };
  std::vector<part> parts;
  Elf64_Ehdr head{};

  explicit made_file(std::vector<part> with) : parts(std::move(with)) {
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = static_cast<Elf64_Half>(parts.size() + 2);  // none, and the names
    head.e_shstrndx = static_cast<Elf64_Half>(parts.size() + 1);
    lay_out();
  }
  [[nodiscard]] std::string bytes() const { return raw(head) + body_; }

 private:
  void lay_out() {
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> table(1);
    parts.push_back({".names", {}, SHT_STRTAB, 0});
    for (part& one : parts) {
      Elf64_Shdr entry{};
      entry.sh_name = static_cast<Elf64_Word>(names.size());
      names += one.name + '\0';
      if (&one == &parts.back()) one.content = names;
      entry.sh_type = one.type;
      entry.sh_flags = one.flags;
      entry.sh_offset = sizeof head + body_.size();
      entry.sh_size = one.content.size();
      body_ += one.content;
      table.push_back(entry);
    }
    head.e_shoff = sizeof head + body_.size();
    for (const Elf64_Shdr& one : table) body_ += raw(one);
  }
  std::string body_;
};

made_file made(std::initializer_list<made_file::part> parts) { return made_file(std::vector(parts)); }

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string refusal_of(const std::string& content) {
  const written_file one(content);
  try {
    const elf_file read(one.path());
    return "it was read";
  } catch (const malformed& problem) {
    const std::string text = problem.what();
    EXPECT_EQ(text.find(one.path()), 0U) << text;
    return text.substr(std::min(text.size(), one.path().size()));
  }
}

TEST(elf_file, has_the_sections_and_symbols_of_this_program) {
  const elf_file program("/proc/self/exe");
  EXPECT_FALSE(program.section(".text").empty());
  EXPECT_FALSE(program.section(".debug_info").empty());
  EXPECT_TRUE(program.section(".no_such_section").empty());
  EXPECT_TRUE(program.section(".bss").empty()) << "it has no bytes in the file";
  EXPECT_TRUE(program.has_symbol("__libc_start_main")) << "which is in another file";
  EXPECT_FALSE(program.has_symbol("ham_no_such_symbol"));
  EXPECT_FALSE(program.has_symbol("__libc_start_mai"));
}

TEST(elf_file, finds_sections_by_their_full_names) {
  const written_file file(
      made({{".first", "abc"}, {".second", "de"}, {".fi", ""}, {".void", "xyz", SHT_NOBITS}}).bytes());
  const elf_file read(file.path());
  EXPECT_EQ(text_of(read.section(".first")), "abc");
  EXPECT_EQ(text_of(read.section(".second")), "de");
  EXPECT_EQ(text_of(read.section(".fi")), "");
  EXPECT_EQ(text_of(read.section(".void")), "");
  EXPECT_EQ(text_of(read.section(".firs")), "");
  EXPECT_FALSE(read.has_symbol("any")) << "without a table of symbols";
}

TEST(elf_file, stays_readable_when_the_file_was_deleted) {
  std::string path;
  std::unique_ptr<elf_file> read;
  {
    const written_file file(made({{".first", "abc"}}).bytes());
    read = std::make_unique<elf_file>(file.path());
  }
  EXPECT_EQ(text_of(read->section(".first")), "abc");
}

TEST(elf_file, finds_symbols_by_their_names) {
  Elf64_Sym none{};
  Elf64_Sym second{};
  second.st_name = 1;
  const std::string names("\0kernel\0", 8);
  const written_file file(made({{".dynsym", raw(none) + raw(second) + "rest"}, {".dynstr", names}}).bytes());
  const elf_file read(file.path());
  EXPECT_TRUE(read.has_symbol("kernel"));
  EXPECT_FALSE(read.has_symbol("kerne"));
  second.st_name = 100;
  const written_file damaged(made({{".dynsym", raw(second)}, {".dynstr", names}}).bytes());
  EXPECT_THROW((void)elf_file(damaged.path()).has_symbol("kernel"), malformed);
}

TEST(elf_file, knows_where_its_separate_debug_information_is) {
  const auto path_with = [](std::uint32_t name_bytes, std::uint32_t id_bytes, const std::string& rest) {
    const Elf64_Nhdr head{name_bytes, id_bytes, NT_GNU_BUILD_ID};
    const written_file file(made({{".note.gnu.build-id", raw(head) + rest}}).bytes());
    return elf_file(file.path()).separate_debug_path();
  };
  const std::string gnu("GNU\0", 4);
  EXPECT_EQ(path_with(4, 3, gnu + "\xab\xcd\x01"), "/usr/lib/debug/.build-id/ab/cd01.debug");
  EXPECT_EQ(path_with(3, 2, gnu + "\x0f\xf0"), "/usr/lib/debug/.build-id/0f/f0.debug") << "names are padded";
  EXPECT_THROW((void)path_with(4, 4, gnu + "\xab\xcd\x01"), malformed);
  EXPECT_THROW((void)path_with(400, 1, gnu + "a"), malformed);
  const written_file without(made({{".text", "abc"}}).bytes());
  EXPECT_EQ(elf_file(without.path()).separate_debug_path(), "");
}

TEST(elf_file, says_what_a_compressed_section_needs) {
  const written_file file(made({{".debug_info", "abc", SHT_PROGBITS, SHF_COMPRESSED}}).bytes());
  const elf_file read(file.path());
  try {
    (void)read.section(".debug_info");
    ADD_FAILURE() << "it was read";
  } catch (const malformed& problem) {
    EXPECT_STREQ(problem.what(), "its debug information is compressed: link it with -gz=none");
  }
}

TEST(elf_file, refuses_what_is_none) {
  EXPECT_THROW(elf_file("/no/such/file"), malformed);
  EXPECT_THROW(elf_file("/"), malformed);
  const std::string none = " is no 64-bit ELF file of this machine";
  EXPECT_EQ(refusal_of(""), " cannot be read");
  EXPECT_EQ(refusal_of("\177ELF"), none);
  EXPECT_EQ(refusal_of(std::string(1000, 'x')), none);
  const made_file good = made({{".first", "abc"}});
  EXPECT_EQ(refusal_of(good.bytes()), "it was read");
  EXPECT_EQ(refusal_of(good.bytes().substr(0, sizeof(Elf64_Ehdr) - 1)), none);
  made_file narrow = good;
  narrow.head.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(refusal_of(narrow.bytes()), none);
  made_file swapped = good;
  swapped.head.e_ident[EI_DATA] = static_cast<unsigned char>(ELFDATA2LSB + ELFDATA2MSB - good.head.e_ident[EI_DATA]);
  EXPECT_EQ(refusal_of(swapped.bytes()), none);
}

TEST(elf_file, reads_nothing_outside_of_a_damaged_one) {
  const made_file good = made({{".first", "abc"}, {".second", std::string(200, 'x')}});
  const auto first_of = [](const std::string& content) {
    const written_file file(content);
    const elf_file read(file.path());
    return text_of(read.section(".second"));
  };
  made_file no_names = good;
  no_names.head.e_shstrndx = good.head.e_shnum;
  EXPECT_EQ(first_of(no_names.bytes()), "");
  made_file no_table = good;
  no_table.head.e_shoff = 0;
  EXPECT_EQ(first_of(no_table.bytes()), "");
  made_file outside = good;
  outside.head.e_shoff = ~Elf64_Off{0} - 8;
  EXPECT_THROW((void)first_of(outside.bytes()), malformed);
  // Cut off anywhere behind its header: it is read as it is, or refused.
  const std::string all = good.bytes();
  for (std::size_t size = sizeof(Elf64_Ehdr); size < all.size(); ++size)
    EXPECT_THROW((void)first_of(all.substr(0, size)), malformed) << size;
}

}  // namespace
}  // namespace ham::debug_info
