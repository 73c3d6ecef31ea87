// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/machine_host.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "probes/attach/code_location.hpp"
#include "probes/attach/encoded_argument.hpp"
#include "probes/attach/firing.hpp"
#include "probes/attach/functions.hpp"
#include "probes/attach/sample_firing.hpp"
#include "probes/attach/sampling.hpp"
#include "probes/attach/script_terms.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program_verifier.hpp"
#include "probes/inside.hpp"
#include "probes/probe_notes.hpp"
#include "probes/probes.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/module.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/probes/texts.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/core.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/return_address.hpp"
#include "vm/sched/run_queue_wait.hpp"
#include "vm/term/node.hpp"

namespace vmrun::attach {
namespace {

using d::ArgumentKind;
using d::EncodedArgument;
using d::Encoding;
using probe::FunctionArgument;
using probe::NodeText;
constexpr auto kNode = static_cast<unsigned>(d::Builtin::kNode);

// ---- The list of probes -------------------------------------------------------------------------

/// Returns the name of the function in which other tracers find the probe: message_send for its
/// probe; user_trace_n for all probes of that range.
std::string site_of(const std::string& name) {
  std::string out = probe::with_hyphens(name.starts_with("user_trace__n") ? "user_trace__n" : name);
  std::ranges::replace(out, '-', '_');
  return out;
}

struct Table {
  std::vector<bool> of_slices;    // process-scheduled, process-unscheduled
  std::vector<bool> of_messages;  // those that have the built-in msg
  std::vector<d::ProbeInfo> infos;
  std::vector<std::vector<ArgumentKind>> kinds;
  std::vector<std::vector<unsigned short>> most_bytes;  // the most bytes of the texts of terms
};

/// Whether the probe has the built-in (builtins.tab).
bool has_builtin(const std::string& probe, d::Builtin builtin) {
  const std::string among = std::string(",") + d::kBuiltins[static_cast<unsigned>(builtin)].probes + ",";
  return among.find("," + probe + ",") != std::string::npos;
}

Table make_table() {
  Table t;
  if (!probe::kCompiledIn) return t;
  const std::string provider = fmt::format("erlang{}", getpid());
  for (const probe::ProbeRow& row : probe::probe_rows()) {
    d::ProbeInfo info{provider, "vmrun", site_of(row.name), probe::with_hyphens(row.name), {}};
    t.of_slices.push_back(std::string_view(row.family) == "run-queue" || info.name == "process-scheduled" ||
                          info.name == "process-unscheduled");
    t.of_messages.push_back(has_builtin(info.name, d::Builtin::kMsg));
    auto& kinds = t.kinds.emplace_back();
    auto& most = t.most_bytes.emplace_back();
    for (const auto& a : row.arguments) {
      kinds.push_back(static_cast<ArgumentKind>(a.given));
      most.push_back(a.most);
      info.arguments.push_back({a.name, kinds.back()});
    }
    t.infos.push_back(std::move(info));
  }
  return t;
}

const Table& table() {
  static const Table& t = *new Table(make_table());
  return t;
}

// ---- The process that fires ---------------------------------------------------------------------

/// Whether p.ip says where the process is. That is so when the process does not run, or when its
/// slice runs the instructions that store the place (see TracingSession::go).
bool knows_place(const d::Firing& f) {
  const Core* core = this_core();
  return !core || d::is_function_probe(f.probe) || core->instructions == Instructions::kTraced ||
         fires_between_slices(f.probe);
}

/// Returns the innermost address of a stack, as stack_of takes it.
const Word* innermost(const d::Firing& f, const Process& p) { return knows_place(f) ? p.ip : nullptr; }

std::uint64_t caller_of(const d::Firing& f, const Process& p) {
  const Word* from = innermost(f, p);
  std::uint64_t frames[2] = {};
  const std::size_t caller = from != nullptr ? 1 : 0;
  return stack_of(p, from, frames, caller + 1) == caller + 1 ? frames[caller] : 0;
}

std::size_t put_code_text(d::Subroutine what, std::uint64_t address, char* out, std::size_t room) {
  if (const char* activity = activity_at(address))
    return what == d::Subroutine::kUmod ? 0 : static_cast<std::size_t>(put_text(activity, out, room));
  const auto* at = reinterpret_cast<const Word*>(address & ~Word{7});
  const FunctionHeader* function = function_header_at(at);
  if (!function) return 0;
  if (what == d::Subroutine::kUmod) return term_text_of(function->module, out, room);
  const probe::FunctionText name(FunctionArgument{function->module, function->function, function->arity});
  if (what != d::Subroutine::kUaddr) return static_cast<std::size_t>(put_text(name, out, room));
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(function + 1);
  const auto end =
      fmt::format_to_n(out, room - 1, "{}+0x{:x}", static_cast<const char*>(name), address - begin);
  return static_cast<std::size_t>(end.out - out);
}

FunctionArgument function_of(const Process& p) {
  const FunctionName f = resume_function(p);
  return {f.module, f.function, f.arity};
}
FunctionArgument initial_call_of(const Process& p) {
  return {p.initial_module, p.initial_function, p.initial_arity};
}
Term name_of(const Process& p) {
  const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed);
  return name ? Term::atom(name - 1) : kNonValue;
}
const char* wait_reason() {
  switch (waited_for) {
    case WaitKind::kReceive: return "receive";
    case WaitKind::kBusyPort: return "busy port";
    case WaitKind::kSuspended: return "suspended";
    default: return "";
  }
}
NodeText own_node() { return NodeText(local_node_name(), NodeText::kMostBytes); }
Term in_dictionary(const Process& p, Term key) {
  const Term value = p.extra ? p.extra->dictionary.get(key) : atoms::undefined;
  return value == atoms::undefined ? kNonValue : value;
}

/// Returns what proc_lib:set_label has set, or how the process began.
EncodedArgument encoded_label(const Process& p, char* out, std::size_t room) {
  static const Term label = intern_atom("$process_label"), initial_call = intern_atom("$initial_call");
  if (const Term set = in_dictionary(p, label)) return encoded_term(set, 255, out, room);
  if (const Term call = in_dictionary(p, initial_call); call && call.is_tuple() && call.tuple_arity() == 3) {
    const Term m = call.element(0), f = call.element(1), a = call.element(2);
    if (m.is_atom() && f.is_atom() && a.is_small())
      return encoded_function({m, f, static_cast<unsigned>(a.small_value())}, out, room);
  }
  return encoded_function(initial_call_of(p), out, room);
}

// ---- Samples ------------------------------------------------------------------------------------

/// Returns the sample for which the clause runs, or nullptr when its process is the one that fires.
const Sample* sample_here() { return firing_thread().sample; }

FunctionArgument current_function(const Sample& s) {
  const FunctionHeader* f = nullptr;
  if (s.built_in) return {s.built_in->module, s.built_in->function, s.built_in->arity};
  if (s.frame_count) f = function_header_at(reinterpret_cast<const Word*>(s.frames[0] & ~Word{7}));
  return f ? FunctionArgument{f->module, f->function, f->arity}
           : FunctionArgument{s.initial_module, s.initial_function, s.initial_arity};
}

/// Puts the activity of the thread, then the stack.
std::size_t sampled_stack(const Sample& s, std::uint64_t* out, std::size_t most) {
  std::size_t n = 0;
  const auto put = [&](std::uint64_t address) {
    if (n < most) out[n++] = address;
  };
  if (s.activity_place) put(s.activity_place);
  if (s.built_in) put(reinterpret_cast<std::uintptr_t>(s.built_in->stub_code()));
  for (unsigned i = 0; i < s.frame_count; ++i) put(s.frames[i]);
  return n;
}

std::uint64_t number_of(const Sample& s, d::Builtin builtin) {
  std::uint64_t frames[3];
  switch (builtin) {
    case d::Builtin::kCpu: return s.scheduler;
    case d::Builtin::kSelf: return s.process.raw();
    case d::Builtin::kMsgqlen: return s.queue_length;
    case d::Builtin::kHeapwords: return s.heap_words;
    case d::Builtin::kHeapused: return s.heap_used;
    case d::Builtin::kReductions: return s.reductions;
    case d::Builtin::kUcaller: return sampled_stack(s, frames, 2) == 2 ? frames[1] : 0;
    case d::Builtin::kUstackdepth: return s.frame_count + (s.activity_place ? 1 : 0) + (s.built_in ? 1 : 0);
    default: return 0;
  }
}

EncodedArgument encoded_label(const Sample& s, char* out, std::size_t room) {
  if (s.owner) return encoded_label(*s.owner, out, room);
  if (!s.label || s.label->bytes > room)
    return encoded_function({s.initial_module, s.initial_function, s.initial_arity}, out, room);
  std::memcpy(out, s.label_bytes, s.label->bytes);
  return *s.label;
}

EncodedArgument encoded_of(const Sample& s, d::Builtin builtin, char* out, std::size_t room) {
  if (builtin == d::Builtin::kMfa) {
    if (s.activity[0]) return encoded_text(s.activity, out, room);
    const EpochGuard guard;
    return encoded_function(current_function(s), out, room);
  }
  if (!s.process) return {Encoding::kNull, 0};
  switch (builtin) {
    case d::Builtin::kSelf: return encoded_pid(s.process, "", out, room);
    case d::Builtin::kInitcall:
      return encoded_function({s.initial_module, s.initial_function, s.initial_arity}, out, room);
    case d::Builtin::kRegname:
      return s.name ? encoded_atom(s.name, out, room) : encoded_pid(s.process, "", out, room);
    case d::Builtin::kLabel: return encoded_label(s, out, room);
    default: return {Encoding::kNull, 0};
  }
}

// ---- The host -----------------------------------------------------------------------------------

/// Words for arguments that are nothing but have a text: "", -raw-, <exiting>. They are neither
/// terms (the tag is that of catches) nor addresses of a script's.
constexpr std::uint64_t kNobody = 1 << 6 | Term::kCatchTag, kMachine = 2 << 6 | Term::kCatchTag,
                        kNoFunction = 3 << 6 | Term::kCatchTag;

class MachineHost final : public d::Host {
 public:
  const std::vector<d::ProbeInfo>& probes() const override { return table().infos; }

