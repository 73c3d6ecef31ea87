#include "vm/lifecycle/backtrace.hpp"

#include <fmt/format.h>

#include "vm/process/code_view.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kShownBytes = 4000;  // of a term

}  // namespace

std::string code_address_text(const Word* address) {
  const FunctionHeader* f = code_view.header_at(address);
  if (!f) return "(<machine code>)";
  const MfaText mfa(f->module, f->function, f->arity);
  return fmt::format("({} + {})", mfa.view(), (address - f->entry()) * 8);
}

std::string program_counter_text(const Process& p) {
  if (!p.ip) return {};
  return fmt::format("Program counter: 0x{:016x} {}\n", reinterpret_cast<Word>(p.ip),
                     code_address_text(p.ip));
}

std::string stack_text(const Process& p) {
  std::string text;
  unsigned y = 0;
  for (const Term* s = p.heap.stop; s < p.heap.end; ++s) {
    if (s->is_header()) {
      if (s->raw() == 0) continue;
      text += fmt::format("\n0x{:016x} Return addr 0x{:016x} {}\n", reinterpret_cast<Word>(s), s->raw(),
                          code_address_text(reinterpret_cast<const Word*>(s->raw())));
      y = 0;
    } else {
      text += fmt::format("y({})     {}\n", y++, s->is_catch() ? "Catch" : term_text(*s, kShownBytes));
    }
  }
  return text;
}

}  // namespace vmrun
