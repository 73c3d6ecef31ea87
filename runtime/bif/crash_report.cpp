// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/crash_report.hpp"

#include <atomic>
#include <cstdio>
#include <string>

#include <fmt/core.h>

#include "runtime/bif/support.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/epoch.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/report.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/heap_sizes.hpp"

namespace vmrun {
namespace {

std::atomic<Term> system_logger_now{atoms::logger};

/// Returns the process that gets reports, or the non-value.
Term receiver_of_reports() {
  Term named = system_logger_now.load();
  if (named.is_local_pid()) {
    if (process_table.find(named)) return named;
    system_logger_now.compare_exchange_strong(named, atoms::logger);
  }
  return whereis(atoms::logger);
}

/// Sends {log, Level, Format, Args, #{pid, gl, time, error_logger}}; the last key is for handlers
/// of the older interface. Returns false when there is no process to receive it, though there
/// should be.
bool log_event(Term level, Term pid_of, Term leader, Arena& arena, std::string_view format, Term arguments) {
  if (system_logger() == atoms::undefined) return true;
  const Term logger = receiver_of_reports();
  if (!logger || logger == pid_of) return false;
  static const Term log = intern_atom("log"), pid = intern_atom("pid"), gl = intern_atom("gl"),
                    time = intern_atom("time");
  static const Term tag = intern_atom("tag"), emulator = intern_atom("emulator"),
                    warning_msg = intern_atom("warning_msg");
  Term old_pairs[] = {emulator, atoms::true_, tag, level == atoms::error ? level : warning_msg};
  const Term old = map_from_pairs(arena, old_pairs, 2);
  Term pairs[] = {
      pid, pid_of, gl, leader, time, make_unsigned(arena, system_ns() / 1000), atoms::error_logger, old};
  const Term meta = map_from_pairs(arena, pairs, 4);
  const Term text = text_list(arena, format);
  return send_from_vm(logger, new_tuple(arena, log, level, text, arguments, meta));
}

bool log_error(Process& p, Arena& arena, std::string_view format, Term arguments) {
  return log_event(atoms::error, p.id, p.group_leader, arena, format, arguments);
}

}  // namespace

void report_crash(Process& p, Term reason) {
  const bool in_network = local_node_name() != atoms::nonode_at_nohost;
  Arena arena;
  ListBuilder arguments(arena);
  arguments.add(p.id);
  if (in_network) arguments.add(local_node_name());
  arguments.add(reason);
  const char* format = in_network ? "Error in process ~p on node ~p with exit value:~n~p~n"
                                  : "Error in process ~p with exit value:~n~p~n";
  if (log_error(p, arena, format, arguments.finish())) return;
  const std::string where = in_network ? fmt::format(" on node {}", term_text(local_node_name())) : "";
  std::fprintf(stderr, "Error in process %s%s with exit value:\n%s\n", pid_text(p.id).c_str(), where.c_str(),
               term_text(reason).c_str());
}

// In OTP's words, which people look for.
void report_max_heap(Process& p, Word total_words) {
  constexpr const char* kFormat =
      "     Process:            ~p ~n"
      "     Context:            maximum heap size reached~n"
      "     Max Heap Size:      ~p~n"
      "     Total Heap Size:    ~p~n"
      "     Kill:               ~p~n"
      "     Error Logger:       ~p~n"
      "     Message Queue Len:  ~p~n"
      "     GC Info:            ~p~n";
  const Word waiting = p.mailbox.exact_length();
  Arena arena;
  ListBuilder list(arena);
  list.add(p.id);
  list.add(make_unsigned(arena, p.max_heap.words));
  list.add(make_unsigned(arena, total_words));
  list.add(p.max_heap.kill ? atoms::true_ : atoms::false_);
  list.add(p.max_heap.log ? atoms::true_ : atoms::false_);
  list.add(make_unsigned(arena, waiting));
  list.add(heap_sizes(p, 0, arena));
  if (log_error(p, arena, kFormat, list.finish())) return;
  std::fprintf(stderr, "Process %s: maximum heap size reached: %llu words, more than %llu\n",
               pid_text(p.id).c_str(), static_cast<unsigned long long>(total_words),
               static_cast<unsigned long long>(p.max_heap.words));
}

// What no process did: as if the logger itself said it.
void report_text(ReportLevel level, const std::string& text) {
  Arena arena;
  EpochGuard guard;
  const Term init = whereis(atoms::init);
  ListBuilder list(arena);
  list.add(code_point_list(arena, text));
  static const Term warning = intern_atom("warning");
  if (!init || !log_event(level == ReportLevel::kWarning ? warning : atoms::error, init, init, arena, "~ts",
                          list.finish()))
    std::fputs(text.c_str(), stderr);
}

Term system_logger() { return system_logger_now.load(); }
Term set_system_logger(Term logger) { return system_logger_now.exchange(logger); }

}  // namespace vmrun