  EncodedArgument encoded_argument(const d::Firing& f, unsigned n, char* out, std::size_t room) override {
    const std::uint64_t word = f.arguments[n];
    switch (f.kinds[n]) {
      case ArgumentKind::kPid:
      case ArgumentKind::kPort: return encoded_pid(Term::from_raw(word), "", out, room);
      case ArgumentKind::kCaller: return encoded_pid(Term::from_raw(word), "-raw-", out, room);
      case ArgumentKind::kFunction: return encoded_function(*function_at(word), out, room);
      case ArgumentKind::kTerm: return encoded_term(Term::from_raw(word), most_bytes(f, n), out, room);
      case ArgumentKind::kIolist: return encoded_text(probe::IolistText(Term::from_raw(word)), out, room);
      case ArgumentKind::kText: return encoded_text(reinterpret_cast<const char*>(word), out, room);
      case ArgumentKind::kNode:
        return encoded_text(NodeText(Term::from_raw(word), most_bytes(f, n)), out, room);
      default: break;
    }
    return encoded_text(fmt::format_int(static_cast<std::int64_t>(word)).c_str(), out, room);
  }

  /// Returns 0 exactly for what argument_text has no text for, because a script takes 0 for NULL.
  std::uint64_t argument_number(const d::Firing& f, unsigned n) override {
    const std::uint64_t word = f.arguments[n];
    switch (f.kinds[n]) {
      case ArgumentKind::kPid:
      case ArgumentKind::kPort: return word ? word : kNobody;
      case ArgumentKind::kCaller: return word ? word : kMachine;
      case ArgumentKind::kIolist: return probe::is_shown_iolist(Term::from_raw(word)) ? word : 0;
      case ArgumentKind::kFunction: {
        const FunctionArgument& a = *function_at(word);
        return a.module ? a.module.raw() << 35 ^ a.function.raw() << 8 ^ a.arity : kNoFunction;
      }
      default: return word;
    }
  }

