// Reads what is needed of an ELF file.
#include "debug_info/elf_file.hpp"

#include "debug_info/bytes.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>

namespace ham::inline v1::debug_info {
namespace {

constexpr unsigned char native_data = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

std::span<const std::byte> map_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw malformed(path + " cannot be opened");
  struct stat status {};
  void* memory = MAP_FAILED;
  if (::fstat(file, &status) == 0 && status.st_size > 0) {
    memory = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  ::close(file);
  if (memory == MAP_FAILED) throw malformed(path + " cannot be read");
  return {static_cast<const std::byte*>(memory), static_cast<std::size_t>(status.st_size)};
}

Elf64_Shdr section_header(std::span<const std::byte> bytes, const Elf64_Ehdr& file, std::uint64_t index) {
  return cursor(bytes, file.e_shoff + index * file.e_shentsize).number<Elf64_Shdr>();
}

}  // namespace

elf_file::elf_file(const std::string& path) : bytes_(map_file(path)) {
  const bool is_elf = bytes_.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes_.data(), ELFMAG, SELFMAG) == 0 &&
                      bytes_[EI_CLASS] == std::byte{ELFCLASS64} && bytes_[EI_DATA] == std::byte{native_data};
  if (!is_elf) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    throw malformed(path + " is no 64-bit ELF file of this machine");
  }
}

elf_file::~elf_file() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

std::span<const std::byte> elf_file::section(std::string_view name) const {
  const auto file = cursor(bytes_).number<Elf64_Ehdr>();
  if (file.e_shoff == 0 || file.e_shstrndx >= file.e_shnum) return {};
  const Elf64_Shdr names = section_header(bytes_, file, file.e_shstrndx);
  for (unsigned i = 0; i < file.e_shnum; ++i) {
    const Elf64_Shdr header = section_header(bytes_, file, i);
    if (header.sh_type == SHT_NOBITS || cursor(bytes_, names.sh_offset + header.sh_name).text() != name) continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0) {
      throw malformed("its debug information is compressed: link it with -gz=none");
    }
    return cursor(bytes_, header.sh_offset).take(header.sh_size);
  }
  return {};
}

bool elf_file::has_symbol(std::string_view name) const {
  const auto symbols = section(".dynsym");
  const auto names = section(".dynstr");
  for (cursor in(symbols); in.left() >= sizeof(Elf64_Sym);) {
    if (cursor(names, in.number<Elf64_Sym>().st_name).text() == name) return true;
  }
  return false;
}

std::string elf_file::separate_debug_path() const {
  const auto note = section(".note.gnu.build-id");
  if (note.size() < sizeof(Elf64_Nhdr)) return {};
  cursor in(note);
  const auto header = in.number<Elf64_Nhdr>();
  in.skip((header.n_namesz + 3U) & ~3U);
  std::string path = "/usr/lib/debug/.build-id/";
  constexpr std::string_view digits = "0123456789abcdef";
  const auto id = in.take(header.n_descsz);
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto value = std::to_integer<unsigned>(id[i]);
    path += digits[value >> 4U];
    path += digits[value & 15U];
    if (i == 0) path += '/';
  }
  return path + ".debug";
}

}  // namespace ham::debug_info
