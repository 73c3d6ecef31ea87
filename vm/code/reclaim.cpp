// SPDX-License-Identifier: Apache-2.0
#include "vm/code/reclaim.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "vm/base/epoch.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/receive.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_table.hpp"

namespace vmrun {
namespace {

constexpr Word kBatchBytes = usual_or_small<Word>(Word{1} << 22, 1);  // worth asking all processes
constexpr Word kMostWaiting = Word{1} << 28;                          // a quarter of the literal area
// The number of processes that are asked at once. It is smaller when each may have to copy much:
// together at most kCopiedAtOnceWords.
constexpr Word kAskedAtOnce = usual_or_small<Word>(64, 1);
constexpr Word kCopiedAtOnceWords = usual_or_small<Word>(1 << 15, 16);

struct Retired {
  Word bytes;
  LiteralBlock* literals = nullptr;
  Module* module = nullptr;  // the module that the literals belong to, or nullptr
  std::function<void()> free;
  bool in_use = false;  // a process was in the module when the last batch was examined
};

enum class Round { kNone, kLookForCode, kTakeLiterals };

/// The mutex guards everything here. What processes read of a batch while they do their part does
/// not change during a round.
struct Reclaim {
  std::mutex mutex;
  std::vector<Retired> waiting, batch;
  Word fresh_bytes = 0;         // of what waits and has been in no batch
  std::vector<Term> suspended;  // processes that wait for the end of a batch
  Round round = Round::kNone;
  Word position = 0;  // of the next process to be asked
  Word asked = 0;     // processes that have not answered
  Word at_once = 0;   // how many processes are asked at the same time
  Word stamp = 0;     // taken when all had answered; 0: not yet
  LiteralBlocks blocks{{}};
  Term collector;          // set_literal_collector; or the non-value
  bool is_called = false;  // it has been sent its message
};
Reclaim& reclaim() {
  static Reclaim& r = *new Reclaim;
  return r;
}
std::atomic<Word> waiting_bytes{0};

using Lock = std::unique_lock<std::mutex>;

// ---- What one process does ----------------------------------------------------------------------

void look_for_code(const Process& p) {
  for (Retired& r : reclaim().batch)
    if (r.module && is_inside(p, *r.module)) std::atomic_ref(r.in_use).store(true, std::memory_order_relaxed);
}

/// Looks through a fragment and so many of its roots, for what they mark.
bool mentioned_by(const Fragment& f, Word roots, const LiteralBlocks& blocks, std::vector<bool>& marks) {
  const bool by_roots = blocks.mark_mentioned(&f.message, roots, marks),
             by_words = blocks.mark_mentioned(f.words, f.used_words, marks);
  return by_roots || by_words;
}

/// Replaces a fragment that waits for the process, if it refers to these literals.
void renew(Fragment*& f, const LiteralBlocks& blocks, std::vector<bool>& marks) {
  if (!f || !mentioned_by(*f, 1, blocks, marks)) return;
  Fragment* fresh = new_fragment(copy_size_words(f->message));
  fresh->kind = f->kind;
  fresh->message = copy_into(*fresh, f->message);
  Fragment::destroy(f);
  f = fresh;
}

bool mentioned_in_heap(const Process& p, const LiteralBlocks& blocks, std::vector<bool>& marks) {
  const Heap& h = p.heap;
  bool found = blocks.mark_mentioned(h.start, h.used_words(), marks);
  found |= blocks.mark_mentioned(h.stop, h.stack_words(), marks);
  found |= blocks.mark_mentioned(h.old_start, static_cast<Word>(h.old_top - h.old_start), marks);
  found |= blocks.mark_mentioned(p.saved_regs, p.live_saved, marks);
  for (const Fragment* f = h.fragments; f; f = f->next)
    found |= blocks.mark_mentioned(f->terms(), f->term_words(), marks);
  return found;
}

struct RootSearch {
  const LiteralBlocks& blocks;
  std::vector<bool>& marks;
  bool found = false;
};

Word words_of(const LiteralBlocks& blocks, const std::vector<bool>& marks) {
  Word words = 0;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i]) words += blocks.all()[i]->words;
  return words;
}