  std::ptrdiff_t argument_text(const d::Firing& f, unsigned n, char* out, std::size_t room) override {
    const std::uint64_t word = f.arguments[n];
    const Term term = Term::from_raw(word);
    switch (f.kinds[n]) {
      case ArgumentKind::kPid:
      case ArgumentKind::kPort: return put_text(probe::PidText(term, ""), out, room);
      case ArgumentKind::kCaller: return put_text(probe::PidText(term, "-raw-"), out, room);
      case ArgumentKind::kFunction: return put_text(probe::FunctionText(*function_at(word)), out, room);
      case ArgumentKind::kTerm:
        if (!term) return -1;
        return static_cast<std::ptrdiff_t>(
            term_text(word, out, std::min<std::size_t>(room, most_bytes(f, n) + 1)));
      case ArgumentKind::kIolist: return put_text(probe::IolistText(term), out, room);
      case ArgumentKind::kText: return put_text(reinterpret_cast<const char*>(word), out, room);
      case ArgumentKind::kNode: return put_text(NodeText(term, most_bytes(f, n)), out, room);
      default: break;
    }
    return put_text(fmt::format_int(static_cast<std::int64_t>(word)).c_str(), out, room);
  }

  std::uint64_t self_key(const d::Firing&) override { return attach::self_key(); }

