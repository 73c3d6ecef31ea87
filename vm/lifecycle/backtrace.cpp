// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/backtrace.hpp"

#include <fmt/format.h>

#include "vm/process/code_view.hpp"
#include "vm/process/return_address.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/call_trace.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kShownBytes = 4000;  // of a term

}  // namespace

std::string code_address_text(const Word* address) {
  const FunctionHeader* f = process_upcalls.header_at(address);
  if (!f) return "(unknown function)";
  const MfaText mfa(f->module, f->function, f->arity);
  return fmt::format("({} + {})", mfa.view(), (address - f->entry()) * 8);
}

std::string return_address_text(const Word* address) {
  if (process_upcalls.header_at(address)) return code_address_text(address);
  return address == line_breakpoint_end ? "(<breakpoint>)" : "(<terminate process normally>)";
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

std::string return_text(const Term* slot, const Word* address, const std::string& place) {
  return fmt::format("\n0x{:016x} Return addr 0x{:016x} {}\n", reinterpret_cast<Word>(slot),
                     reinterpret_cast<Word>(address), place);
}
std::string return_text(const Term* slot, const Word* address) {
  return return_text(slot, address, return_address_text(address));
}

std::string tracer_text(const Tracer& tracer) {
  if (!tracer.to.is_atom()) return fmt::format("[erl_tracer|{}]", term_text(tracer.to, kShownBytes));
  return fmt::format("[{}|{}]", term_text(tracer.to, kShownBytes), term_text(tracer.state, kShownBytes));
}

/// The lines of an address, with the frames that OTP's call trace puts above it on the stack; here
/// they are kept beside the stack. is_top: nothing lies above them.
std::string return_texts(const Process& p, const Term* slot, const Word* address, bool is_top) {
  std::string text;
  for (const TraceFrame& frame : trace_frames_at(p, static_cast<Word>(p.heap.end - slot))) {
    text += is_top && text.empty() ? return_text(slot, address)
                                   : return_text(slot, ends_of_calls, "(unknown function)");
    if (!frame.entry) continue;
    const MfaText mfa(frame.name.module, frame.name.function, frame.name.arity);
    text += return_text(slot, frame.entry, fmt::format("({} + 0)", mfa.view()));
    text += fmt::format("y(0)     {}\n", frame.meta ? tracer_text(*frame.meta) : "true");
  }
  return text + return_text(slot, address);
}

}  // namespace

std::string stack_text(const Process& p, const Word* returns_to) {
  std::string text = returns_to ? return_texts(p, p.heap.stop - 1, returns_to, true) : "";
  unsigned y = 0;
  for (const Term* s = p.heap.stop; s < p.heap.end; ++s) {
    if (s->is_header()) {
      if (!is_return_address(*s)) continue;
      text += return_texts(p, s, reinterpret_cast<const Word*>(s->raw()), s == p.heap.stop && !returns_to);
      y = 0;
    } else {
      text += fmt::format("y({})     {}\n", y++, s->is_catch() ? catch_text(*s) : term_text(*s, kShownBytes));
    }
  }
  return text;
}

}  // namespace vmrun