/// As take_part_in_reclaim.
std::int32_t take_literals(Process& p) {
  const LiteralBlocks& blocks = reclaim().blocks;
  if (blocks.all().empty()) return 0;
  const bool on_scheduler = dirty_thread_kind() == DirtyKind::kNone;
  if (on_scheduler && long_full_sweep(p)) return kTooLongToReclaim;
  std::vector<bool> marks(blocks.all().size());
  if (p.extra) {
    std::vector<bool> replaced(marks.size());
    renew(p.extra->reply, blocks, replaced);
  }
  bool found = mentioned_in_heap(p, blocks, marks);
  for (Fragment** link = &inner_queue(p); *link; link = &(*link)->next) {
    constexpr Word kRoots = 2;  // the sequential trace token as well
    if (!mentioned_by(**link, kRoots, blocks, marks)) continue;
    pin_message(p, link);
    found = true;
  }
  RootSearch search{blocks, marks};
  visit_roots(
      p,
      [](void* context, Term* terms, std::size_t count) {
        auto& s = *static_cast<RootSearch*>(context);
        s.found |= s.blocks.mark_mentioned(terms, count, s.marks);
      },
      &search);
  const auto searched = static_cast<std::int32_t>(p.heap.block_words() / 64);
  if (!found && !search.found) return searched;
  if (on_scheduler && words_of(blocks, marks) > kCopiedAtOnceWords) return kTooLongToReclaim;
  return searched + collect_literals(p, blocks, marks);
}

// ---- Rounds -------------------------------------------------------------------------------------

/// Asks processes until enough of them, or all, have been asked. `asked` counts those that will
/// answer. The caller holds the lock.
void ask_more(Reclaim& r) {
  while (r.asked < r.at_once) {
    Process* p = process_table.next(r.position);
    if (!p) return;
    ++r.asked;  // first, since the answer may come at once
    if (!ask_for_part(*p)) --r.asked;
  }
}

void begin_round(Reclaim& r, Round round) {
  r.round = round;
  Word words = 0;  // that a process may have to copy
  if (round == Round::kTakeLiterals)
    for (const LiteralBlock* b : r.blocks.all()) words += b->words;
  r.at_once = std::clamp<Word>(kCopiedAtOnceWords / (words + 1), 1, kAskedAtOnce);
  r.position = 0;
  r.stamp = 0;
}

/// All have answered, but some threads have not passed a quiescent state yet, and the processes
/// that have answered may just be ending. One more process is asked, whose answer comes when these
/// have had time. The caller holds the lock.
void ask_again(Reclaim& r) {
  Word position = 0;
  while (Process* p = process_table.next(position)) {
    ++r.asked;
    if (ask_for_part(*p)) return;
    --r.asked;
  }
}

void begin_batch(Reclaim& r) {
  r.batch.swap(r.waiting);
  r.fresh_bytes = 0;
  std::vector<LiteralBlock*> blocks;
  for (Retired& x : r.batch) {
    x.in_use = false;
    if (x.literals) blocks.push_back(x.literals);
  }
  r.blocks = LiteralBlocks(std::move(blocks));
  if (const auto& all = r.blocks.all(); !all.empty())
    set_leaving_literals(all.front()->start,
                         static_cast<Word>(all.back()->start + all.back()->words - all.front()->start));
  begin_round(r, Round::kLookForCode);
}

/// Code that a process is in stays, with its literals, until another batch. The rest cannot be
/// found from here on.
void leave_out_code_in_use(Reclaim& r) {
  std::vector<Retired> batch;
  std::vector<LiteralBlock*> blocks;
  for (Retired& x : r.batch) {
    if (x.in_use) {
      r.waiting.push_back(std::move(x));
      continue;
    }
    if (x.literals) blocks.push_back(x.literals);
    if (x.module) {
      const CodeRanges* former = unregister_code(*x.module);
      batch.push_back({0, nullptr, nullptr, [former] { free_code_ranges(former); }});
    }
    batch.push_back(std::move(x));
  }
  r.batch = std::move(batch);
  r.blocks = LiteralBlocks(std::move(blocks));
}

/// Returns what can be freed now, and the processes that wait for that.
void end_batch(Reclaim& r, std::vector<Retired>* freed, std::vector<Term>* resumed) {
  set_leaving_literals(nullptr, 0);
  freed->swap(r.batch);
  resumed->swap(r.suspended);
  r.blocks = LiteralBlocks({});
  r.round = Round::kNone;
}

void free_retired(Retired& x) {
  waiting_bytes.fetch_sub(x.bytes, std::memory_order_relaxed);
  if (x.module) delete_module_code(x.module);
  else if (x.literals) free_literals(x.literals);
  if (x.free) x.free();
}

