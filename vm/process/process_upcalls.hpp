// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct TraceState;
struct FunctionHeader;
class Heap;
struct Process;
enum class ReportLevel;

/// What vm/process needs of higher layers.
struct ProcessUpcalls {
  // ---- Schedulers; see core.hpp and priority_boost.hpp ----

  Upcall<void(Process& p)> make_runnable;
  Upcall<void(Process& p)> make_runnable_again;
  Upcall<void(Process& p)> make_runnable_unobserved;
  Upcall<void()> request_boost_scan;

  // ---- Code. Any thread that holds an epoch ----

  /// The function that an address lies in; nullptr for none.
  Upcall<const FunctionHeader*(const Word* address)> header_at;
  /// {File, Line} of an address, or undefined.
  Upcall<Term(const Word* address, Heap& out)> location;
  Upcall<Term(Process& p, Heap& out, unsigned depth)> stacktrace;
  /// Whether the process is in the middle of the old version of a module. In its own thread.
  Upcall<bool(const Process& p, Term module)> runs_old_code;
  /// What a process does so that code and literals can be given back (code/reclaim.hpp), in its own
  /// thread between two slices. May collect. nullptr: it has ended. Returns what that counts in
  /// reductions, or kTooLongToReclaim: nothing has been done, and it is to be called on a dirty
  /// scheduler.
  Upcall<std::int32_t(Process* p)> take_part_in_reclaim;
  /// Nothing is given back between these two: somebody refers to code or literals who cannot take
  /// part. They may be nested.
  Upcall<void()> hold_reclaim;
  Upcall<void()> release_reclaim;

  // ---- Ports, for names and for the links that process_info shows. Any scheduler ----

  /// Where the port keeps its name; nullptr when it is gone.
  Upcall<std::atomic<std::uint32_t>*(Term port)> port_name;
  /// Sequentially consistent: false once it has begun to close.
  Upcall<bool(Term port)> port_is_open;
  /// False for the port of a file, and when it is gone: programs do not see its links.
  Upcall<bool(Term port)> port_is_seen_by_programs;

  // ---- Others ----

  /// Gives up what tracing keeps in it, at the end of the process.
  Upcall<void(TraceState& c)> release_tracing;
  /// A report for the logger. May stay empty: then reports go to standard error.
  Upcall<void(ReportLevel level, const std::string& text)> report;
  /// See sampled.hpp.
  Upcall<void(const Process* p)> deliver_samples;
  Upcall<void(const Process& p)> note_sampled_process;
};
inline constinit ProcessUpcalls process_upcalls;

}  // namespace vmrun
