#pragma once

#include <atomic>
#include <cstdint>

#include "vm/heap/heap.hpp"
#include "vm/process/mailbox.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/term.hpp"

/// One Erlang process. Memory is owned by the process table; freed by epochs once no thread can hold the pointer (see table.hpp).
/// Fields in the first group belong to the scheduler that runs the process (or, while it waits, to nobody); those marked "any thread" are
/// atomics. Keep it small: an idle process's whole footprint is a target.
namespace vmrun {

struct Scheduler;
struct Fiber;
struct Links;
struct CodePosition;

enum class ExceptionClass : std::uint8_t { kError, kExit, kThrow };

/// What a BIF that returned kNonValue wants (see bif.hpp).
enum class BifAction : std::uint8_t { kRaise, kTrap, kYield, kSuspendOnFiber, kExitNow, kHibernate };

struct Process {
  Heap heap;

  // Execution. While the process runs, the interpreter keeps ip, top, stop and reductions in registers and stores them back before calls out.
  const Word* ip = nullptr;         // resume point; nullptr: not started yet (initial call in regs)
  Scheduler* scheduler = nullptr;   // where it runs or ran last
  std::int32_t reductions = 0;      // left in this slice; ≤ 0 means give up the core
  std::uint8_t live_saved = 0;      // argument registers saved while scheduled out
  BifAction bif_action = BifAction::kRaise;
  ExceptionClass exception_class = ExceptionClass::kError;
  std::uint8_t priority = 1;        // 0 low, 1 normal, 2 high, 3 max
  Term exception_value;             // with bif_action kRaise
  Term exception_trace;             // stack trace object or nil
  Term* saved_regs = nullptr;       // live_saved terms (own allocation when more than kInlineRegs)
  static constexpr unsigned kInlineRegs = 4;
  Term inline_regs[kInlineRegs];
  Fiber* fiber = nullptr;           // a BIF suspended in the middle
  const void* trap_target = nullptr;  // Export* for BifAction::kTrap

  Term self() const { return id; }
  Term id;                          // local pid
  Term group_leader;
  Term initial_module, initial_function;
  std::uint8_t initial_arity = 0;

  Mailbox mailbox;

  // See process_state.hpp for what else a process carries (dictionary, links, monitors, flags, timers, names): allocated on first use.
  struct Extra* extra = nullptr;
};

}  // namespace vmrun
