// What probes a binary has, as its ELF notes say: the text behind `vmrun -l`. The notes are read
// anew at each call; nothing is kept. Any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vmrun::probe {

struct ProbeRow {
  const char* name;  // as in the note: message__send
  const char* family;
  struct Argument {
    const char* name;
    const char* type;     // as in the provider file
    unsigned char given;  // what the machine hands over: the place of its kind in probes.tab
    unsigned short most;  // bytes of the text of a term
  };
  std::vector<Argument> arguments;
};

/// The rows of probes.tab, whether or not they are compiled in: in its order, but for ranges, whose
/// probes come last. A probe's number is its place here.
const std::vector<ProbeRow>& probe_rows();

/// One SDT note.
struct ProbeNote {
  uint64_t address = 0;
  uint64_t semaphore_address = 0;
  std::string provider;
  std::string name;
  std::string function;  // symbol that holds the site; empty in a stripped binary
  // types as the widths in the note say: char *, int, uint32_t, int64_t...
  std::vector<std::string> arguments;
};

/// What scripts call a probe: message-send of message__send.
std::string with_hyphens(const std::string& name);

/// Reads the SDT notes of an ELF file. Returns false and sets error when the file cannot be read; a
/// file without notes is no error.
[[nodiscard]] bool read_probe_notes(const char* path, std::vector<ProbeNote>& notes, std::string& error);

/// Formats notes one a line, columns as in `dtrace -l`: ID, PROVIDER, MODULE (the file's name),
/// FUNCTION, NAME (with `-` for `__`), and the arguments: types from the note, names from
/// probes.tab.
std::string format_probe_notes(const char* path, const std::vector<ProbeNote>& notes);

}  // namespace vmrun::probe
