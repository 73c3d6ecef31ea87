#pragma once

#include "vm/heap/heap.hpp"

/// The generational copying collector of one process (Cheney within each generation, high-water mark promotion). Runs in the process's own thread;
/// cost is proportional to that process's live data. Fires gc_minor/major-start/end and process-heap_grow/shrink (PROBES B6, B8).
namespace vmrun {

struct Process;

/// Makes at least `need` words (plus reserve) free in p's block. Roots: `live` terms at `regs`, p's stack and everything p.visit_roots names.
/// Returns the reduction cost, or -1 when the process exceeded max_heap_size and is to be killed (already flagged on the process).
/// Moves terms: all terms held in C++ locals are invalid afterwards.
[[nodiscard]] int collect(Process& p, Word need, Term* regs, unsigned live);

/// erlang:garbage_collect: a full sweep.  hibernate: full sweep and the block shrunk to the least.
[[nodiscard]] int collect_major(Process& p, Word need, Term* regs, unsigned live);
void collect_for_hibernate(Process& p);

/// The next size of the table heap blocks grow by that is ≥ words.
Word next_heap_size(Word words);

/// First block of a new process, or all of it freed at its end.
void init_heap(Heap& heap, Word min_words);
void free_heap(Heap& heap);

/// Stress and checking modes, set once from the command line before processes run.
struct GcModes {
  bool collect_always = false;  // at every test_heap and after every BIF that allocated
  bool verify = false;          // walk heap and roots before and after every collection; a bad word stops the VM with a dump
};
extern GcModes gc_modes;

/// Walks everything reachable; stops the VM naming the first bad word.
void verify_heap(Process& p, const Term* regs, unsigned live);

}  // namespace vmrun