  std::uint64_t builtin_number(unsigned builtin, const d::Firing& f) override {
    if (const Sample* s = sample_here()) [[unlikely]]
      return number_of(*s, static_cast<d::Builtin>(builtin));
    const Core* core = this_core();
    const Process* p = process_here();
    switch (static_cast<d::Builtin>(builtin)) {
      case d::Builtin::kCpu: return core ? core->number : 0;
      case d::Builtin::kMessage: return probe::message_number;
      case d::Builtin::kSelf: return p ? p->id.raw() : 0;
      case d::Builtin::kMsgqlen: return p ? p->mailbox.length() : 0;
      case d::Builtin::kHeapwords:
        return p ? p->heap.block_words() + static_cast<Word>(p->heap.old_end - p->heap.old_start) : 0;
      case d::Builtin::kHeapused:
        return p ? p->heap.used_words() + p->heap.fragment_words +
                       static_cast<Word>(p->heap.old_top - p->heap.old_start)
                 : 0;
      case d::Builtin::kReductions:
        return p ? p->reductions_done + static_cast<Word>(core->slice - p->reductions) : 0;
      case d::Builtin::kUcaller: return p ? caller_of(f, *p) : 0;
      case d::Builtin::kUstackdepth: return p ? stack_depth_of(*p, innermost(f, *p), d::Bounds::kFrames) : 0;
      default: return 0;
    }
  }

  EncodedArgument builtin_encoded(unsigned builtin, const d::Firing& f, char* out,
                                  std::size_t room) override {
    if (builtin == kNode) return encoded_text(own_node(), out, room);
    if (const Sample* s = sample_here()) [[unlikely]]
      return encoded_of(*s, static_cast<d::Builtin>(builtin), out, room);
    const Process* p = process_here();
    if (!p) return {Encoding::kNull, 0};
    switch (static_cast<d::Builtin>(builtin)) {
      case d::Builtin::kSelf: return encoded_pid(p->id, "", out, room);
      case d::Builtin::kMfa: return encoded_function(current_function(f, *p), out, room);
      case d::Builtin::kInitcall: return encoded_function(initial_call_of(*p), out, room);
      case d::Builtin::kRegname:
        if (const Term name = name_of(*p)) return encoded_atom(name, out, room);
        return encoded_pid(p->id, "", out, room);
      case d::Builtin::kLabel: return encoded_label(*p, out, room);
      case d::Builtin::kWaitreason: return encoded_text(wait_reason(), out, room);
      default: return {Encoding::kNull, 0};
    }
  }

  std::ptrdiff_t builtin_text(unsigned builtin, const d::Firing& f, char* out, std::size_t room) override {
    if (builtin == kNode) return put_text(own_node(), out, room);
    if (const Sample* s = sample_here()) [[unlikely]]
      return text_of(encoded_of(*s, static_cast<d::Builtin>(builtin), out, room ? room - 1 : 0), out, room);
    const Process* p = process_here();
    if (!p) return -1;
    switch (static_cast<d::Builtin>(builtin)) {
      case d::Builtin::kSelf: return put_text(probe::PidText(p->id, ""), out, room);
      case d::Builtin::kMfa: return put_text(probe::FunctionText(current_function(f, *p)), out, room);
      case d::Builtin::kInitcall: return put_text(probe::FunctionText(initial_call_of(*p)), out, room);
      case d::Builtin::kRegname:
        if (const Term name = name_of(*p))
          return static_cast<std::ptrdiff_t>(term_text(name.raw(), out, room));
        return put_text(probe::PidText(p->id, ""), out, room);
      case d::Builtin::kLabel: return text_of(encoded_label(*p, out, room ? room - 1 : 0), out, room);
      case d::Builtin::kWaitreason: return put_text(wait_reason(), out, room);
      default: return -1;
    }
  }

