// SPDX-License-Identifier: Apache-2.0
// Lists the probes of a binary, as its ELF notes say them: the text behind `vmrun -l`. The notes
// are read anew at each call, and nothing is kept. Any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vmrun::probe {

struct ProbeRow {
  const char* name;  // as in the note: message__send
  const char* family;
  struct Argument {
    const char* name;
    const char* type;     // as in the provider file
    unsigned char given;  // what the machine hands over: the place of its kind in probes.tab
    unsigned short most;  // the most bytes that the text of a term may have
  };
  std::vector<Argument> arguments;
};

/// Returns the rows of probes.tab, whether or not they are compiled in. They are in its order,
/// except that probes of ranges come last. A probe's number is its place here.
const std::vector<ProbeRow>& probe_rows();

/// One SDT note.
struct ProbeNote {
  uint64_t address = 0;
  uint64_t semaphore_address = 0;
  std::string provider;
  std::string name;
  std::string function;  // the symbol that holds the site; empty in a stripped binary
  // The types, as the widths in the note say: char *, int, uint32_t, int64_t...
  std::vector<std::string> arguments;
};

/// Returns the types of the arguments that a note's text describes, as sys/sdt.h has the assembler
/// write it on x86-64 ("8@%rdi -4@$3 8@16(%rsp)") and on ARM64 ("8@x0 -4@3 8@[sp, 16]").
std::vector<std::string> argument_types(std::string_view text);

/// Returns what scripts call a probe: message-send for message__send.
std::string with_hyphens(const std::string& name);

/// Reads the SDT notes of an ELF file. Returns false and sets error when the file cannot be read. A
/// file without notes is not an error.
[[nodiscard]] bool read_probe_notes(const char* path, std::vector<ProbeNote>& notes, std::string& error);

/// Formats notes one a line, in columns as `dtrace -l` has them: ID, PROVIDER, MODULE (the file's
/// name), FUNCTION, NAME (with `-` for `__`), and the arguments. Types come from the note, names
/// from probes.tab.
std::string format_probe_notes(const char* path, const std::vector<ProbeNote>& notes);

}  // namespace vmrun::probe
