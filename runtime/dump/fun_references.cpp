#include <memory>
#include <mutex>
#include <set>
#include <unordered_set>
#include <vector>

#include "runtime/bif/inside.hpp"
#include "runtime/dump/machine_view.hpp"
#include "runtime/ets/table.hpp"
#include "vm/process/table.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/map.hpp"

// fun_info(Fun, refc): how many fun objects lead to a fun expression of a module. Nobody counts
// them as they come and go: who asks stops the machine and goes through all that is there. Garbage
// that has not been collected yet is not counted.

namespace vmrun::dump {
namespace {

/// Goes through terms and all that they lead to, each object once.
class FunCount {
 public:
  explicit FunCount(const FunEntry& entry) : entry_(entry) {}

  void add(Term t) {
    note(t);
    while (!to_do_.empty()) {
      const Term next = to_do_.back();
      to_do_.pop_back();
      object(next);
    }
  }
  void add(const Term* from, const Term* to) {
    for (; from < to; ++from) add(*from);
  }
  Word found() const { return found_; }

 private:
  void note(Term t) {
    if ((t.is_list() || t.is_boxed()) && seen_.insert(t.raw()).second) to_do_.push_back(t);
  }
  void fields(const Term* from, const Term* to) {
    for (; from < to; ++from) note(*from);
  }
  void object(Term t) {
    if (t.is_list()) return fields(t.list_ptr(), t.list_ptr() + 2);
    const Term* p = t.boxed_ptr();
    const Term* end = p + object_words(*p);
    switch (p->header_sub()) {
      case Term::Sub::kTuple: return fields(p + 1, end);
      case Term::Sub::kMap: return fields(p + (map_kind(*p) == MapKind::kHashNode ? 1 : 2), end);
      case Term::Sub::kFun: {
        const auto& f = *reinterpret_cast<const FunObject*>(p);
        if (!f.is_external && f.entry == &entry_) ++found_;
        return fields(f.environment(), end);
      }
      default: return;
    }
  }

  const FunEntry& entry_;
  Word found_ = 0;
  std::vector<Term> to_do_;
  std::unordered_set<Word> seen_;
};

// ---- Who asks -----------------------------------------------------------------------------------

/// Those who wait for their turn are on a dirty scheduler, but do nothing to their heaps meanwhile.
class Asking {
 public:
  explicit Asking(const Process& p) : p_(&p) {
    const std::lock_guard guard(mutex());
    all().insert(p_);
  }
  ~Asking() {
    const std::lock_guard guard(mutex());
    all().erase(p_);
  }
  Asking(const Asking&) = delete;
  static bool asks(const Process& p) {
    const std::lock_guard guard(mutex());
    return all().contains(&p);
  }

 private:
  // Never destroyed: dirty schedulers outlive main.
  static std::mutex& mutex() {
    static std::mutex& m = *new std::mutex;
    return m;
  }
  static std::set<const Process*>& all() {
    static auto& s = *new std::set<const Process*>;
    return s;
  }

  const Process* const p_;
};

// ---- Where funs are -----------------------------------------------------------------------------

void count_in_messages(FunCount& count, const Fragment* first) {
  for (const Fragment* f = first; f; f = f->next)
    if (f->kind == static_cast<std::uint32_t>(SignalKind::kMessage) ||
        f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage))
      count.add(f->message);
}

void count_in_process(FunCount& count, Process& p) {
  count.add(p.saved_regs, p.saved_regs + p.live_saved);
  count.add(p.heap.stop, p.heap.end);
  visit_roots(
      p,
      [](void* context, Term* terms, std::size_t n) {
        static_cast<FunCount*>(context)->add(terms, terms + n);
      },
      &count);
  count_in_messages(count, p.mailbox.first);
  count_in_messages(count, p.mailbox.newest_arrival());
}

void count_in_table(FunCount& count, const ets::Table& table) {
  if (table.heir_data) count.add(table.heir_data->tuple);
  ets::Position at;
  while (at.state != ets::Position::kEnd)
    table.store->walk(at, false, [&](ets::Object* o) {
      if (!o->dead) count.add(o->tuple);
      return true;
    });
}

Word count_references(const Process& asking, const FunEntry& entry) {
  FunCount count(entry);
  auto waits = std::make_unique<Asking>(asking);
  const StoppedMachine stopped;
  process_table.for_each([&](Process& p) {
    if (p.mailbox.is_closed() || p.exiting.load(std::memory_order_acquire)) return;
    if (!stopped.runs(p) || Asking::asks(p)) count_in_process(count, p);
  });
  ets::for_each_table([&](const ets::Table& table) { count_in_table(count, table); });
  for_each_persistent_term([&](Term key, Term value) {
    count.add(key);
    count.add(value);
  });
  waits.reset();             // before somebody else can stop the machine
  return 1 + count.found();  // and the module's own
}

[[maybe_unused]] const bool filled_in = (fun_references = count_references, true);

}  // namespace
}  // namespace vmrun::dump
