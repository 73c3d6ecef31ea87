// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "vm/code/code_server.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/listing.hpp"
#include "vm/code/patches.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

std::string any_source(Word w) {
  if (w & 3) return term_text(Term::from_raw(w), 60);
  return (w & 4 ? "y" : "x") + std::to_string(w >> 4);
}

std::string text_of(char kind, const std::uint8_t* field, const Word* instruction, const Module* m) {
  Word v = 0;
  std::memcpy(&v, field,
              kind == 'c' || kind == 'S' || kind == 'w'                                 ? 8
              : kind == 'k' || kind == 'i' || kind == 'q' || kind == 'f' || kind == '*' ? 4
                                                                                        : 2);
  switch (kind) {
    case 'x': return "x" + std::to_string(v);
    case 'y': return "y" + std::to_string(v);
    case 'l': return "f" + std::to_string(v);
    case 'D': return (v & kDestinationY ? "y" : "x") + std::to_string(v & ~Word{kDestinationY});
    case 'k':
    case 'c': return term_text(Term::from_raw(v), 60);
    case 'i': return std::to_string(static_cast<std::int32_t>(v) >> 4);
    case 'S': return any_source(v);
    case 'f': {
      const auto distance = static_cast<std::int32_t>(v);
      if (!distance) return "-";
      return "->" + std::to_string(m ? instruction + distance - m->begin() : distance);
    }
    case 'w': {
      char text[24];
      std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(v));
      return text;
    }
    default: return std::to_string(v);
  }
}

std::string one(const Word** at, const Module* m) {
  const Word* i = *at;
  const std::uint16_t operation = operation_at(i);
  if (operation >= op::kOpCount) {
    ++*at;
    return "?";
  }
  const InstructionRow& row = op::kInstructions[operation];
  std::string out = row.name;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(i);
  std::uint32_t list = 0;
  for (unsigned k = 0; row.kinds[k]; k++) {
    if (row.kinds[k] == '*') std::memcpy(&list, bytes + row.fields[k], 4);
    else out += " " + text_of(row.kinds[k], bytes + row.fields[k], i, m);
  }
  if (list) {
    out += " [";
    for (std::uint32_t k = 0; k < list; k++) {
      char text[24];
      std::snprintf(text, sizeof text, "%s%lx", k ? " " : "", static_cast<unsigned long>(i[row.words + k]));
      out += text;
    }
    out += "]";
  }
  *at += row.words + list;
  return out;
}

}  // namespace

std::string disassemble_instruction(const Word** address) { return one(address, nullptr); }

namespace {

template <class Label>
std::string listing(const Module& m, Label label) {
  std::string out;
  std::size_t next = 0;
  for (const Word* at = m.begin(); at < m.end();) {
    const auto word = static_cast<std::uint32_t>(at - m.begin());
    if (next < m.functions.size() && m.functions[next] == word) {
      const auto* h = reinterpret_cast<const FunctionHeader*>(at);
      out += "\n" + label(*h) + ":\n";
      next++;
    }
    out += "  " + std::to_string(word) + "\t" + one(&at, &m) + "\n";
  }
  return out;
}

}  // namespace

std::string disassemble(const Module& m) {
  return listing(
      m, [](const FunctionHeader& h) { return std::string(MfaText(h.module, h.function, h.arity).view()); });
}

void write_listing(const Module& m) {
  std::string file = std::string(atom_text(m.name)) + ".asm";
  std::ranges::replace(file, '/', '_');
  const std::string text = listing(m, [](const FunctionHeader& h) {
    return std::string(atom_text(h.function)) + "/" + std::to_string(h.arity);
  });
  std::FILE* const out = std::fopen(file.c_str(), "we");
  const bool written = out && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const bool closed = out && std::fclose(out) == 0;
  if (!written || !closed) std::fprintf(stderr, "%s: %s\n", file.c_str(), std::strerror(errno));
}

}  // namespace vmrun