  std::size_t stack(const d::Firing& f, std::uint64_t* out, std::size_t most) override {
    if (const Sample* s = sample_here()) [[unlikely]]
      return sampled_stack(*s, out, most);
    const Process* p = process_here();
    if (!p) return 0;
    if (const auto* inside = d::is_function_probe(f.probe) ? function_place(f) : nullptr;
        inside && inside != p->ip && most > 0) {
      out[0] = reinterpret_cast<std::uintptr_t>(inside);
      // The address to which a function has returned is still on the stack, as the place of a call.
      const bool is_on_stack = p->ip == return_address_at(p->heap.stop);
      return 1 + stack_of(*p, is_on_stack ? nullptr : p->ip, out + 1, most - 1);
    }
    return stack_of(*p, innermost(f, *p), out, most);
  }

  std::size_t code_text(unsigned subroutine, std::uint64_t address, char* out, std::size_t room) override {
    const EpochGuard guard;
    return put_code_text(static_cast<d::Subroutine>(subroutine), address, out, room);
  }

  bool argument_term(const d::Firing& f, unsigned n, std::uint64_t& term) override {
    if (d::is_function_probe(f.probe)) return function_term(f, n, term);
    if (n >= f.argument_count) return false;
    const std::uint64_t word = f.arguments[n];
    switch (f.kinds[n]) {
      case ArgumentKind::kPid:
      case ArgumentKind::kCaller:
      case ArgumentKind::kPort:
      case ArgumentKind::kTerm:
      case ArgumentKind::kNode:
      case ArgumentKind::kIolist: term = word; return word != 0;
      case ArgumentKind::kInt:
      case ArgumentKind::kUint32:
      case ArgumentKind::kInt64: {
        const auto n = static_cast<std::int64_t>(word);
        term = Term::small(n).raw();
        return Term::fits_small(n);
      }
      default: return false;
    }
  }
  bool builtin_term(unsigned, const d::Firing& f, std::uint64_t& term) override {
    if (f.probe >= table().of_messages.size() || !table().of_messages[f.probe]) return false;
    term = fired_message.raw();
    return true;
  }
  bool term_part(unsigned subroutine, std::uint64_t term, std::int64_t n, std::uint64_t& out) override {
    return attach::term_part(static_cast<d::Subroutine>(subroutine), term, n, out);
  }
  bool map_value(std::uint64_t map, std::int64_t key, std::uint64_t& out) override {
    return attach::map_value(map, key, out);
  }
  bool map_value(std::uint64_t map, std::string_view key, std::uint64_t& out) override {
    return attach::map_value(map, key, out);
  }
  bool term_number(unsigned subroutine, std::uint64_t term, std::int64_t& out) override {
    return attach::term_number(static_cast<d::Subroutine>(subroutine), term, out);
  }
  std::size_t term_text(std::uint64_t term, char* out, std::size_t room) override {
    return term_text_of(Term::from_raw(term), out, room);
  }

  void enable(std::uint32_t probe) override { probe::raise_inside(probe); }
  void disable(std::uint32_t probe) override { probe::lower_inside(probe); }
  bool counts_firings() const override { return probe::kCompiledIn; }
  void enable_count(std::uint32_t probe) override { attach::enable_count(probe); }
  void disable_count(std::uint32_t probe) override { attach::disable_count(probe); }
  void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts) override {
    attach::read_counts(probes, counts);
  }
  std::uint32_t add_functions(const d::FunctionPattern& pattern, d::FunctionEvent event,
                              std::string& why) override {
    return add_function_filter(pattern, event, why);
  }
  void enable_functions(const std::vector<std::uint32_t>& filters, bool on) override {
    enable_function_filters(filters, on);
  }
  void start_functions(const std::vector<std::uint32_t>& filters) override {
    start_function_filters(filters);
  }
  std::uint64_t untraced_functions(const std::vector<std::uint32_t>& filters) override {
    return attach::untraced_functions(filters);
  }
  void remove_functions(const std::vector<std::uint32_t>& filters) override {
    remove_function_filters(filters);
  }
  std::vector<d::FunctionName> functions(const d::FunctionPattern& pattern, std::size_t most) override {
    return matching_functions(pattern, most);
  }
  bool function_passes(std::uint32_t filter, const d::Firing& f) override {
    return function_filter_passes(filter, f);
  }
  d::FunctionName function_name(std::uint32_t function) override { return attach::function_name(function); }
  void wait_for_firings() override { attach::wait_for_firings(); }
  bool start_sampling(d::Session& session, std::uint32_t probe, std::uint64_t interval_ns,
                      bool wall) override {
    return attach::start_sampling(session, probe, interval_ns, wall);
  }
  void stop_sampling(d::Session& session) override { attach::stop_sampling(session); }
  void look_after_samples(bool all) override { attach::look_after_samples(all); }
  void sample_wall(d::Session& session, std::uint32_t probe, std::uint32_t times) override {
    attach::sample_wall(session, probe, times);
  }