/// Advances as far as possible without another answer.
void advance(Lock& lock) {
  Reclaim& r = reclaim();
  std::vector<Retired> freed;
  std::vector<Term> resumed;
  for (;;) {
    ask_more(r);
    if (r.round == Round::kNone || r.asked) break;
    if (!r.stamp) r.stamp = epoch_stamp();
    if (epoch_passed(r.stamp) < r.stamp) {
      ask_again(r);
      break;
    }
    if (r.round == Round::kLookForCode) {
      leave_out_code_in_use(r);
      begin_round(r, Round::kTakeLiterals);
      continue;
    }
    end_batch(r, &freed, &resumed);
    break;
  }
  lock.unlock();
  for (Retired& x : freed) free_retired(x);
  for (Term pid : resumed)
    if (Process* p = process_table.find(pid)) wake_up(*p);
}

void retire(Retired x) {
  Reclaim& r = reclaim();
  waiting_bytes.fetch_add(x.bytes, std::memory_order_relaxed);
  EpochGuard guard;
  Lock lock(r.mutex);
  r.fresh_bytes += x.bytes;
  r.waiting.push_back(std::move(x));
  if (r.collector && !std::exchange(r.is_called, true)) {
    static const Term copy_literals = intern_atom("copy_literals");
    lock.unlock();
    send_from_vm(r.collector, copy_literals);
    lock.lock();
  }
  if (r.asked) return;
  if (r.round == Round::kNone) {
    if (r.fresh_bytes < kBatchBytes) return;
    begin_batch(r);
  }  // else it stopped because there was no process to ask, at the start of the machine
  advance(lock);
}

}  // namespace

std::int32_t take_part_in_reclaim(Process* p) {
  Reclaim& r = reclaim();
  std::int32_t cost = 0;
  // The round cannot end before the answer, so the thread reads it without the lock. It was set
  // before the request was sent.
  if (p) {
    look_at_leaving_literals();
    if (r.round == Round::kLookForCode) look_for_code(*p);
    else cost = take_literals(*p);
    if (cost == kTooLongToReclaim) return cost;
  }
  const EpochGuard guard;  // the thread may be a dirty scheduler
  Lock lock(r.mutex);
  --r.asked;
  advance(lock);
  return cost;
}

// As if a process had been asked and had not answered.
void hold_reclaim() {
  Reclaim& r = reclaim();
  Lock lock(r.mutex);
  ++r.asked;
}
void release_reclaim() { (void)take_part_in_reclaim(nullptr); }

bool runs_old_code(const Process& p, Term module) {
  const Module* old = old_module(module);
  return old && is_inside(p, *old);
}

void retire_literals(LiteralBlock* block) {
  retire(Retired{block->words * sizeof(Term), block, nullptr, {}});
}
void retire_module(Module* m, std::function<void()> free) {
  const Word literals = m->literals ? m->literals->words * sizeof(Term) : 0;
  retire(Retired{module_bytes(*m) + literals, m->literals, m, std::move(free)});
}
void retire(Word bytes, std::function<void()> free) {
  retire(Retired{bytes, nullptr, nullptr, std::move(free)});
}

Word retired_bytes() { return waiting_bytes.load(std::memory_order_relaxed); }

namespace {

/// Makes the process wait for the end of the round; begins one if there is none. Returns false if
/// that would free nothing.
bool wait_for_round(Process& p, Reclaim& r, Lock& lock) {
  if (r.round == Round::kNone) {
    // What was in use last time is not a reason to wait.
    if (std::ranges::all_of(r.waiting, &Retired::in_use)) return false;
    begin_batch(r);
  }
  r.suspended.push_back(p.id);
  (void)suspend_and_retry(p);
  advance(lock);
  return true;
}

}  // namespace

bool wait_for_reclaim(Process& p, bool no_room) {
  if (!no_room && retired_bytes() <= kMostWaiting) [[likely]]
    return false;
  Reclaim& r = reclaim();
  Lock lock(r.mutex);
  return wait_for_round(p, r, lock);
}

void set_literal_collector(Term pid) { reclaim().collector = pid; }

bool give_back_all(Process& p) {
  Reclaim& r = reclaim();
  Lock lock(r.mutex);
  r.is_called = false;
  return wait_for_round(p, r, lock);
}

bool is_inside(const Process& p, const Module& m) {
  const auto holds = [&](const Word* a) { return a >= m.begin() && a < m.end(); };
  if (holds(p.ip)) return true;
  if (const NifLibrary* l = m.library.load(std::memory_order_acquire); l && is_in_scheduled_nif(p, l))
    return true;
  // Return addresses are the words on a stack with a header's tag; the call lies in front of them.
  return std::any_of(p.heap.stop, p.heap.end, [&](Term t) {
    return t.is_header() && t.raw() && holds(reinterpret_cast<const Word*>(t.raw()) - 1);
  });
}

}  // namespace vmrun
