// SPDX-License-Identifier: Apache-2.0
// The layout of an SDT note (owner "stapsdt", type 3): three target words (address of the site,
// address of .stapsdt.base at link time, address of the semaphore), then three NUL-terminated
// strings (provider, name, arguments). An argument is SIZE@OPERAND; SIZE is negative for signed
// values.
#include "probes/probe_notes.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "probes/inside.hpp"

namespace vmrun::probe {

constinit thread_local std::uint64_t message_number = 0;

namespace {

constexpr uint32_t kSdtNoteType = 3;

class ElfFile {
 public:
  explicit ElfFile(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0 && elf_version(EV_CURRENT) != EV_NONE) elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    if (elf_) elf_end(elf_);
    if (fd_ >= 0) close(fd_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  bool opened() const { return fd_ >= 0; }
  bool is_elf() const { return elf_ && elf_kind(elf_) == ELF_K_ELF; }
  Elf* get() const { return elf_; }

 private:
  int fd_;
  Elf* elf_ = nullptr;
};

const char* type_of_size(int size) {
  switch (size) {
    case 8: return "char *";  // the only unsigned 64-bit arguments of this provider
    case -8: return "int64_t";
    case 4: return "uint32_t";
    case -4: return "int";
    case 2: return "uint16_t";
    case -2: return "int16_t";
    case 1: return "uint8_t";
    case -1: return "int8_t";
    default: return "?";
  }
}

// Returns where the operand that starts at `at` ends. ARM64 has spaces between brackets: [sp, 16].
size_t operand_end(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '[') at = text.find(']', at);
  return text.find(' ', at);
}

// Reads one description. `base` is where .stapsdt.base really is. A tool that moved the code after
// linking moved it too, so the difference corrects the addresses.
bool parse_note(const char* data, size_t size, uint64_t base, ProbeNote& note) {
  uint64_t words[3];
  if (size < sizeof words) return false;
  std::memcpy(words, data, sizeof words);
  uint64_t moved = base ? base - words[1] : 0;
  note.address = words[0] + moved;
  note.semaphore_address = words[2] ? words[2] + moved : 0;

  std::string_view rest(data + sizeof words, size - sizeof words);
  std::string_view fields[3];
  for (auto& field : fields) {
    size_t end = rest.find('\0');
    if (end == std::string_view::npos) return false;
    field = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  note.provider = fields[0];
  note.name = fields[1];
  note.arguments = argument_types(fields[2]);
  return true;
}

void read_note_section(Elf_Scn* section, uint64_t base, std::vector<ProbeNote>& notes) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data) return;
  size_t offset = 0, name_offset = 0, desc_offset = 0;
  GElf_Nhdr header;
  while (offset < data->d_size &&
         (offset = gelf_getnote(data, offset, &header, &name_offset, &desc_offset)) > 0) {
    const char* bytes = static_cast<const char*>(data->d_buf);
    bool ours = header.n_type == kSdtNoteType && header.n_namesz == sizeof "stapsdt" &&
                std::memcmp(bytes + name_offset, "stapsdt", sizeof "stapsdt") == 0;
    ProbeNote note;
    if (ours && parse_note(bytes + desc_offset, header.n_descsz, base, note))
      notes.push_back(std::move(note));
  }
}

void name_functions(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::vector<ProbeNote>& notes) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return;
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); i++) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    for (auto& note : notes) {
      if (note.address < symbol.st_value || note.address >= symbol.st_value + symbol.st_size) continue;
      if (const char* name = elf_strptr(elf, header.sh_link, symbol.st_name)) note.function = name;
    }
  }
}

// Returns the last part of a nested name: `message_send` for
// `_ZN5vmrun5probe12message_sendEPKc...`.
std::string short_function(const std::string& symbol) {
  if (symbol.compare(0, 3, "_ZN") != 0) return symbol;
  std::string part;
  size_t at = 3;
  while (at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9') {
    size_t length = 0;
    while (at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9')
      length = length * 10 + (symbol[at++] - '0');
    part = symbol.substr(at, length);
    at += length;
  }
  return part;
}

std::string format_arguments(const ProbeNote& note) {
  const ProbeRow* row = nullptr;
  for (auto& candidate : probe_rows()) {
    if (note.provider == "erlang" && note.name == candidate.name) row = &candidate;
  }
  std::string text;
  for (size_t i = 0; i < note.arguments.size(); i++) {
    if (i) text += ", ";
    text += note.arguments[i];
    if (!row || i >= row->arguments.size()) continue;
    if (text.back() != '*') text += ' ';
    text += row->arguments[i].name;
  }
  return "(" + text + ")";
}

}  // namespace

std::vector<std::string> argument_types(std::string_view text) {
  std::vector<std::string> types;
  while (!text.empty()) {
    size_t at = text.find('@');
    if (at == std::string_view::npos) break;
    types.emplace_back(type_of_size(std::atoi(std::string(text.substr(0, at)).c_str())));
    size_t space = operand_end(text, at + 1);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return types;
}

std::string with_hyphens(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size(); i++) {
    bool pair = name.compare(i, 2, "__") == 0;
    out += pair ? '-' : name[i];
    if (pair) i++;
  }
  return out;
}

bool read_probe_notes(const char* path, std::vector<ProbeNote>& notes, std::string& error) {
  ElfFile file(path);
  if (!file.opened()) {
    error = fmt::format("{}: {}", path, std::strerror(errno));
    return false;
  }
  size_t names_index = 0;
  if (!file.is_elf() || elf_getshdrstrndx(file.get(), &names_index) != 0) {
    error = fmt::format("{}: not an ELF file with sections", path);
    return false;
  }

  uint64_t base = 0;
  GElf_Shdr header;
  for (Elf_Scn* s = nullptr; (s = elf_nextscn(file.get(), s));) {
    if (!gelf_getshdr(s, &header)) continue;
    const char* name = elf_strptr(file.get(), names_index, header.sh_name);
    if (name && std::strcmp(name, ".stapsdt.base") == 0) base = header.sh_addr;
  }
  for (Elf_Scn* s = nullptr; (s = elf_nextscn(file.get(), s));) {
    if (gelf_getshdr(s, &header) && header.sh_type == SHT_NOTE) read_note_section(s, base, notes);
  }
  for (Elf_Scn* s = nullptr; (s = elf_nextscn(file.get(), s));) {
    if (gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB)
      name_functions(file.get(), s, header, notes);
  }
  return true;
}

std::string format_probe_notes(const char* path, const std::vector<ProbeNote>& notes) {
  std::string_view module(path);
  if (size_t slash = module.rfind('/'); slash != std::string_view::npos) module.remove_prefix(slash + 1);
  std::string text = fmt::format("{:>4} {:<8} {:<10} {:<24} {:<24} {}\n", "ID", "PROVIDER", "MODULE",
                                 "FUNCTION", "NAME", "ARGUMENTS");
  int id = 0;
  for (auto& note : notes) {
    text += fmt::format("{:>4} {:<8} {:<10} {:<24} {:<24} {}\n", ++id, note.provider, module,
                        short_function(note.function), with_hyphens(note.name), format_arguments(note));
  }
  return text;
}

}  // namespace vmrun::probe
