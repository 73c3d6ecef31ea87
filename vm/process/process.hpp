// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "vm/base/relaxed.hpp"
#include "vm/heap/heap.hpp"
#include "vm/process/flags.hpp"
#include "vm/process/mailbox.hpp"
#include "vm/process/max_heap.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/term.hpp"

/// One Erlang process. The process table owns the memory, which is freed by epochs once no thread
/// can hold the pointer (see epoch.hpp). Fields in the first groups belong to the scheduler that
/// runs the process (while it waits, to no thread). Those marked "any thread" are atomics, and any
/// thread may read a Relaxed one. Keep it small: the whole footprint of an idle process is a
/// target.
namespace vmrun {

struct Core;
struct Fiber;
struct Timer;

enum class ExceptionClass : std::uint8_t { kError, kExit, kThrow };

/// What a BIF that returned kNonValue asks for (see bif.hpp).
///   kRaise           exception_class and exception_value are set
///   kTrap            tail-call trap_target; its arguments are in the scheduler's x registers
///   kYield           the slice ends; the BIF is called again with the same arguments when the
///                    process runs next (RunResult::kYielded)
///   kSuspendOnFiber  for the interpreter as kYield: the BIF, called again, continues on its fiber
///   kDirty           continues on a dirty scheduler; the BIF is called again when that is done
///                    (see nif/dirty.hpp)
///   kSuspend         as kYield, but the process is not runnable until something arrives
///                    (RunResult::kSuspended)
///   kSuspendBusy     as kSuspend, for a port that is busy: the process's status is `suspended`
///   kExitNow         the process ends with exception_value as its reason; no catch sees it: call
///                    exit_process
///   kHibernate       hibernate: the stack is dropped, and when a message arrives trap_target is
///                    called with the arguments in the x registers; without a target the stack is
///                    kept, and the BIF is called again
enum class BifAction : std::uint8_t {
  kRaise,
  kTrap,
  kYield,
  kSuspendOnFiber,
  kDirty,
  kExitNow,
  kHibernate,
  kSuspend,
  kSuspendBusy
};

/// Why a process that is not on a run queue does not run.
enum class WaitKind : std::uint8_t {
  kNone,
  kReceive,
  kSuspended,
  kBusyPort,
  kDirty  // see dirty_state.hpp
};

/// The state of a process that waits for a dirty scheduler, or whose native code runs there: see
/// dirty_state.hpp.
enum class DirtyState : std::uint8_t { kNone, kQueued, kRunning, kWantsBack, kHandedBack, kExited };

struct Process {
  Heap heap;

  // Execution. While the process runs, the interpreter keeps ip, top, stop and reductions in
  // registers and stores them back before calls out.
  //
  // The resume point. nullptr when the process has not started yet: the saved registers hold the
  // initial call as module, function, list of arguments.
  const Word* ip = nullptr;
  Relaxed<Core*> scheduler;     // the scheduler that runs it or ran it last
  std::int32_t reductions = 0;  // left in this slice; ≤ 0 means give up the core
  std::uint8_t live_saved = 0;  // argument registers saved while scheduled out
  BifAction bif_action = BifAction::kRaise;
  ExceptionClass exception_class = ExceptionClass::kError;
  // 0 low, 1 normal, 2 high, 3 max: the queue that it waits on. It is above own_priority while the
  // process is boosted (priority_boost.hpp).
  std::uint8_t priority = 1;
  Term exception_value;  // with bif_action kRaise
  Term exception_trace;  // stack trace object or nil
  // live_saved terms (own malloc'ed block, never inline, when more than kInlineRegs)
  Term* saved_regs = inline_regs;
  static constexpr unsigned kInlineRegs = 4;
  Term inline_regs[kInlineRegs];
  Fiber* fiber = nullptr;  // a BIF suspended in the middle
  union {
    const void* trap_target = nullptr;  // Export* for BifAction::kTrap and kHibernate
    Word runnable_since;                // on a run queue that is watched (run_queue_wait.hpp)
  };

  // Collection (see gc.hpp).
  /// Minor collections since the last full sweep. A new process counts as one that has had all that
  /// it may have, so its first collection is full.
  static constexpr std::uint16_t kNeverCollected = 65535;
  std::uint16_t minor_collections = kNeverCollected;
  std::uint16_t fullsweep_after = 65535;  // minor collections before a full sweep
  std::uint32_t min_heap_words = 0;       // least size of the block; 0: the VM's default
  MaxHeap max_heap;

  // Signals and waiting.
  Relaxed<bool> trap_exit{false};
  bool exit_pending = false;      // an exit signal has ended it; exit_reason is set
  bool resume_requested = false;  // what a kSuspended or kBusyPort process waits for has come
  Relaxed<WaitKind> wait_kind{WaitKind::kNone};
  Relaxed<std::uint16_t> suspend_count{0};  // erlang:suspend_process
  // When next scheduled, there are requests of other processes to answer (extra->deferred), or
  // messages to decode (message/deferred_decoding.hpp).
  bool deferred_requests = false;
  // How it continues at ip: kInstruction with the instruction; kFunction with the function that
  // begins there, which has been called; kCollected with the part of the instruction after its
  // collection, which is done.
  enum class GoesOn : std::uint8_t { kInstruction, kFunction, kCollected };
  GoesOn goes_on = GoesOn::kInstruction;
  std::uint32_t observed = 0;  // bits of flags.hpp
  // Between loop_rec and remove_message/loop_rec_end: 1 + the words in the fragment of the message
  // that is tested (see receive.hpp); else 0.
  std::uint32_t peeked = 0;
  std::atomic<bool> exiting{false};    // any thread
  std::atomic<bool> has_begun{false};  // any thread; its first slice may not have ended
  std::atomic<DirtyState> dirty_state{DirtyState::kNone};
  std::atomic<bool> sensitive{false};  // any thread: its contents and actions are hidden
  UnderWay signals;  // any thread: whether there are signals that it has taken but not handled
  Timer* receive_timer = nullptr;
  Process* next_in_queue = nullptr;  // run queue, inbox of a scheduler, retired, free list
  Term exit_reason;

  Term self() const { return id; }
  Term id;  // local pid; written once before the process is published
  Term parent;
  Term group_leader;
  Term initial_module, initial_function;
  std::uint8_t initial_arity = 0;
  std::atomic<std::uint8_t> own_priority{1};        // any thread may read it
  std::atomic<std::uint8_t> requested_priority{0};  // any thread: see priority_boost.hpp
  std::atomic<std::uint32_t> registered_name{
      0};                            // any thread: atom index + 1, 0 when it has none (see registry.hpp)
  Relaxed<Word> reductions_done{0};  // in earlier slices

  Mailbox mailbox;

  // The other parts of a process (dictionary, links, monitors, flags) are in process_state.hpp.
  // They are allocated on first use.
  struct Extra* extra = nullptr;
};

/// Passes every term that a collection must treat as a root, except argument registers and stack,
/// to `visit`: it is called with ranges of terms, which it may replace.
void visit_roots(Process& p, void (*visit)(void* context, Term* terms, std::size_t count), void* context);

}  // namespace vmrun