  std::string atom_name(std::uint64_t number) override {
    const Term atom = Term::from_raw(number);
    if (!atom.is_atom() || atom.atom_index() >= atom_count()) return {};
    return std::string(static_cast<const char*>(probe::TermText<1100>(atom)));
  }
  std::uint64_t atom_number(std::uint32_t index) override {
    return index < atom_count() ? Term::atom(index).raw() : 0;
  }
  std::string address_name(std::uint64_t address) override {
    if (const char* activity = activity_at(address)) return activity;
    const CodeLocation place = code_location_of(address);
    if (!place.module) return {};
    const probe::FunctionText name(FunctionArgument{place.module, place.function, place.arity});
    std::string text = static_cast<const char*>(name);
    if (place.line) text += fmt::format(" ({}:{})", place.file, place.line);
    return text;
  }

 private:
  static const FunctionArgument* function_at(std::uint64_t word) {
    return reinterpret_cast<const FunctionArgument*>(word);
  }
  static unsigned most_bytes(const d::Firing& f, unsigned n) { return table().most_bytes[f.probe][n]; }

  /// A probe of a named function knows the function better than the process does.
  static FunctionArgument current_function(const d::Firing& f, const Process& p) {
    for (unsigned n = 0; n < f.argument_count; ++n)
      if (f.kinds[n] == ArgumentKind::kFunction && function_at(f.arguments[n])->module &&
          f.arguments[0] == p.id.raw())
        return *function_at(f.arguments[n]);
    const EpochGuard guard;
    if (knows_place(f)) return function_of(p);
    std::uint64_t caller = 0;
    const FunctionHeader* function =
        stack_of(p, nullptr, &caller, 1)
            ? function_header_at(reinterpret_cast<const Word*>(caller & ~Word{7}))
            : nullptr;
    return function ? FunctionArgument{function->module, function->function, function->arity}
                    : initial_call_of(p);
  }

  /// The text was made with room for one byte less.
  static std::ptrdiff_t text_of(const EncodedArgument& s, char* out, std::size_t room) {
    if (s.shape == Encoding::kText) return static_cast<std::ptrdiff_t>((out[s.bytes] = 0, s.bytes));
    return text_of_words(s, out, room);
  }

  static std::ptrdiff_t text_of_words(const EncodedArgument& s, char* out, std::size_t room) {
    std::uint64_t words[3] = {};
    std::memcpy(words, out, std::min(s.bytes, sizeof words));
    switch (s.shape) {
      case Encoding::kPid:
        return put_text(probe::PidText(Term::pid(pid_id(words[0], words[1])), ""), out, room);
      case Encoding::kAtom: return put_text(probe::TermText<1100>(Term::from_raw(words[0])), out, room);
      case Encoding::kFunction:
        return put_text(
            probe::FunctionText(FunctionArgument{Term::from_raw(words[0]), Term::from_raw(words[1]),
                                                 static_cast<unsigned>(words[2])}),
            out, room);
      default: return -1;
    }
  }
};

}  // namespace

const ArgumentKind* const* kinds_by_probe = nullptr;

d::Host& machine_host() {
  static MachineHost& host = []() -> MachineHost& {
    auto* kinds = new std::vector<const ArgumentKind*>;
    for (const auto& k : table().kinds) kinds->push_back(k.data());
    kinds_by_probe = kinds->data();
    return *new MachineHost;
  }();
  return host;
}

bool fires_between_slices(std::uint32_t probe) {
  return probe < table().of_slices.size() && table().of_slices[probe];
}

std::string function_text(std::uint64_t number) {
  const d::FunctionName f = machine_host().function_name(static_cast<std::uint32_t>(number));
  return std::string(f.module) + '\0' + std::string(f.function);
}

EncodedArgument label_of(const Process& p, char* out, std::size_t room) {
  return encoded_label(p, out, room);
}

std::uint64_t self_key() {
  if (const Sample* s = sample_here())
    return s->process ? s->process.raw() : static_cast<std::uint64_t>(s->tid) << 4 | 8;
  if (const Process* p = process_here()) return p->id.raw();
  // No process has such a word, because its low bits are not those of a pid.
  return firing_thread().number << 4;
}

}  // namespace vmrun::attach
