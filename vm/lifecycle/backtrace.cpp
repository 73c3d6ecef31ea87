#include "vm/lifecycle/backtrace.hpp"

#include <fmt/format.h>

#include "vm/process/code_view.hpp"
#include "vm/process/return_address.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kShownBytes = 4000;  // of a term

}  // namespace

std::string code_address_text(const Word* address) {
  const FunctionHeader* f = code_view.header_at(address);
  if (!f) return "(unknown function)";
  const MfaText mfa(f->module, f->function, f->arity);
  return fmt::format("({} + {})", mfa.view(), (address - f->entry()) * 8);
}

std::string return_address_text(const Word* address) {
  return code_view.header_at(address) ? code_address_text(address) : "(<terminate process normally>)";
}

std::string program_counter_text(const Word* address) {
  return fmt::format("Program counter: 0x{:016x} {}\n", reinterpret_cast<Word>(address),
                     code_address_text(address));
}

std::string catch_text(Term slot) {
  const auto* handler = static_cast<const Word*>(slot.catch_address());
  return fmt::format("Catch 0x{:016x} {}", reinterpret_cast<Word>(handler), code_address_text(handler));
}

namespace {

std::string return_text(const Term* slot, const Word* address) {
  return fmt::format("\n0x{:016x} Return addr 0x{:016x} {}\n", reinterpret_cast<Word>(slot),
                     reinterpret_cast<Word>(address), return_address_text(address));
}

}  // namespace

std::string stack_text(const Process& p, const Word* returns_to) {
  std::string text = returns_to ? return_text(p.heap.stop - 1, returns_to) : "";
  unsigned y = 0;
  for (const Term* s = p.heap.stop; s < p.heap.end; ++s) {
    if (s->is_header()) {
      if (!is_return_address(*s)) continue;
      text += return_text(s, reinterpret_cast<const Word*>(s->raw()));
      y = 0;
    } else {
      text += fmt::format("y({})     {}\n", y++, s->is_catch() ? catch_text(*s) : term_text(*s, kShownBytes));
    }
  }
  return text;
}

}  // namespace vmrun
