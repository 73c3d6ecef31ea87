// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/gdb.hpp"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "vm/code/made_code.hpp"
#include "vm/hot/area.hpp"
#include "vm/hot/unwinding.hpp"
#include "vm/jit/processor.hpp"

// gdb looks for these names, and has a breakpoint in the function.
extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version, action_flag;
  jit_code_entry *relevant_entry, *first_entry;
};
constinit jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
[[gnu::noinline]] void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}

namespace vmrun {
namespace {

constexpr std::uint32_t kRegister = 1;  // JIT_REGISTER_FN

/// An ELF file of a few sections.
class ElfFile {
 public:
  ElfFile() {
    bytes_.resize(sizeof(Elf64_Ehdr));
    sections_.push_back({});
    names_.push_back('\0');
  }

  /// Returns its number. bytes: what is in the file of it.
  unsigned add(const char* name, Elf64_Shdr section, const void* data, std::size_t bytes) {
    section.sh_name = static_cast<Elf64_Word>(names_.size());
    names_.append(name).push_back('\0');
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    section.sh_offset = bytes_.size();
    if (data) {
      section.sh_size = bytes;
      bytes_.insert(bytes_.end(), static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
    }
    section.sh_addralign = 8;
    sections_.push_back(section);
    return static_cast<unsigned>(sections_.size() - 1);
  }
  std::vector<char> finish() {
    Elf64_Shdr of_names{};
    of_names.sh_type = SHT_STRTAB;
    const std::size_t name = names_.size();
    names_.append(".shstrtab").push_back('\0');
    const unsigned index = add("", of_names, names_.data(), names_.size());
    sections_[index].sh_name = static_cast<Elf64_Word>(name);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = jit::kElfMachine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(index);
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    header.e_shoff = bytes_.size();
    std::memcpy(bytes_.data(), &header, sizeof header);
    const auto* const sections = reinterpret_cast<const char*>(sections_.data());
    bytes_.insert(bytes_.end(), sections, sections + sections_.size() * sizeof sections_[0]);
    return std::move(bytes_);
  }

 private:
  std::vector<char> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
};

std::vector<char> elf_of(const std::uint8_t* area, std::size_t area_bytes, const std::uint8_t* place,
                         const HotFunction& stubs) {
  ElfFile file;
  Elf64_Shdr text{};
  text.sh_type = SHT_NOBITS;
  text.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  text.sh_addr = reinterpret_cast<Elf64_Addr>(area);
  text.sh_size = area_bytes;
  const unsigned code = file.add(".text", text, nullptr, 0);

  FrameTable frames;
  const std::uint8_t* const behind = place + stubs.code.size();
  frames.add(area, static_cast<std::size_t>(place - area), {});
  frames.add(place, stubs.code.size(), stubs.frame_sizes);
  frames.add(behind, static_cast<std::size_t>(area + area_bytes - behind), {});
  const std::vector<std::uint8_t> table = frames.finish();
  Elf64_Shdr unwinding{};
  unwinding.sh_type = SHT_PROGBITS;
  unwinding.sh_flags = SHF_ALLOC;
  file.add(".eh_frame", unwinding, table.data(), table.size());

  constexpr char kNames[] = "\0machine_code";
  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = 1;
  symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  symbols[1].st_shndx = static_cast<Elf64_Half>(code);
  symbols[1].st_size = area_bytes;
  Elf64_Shdr names{};
  names.sh_type = SHT_STRTAB;
  Elf64_Shdr of_symbols{};
  of_symbols.sh_type = SHT_SYMTAB;
  of_symbols.sh_link = file.add(".strtab", names, kNames, sizeof kNames);
  of_symbols.sh_info = std::size(symbols);  // none is global
  of_symbols.sh_entsize = sizeof symbols[0];
  file.add(".symtab", of_symbols, symbols, sizeof symbols);
  return file.finish();
}

}  // namespace

void tell_gdb(const Area& area, const std::uint8_t* place, const HotFunction& stubs) {
  // For ever, since gdb may come at any time.
  static const std::vector<char> file = elf_of(area.begin(), jit::kAreaBytes, place, stubs);
  static jit_code_entry entry{nullptr, nullptr, file.data(), file.size()};
  __jit_debug_descriptor = {1, kRegister, &entry, &entry};
  __jit_debug_register_code();
}

}  // namespace vmrun
