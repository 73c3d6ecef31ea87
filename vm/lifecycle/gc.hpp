// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "vm/heap/heap.hpp"

/// The generational copying collector of one process: when to collect, and how large blocks are. It
/// runs in the process's own thread; its cost is proportional to that process's live data. The
/// mechanism, which knows heaps and roots but not processes, is in vm/heap/collector.hpp.
///
/// A small process keeps all that survives a full sweep in its block, below the high-water mark;
/// the next minor collection promotes it to an old generation. The survivors of a large one go to a
/// new old generation at once, so that they are not moved twice.
///
/// Fires gc_minor-start/end or gc_major-start/end, one pair for each collection, and
/// process-heap_grow/shrink between them (docs/probes.md).
namespace vmrun {

struct Process;

/// Makes at least `need` words (plus reserve) free in p's block. Roots: `live` terms at `regs`, p's
/// stack and everything visit_roots names. Returns the reduction cost, or -1 when the process
/// exceeded max_heap_size and is to be killed (p is set up as for BifAction::kExitNow, reason
/// `killed`; the heap is left as it was). Moves terms: all terms held in C++ locals are invalid
/// afterwards.
[[nodiscard]] int collect(Process& p, Word need, Term* regs, unsigned live);

/// Does this where +gc-stress has decided already that it collects at this point.
[[nodiscard]] int collect_now(Process& p, Word need, Term* regs, unsigned live);

/// erlang:garbage_collect: a full sweep.
[[nodiscard]] int collect_major(Process& p, Word need, Term* regs, unsigned live);
/// For erlang:hibernate, with the arguments in `regs`, and the stack dropped if there is a
/// p.trap_target: a full sweep that
/// makes the block as small as possible.
[[nodiscard]] int collect_for_hibernate(Process& p, Term* regs, unsigned live);
/// A process that gave up its own least heap size while it hibernated (kHibernates) runs again, and
/// has that size again.
void collect_after_hibernation(Process& p);

/// Returns the words of messages that count as part of the heap: those in the inner queue, unless
/// the process wants them outside (message_queue_data). Called in the thread that runs p.
Word message_words_of(const Process& p);

/// Words of off-heap binaries that a process may hold before a collection is due, at least.
inline constexpr Word kOffHeapLimitWords = 46422;
Word off_heap_limit_of(const Process& p);

/// A full sweep that takes copies of what the process refers to in these blocks of literals. marks:
/// the blocks it may refer to (see LiteralBlocks). Nothing in the machine points into them except
/// what a collection knows. Ends the process when it becomes too large by that. Returns the
/// reduction cost.
int collect_literals(Process& p, const class LiteralBlocks& blocks, const std::vector<bool>& marks);

/// Whether the next collection of p's heap takes too long for a scheduler, and can be made on a
/// dirty scheduler (collect_on_dirty).
bool long_collection(const Process& p);
/// Whether a full sweep takes too long for a scheduler.
bool long_full_sweep(const Process& p);
/// Called where an instruction begins and a long collection is due. Returns whether the instruction
/// goes on without it. That is so when only +gc-stress asks and skips the point, or when p has come
/// back from a dirty scheduler to this instruction (which would ask again, for ever).
[[nodiscard]] bool may_go_on(Process& p, Word need);
/// Prepares the collection. The process has to leave the scheduler (RunResult::kDirty) with its
/// registers saved, and comes back with `need` words free.
void collect_on_dirty(Process& p, Word need);

/// Sets whether p may be collected from here on. While it may not, its terms stay where they are,
/// and it gets another block whenever one is full. Requests for its collection are answered when it
/// may be collected again.
void forbid_collections(Process& p, bool forbidden);
bool collections_are_forbidden(const Process& p);

/// Returns the next size ≥ words in the table of heap block sizes.
Word next_heap_size(Word words);
/// Returns the table, ascending.
std::span<const Word> heap_sizes();

/// Block of a new process unless it is spawned with min_heap_size: most processes never fill it.
inline constexpr Word kDefaultHeapWords = 142;
/// A process that fills it gets at least this much. Programs are told that this is the minimal heap
/// size, as in OTP.
inline constexpr Word kToldHeapWords = 233;

/// Makes the first block of a new process, or frees all blocks at its end.
void init_heap(Heap& heap, Word min_words);
void free_heap(Heap& heap);

/// Stress and checking modes, set once from the command line before processes run.
struct GcModes {
  // collects at every test_heap and after every BIF that allocated (a large heap: at one of many,
  // see gc.cpp)
  bool collect_always = false;
  // walks heap and roots before and after every collection; a bad word stops the VM with a dump
  bool verify = false;
};
extern GcModes gc_modes;

}  // namespace vmrun
