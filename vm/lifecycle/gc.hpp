#pragma once

#include <span>
#include <vector>

#include "vm/heap/heap.hpp"

/// The generational copying collector of one process: when to collect and how large blocks are.
/// Runs in the process's own thread; cost is proportional to that process's live data. The
/// mechanism, which knows heaps and roots but no processes, is in vm/heap/collector.hpp.
///
/// A small process keeps all that survives a full sweep in its block, below the high-water mark;
/// the next minor collection promotes it to an old generation. A large one gets its survivors put
/// in a new old generation at once, so that they need not be moved twice.
///
/// Fires gc_minor-start/end or gc_major-start/end, one pair a collection, and
/// process-heap_grow/shrink inside it (docs/probes.md).
namespace vmrun {

struct Process;

/// Makes at least `need` words (plus reserve) free in p's block. Roots: `live` terms at `regs`, p's
/// stack and everything visit_roots names. Returns the reduction cost, or -1 when the process
/// exceeded max_heap_size and is to be killed (p is set up as for BifAction::kExitNow, reason
/// `killed`; the heap is left as it was). Moves terms: all terms held in C++ locals are invalid
/// afterwards.
[[nodiscard]] int collect(Process& p, Word need, Term* regs, unsigned live);

/// The same where +gc-stress has decided already that this is a point to collect at.
[[nodiscard]] int collect_now(Process& p, Word need, Term* regs, unsigned live);

/// erlang:garbage_collect: a full sweep.
[[nodiscard]] int collect_major(Process& p, Word need, Term* regs, unsigned live);
/// For erlang:hibernate, with the stack dropped and the arguments in `regs`: a full sweep, the
/// block as small as can be.
[[nodiscard]] int collect_for_hibernate(Process& p, Term* regs, unsigned live);
/// A bit of Process::observed, below those of event.hpp: the process has its own least size of
/// heap, and gives it up while it hibernates.
inline constexpr std::uint32_t kHibernates = 1u << 7;
/// It runs on, and has that size again.
void collect_after_hibernation(Process& p);

/// Of the messages that count as parts of the heap: those in the inner queue, unless the process
/// wants them apart (message_queue_data). In its own thread.
Word message_words_of(const Process& p);

/// Words of off-heap binaries that a process may hold before they make a collection due, at least.
inline constexpr Word kOffHeapLimitWords = 46422;
Word off_heap_limit_of(const Process& p);

/// A full sweep that takes copies of what the process refers to in these blocks of literals.
/// `marks`: those it may refer to (see LiteralBlocks). Nothing else of the machine has pointers
/// into them that a collection does not know. Ends the process when it becomes too large by that.
/// Returns the reduction cost.
int collect_literals(Process& p, const class LiteralBlocks& blocks, const std::vector<bool>& marks);

/// Whether the next collection of p's heap takes longer than a scheduler has time for, and can be
/// made on a dirty scheduler (collect_on_dirty).
bool long_collection(const Process& p);
/// Whether a full sweep does.
bool long_full_sweep(const Process& p);
/// Where a long collection is asked for at the beginning of an instruction: whether that goes on
/// without, since +gc-stress alone asks and passes the point over, or p has come back from
/// on a dirty scheduler to the same instruction (which would ask again, for ever).
[[nodiscard]] bool may_go_on(Process& p, Word need);
/// The process is to leave the scheduler (RunResult::kDirty) with its registers saved; it comes
/// back with `need` words free.
void collect_on_dirty(Process& p, Word need);

/// Whether p is collected from here on. While it is not its terms stay where they are, and it gets
/// another block whenever one is full; what asks for its collection is answered when it is
/// collected again.
void forbid_collections(Process& p, bool forbidden);
bool collections_are_forbidden(const Process& p);

/// The next size of the table heap blocks grow by that is ≥ words.
Word next_heap_size(Word words);
/// All of the table, ascending.
std::span<const Word> heap_sizes();

/// Block of a new process unless spawned with min_heap_size: most never fill it.
inline constexpr Word kDefaultHeapWords = 142;
/// Who fills it gets at least so much. It is what programs are told their least heap is, as in OTP.
inline constexpr Word kToldHeapWords = 233;

/// First block of a new process, or all of it freed at its end.
void init_heap(Heap& heap, Word min_words);
void free_heap(Heap& heap);

/// Called when a process passes its max_heap_size and wants that logged: writes the report. Set by
/// whoever has a logger; nullptr: nothing is written.
extern void (*max_heap_report)(Process& p, Word total_words);

/// Stress and checking modes, set once from the command line before processes run.
struct GcModes {
  bool collect_always =
      // at every test_heap and after every BIF that allocated (large heaps: at one of many, see
      // gc.cpp)
      false;
  // walk heap and roots before and after every collection; a bad word stops the VM with a dump
  bool verify = false;
};
extern GcModes gc_modes;

}  // namespace vmrun
