// SPDX-License-Identifier: Apache-2.0
#include "vm/process/fiber.hpp"

#include <sys/mman.h>

#include <boost/context/fiber.hpp>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "vm/base/allocate.hpp"
#include "vm/base/mapped_memory.hpp"
#include "vm/base/spin_lock.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define VMRUN_ASAN_FIBERS 1
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define VMRUN_TSAN_FIBERS 1
#endif

namespace vmrun {
namespace {

namespace ctx = boost::context;

constexpr std::size_t kStackBytes = 256 * 1024;

/// Stacks with a guard page below, kept for later fibers. Any thread.
class StackPool {
 public:
  ctx::stack_context take() {
    void* base = nullptr;
    {
      std::lock_guard guard(lock_);
      if (free_) {
        base = free_;
        free_ = free_->next;
      }
    }
    if (!base) {
      const std::size_t guard_bytes = page_bytes();
      void* memory = mmap(nullptr, kStackBytes + guard_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
      if (memory == MAP_FAILED) out_of_memory("a stack of a fiber", kStackBytes);
      mprotect(memory, guard_bytes, PROT_NONE);
      base = static_cast<char*>(memory) + guard_bytes;
    }
    ctx::stack_context stack;
    stack.size = kStackBytes;
    stack.sp = static_cast<char*>(base) + kStackBytes;
    return stack;
  }
  void give_back(const ctx::stack_context& stack) {
    auto* node = reinterpret_cast<Node*>(static_cast<char*>(stack.sp) - stack.size);
    std::lock_guard guard(lock_);
    node->next = free_;
    free_ = node;
  }

 private:
  struct Node {
    Node* next;
  };
  SpinLock lock_;
  Node* free_ = nullptr;
};
StackPool& stacks() {
  static StackPool& pool = *new StackPool;
  return pool;
}

/// The allocator that Boost.Context calls.
struct PooledStack {
  ctx::stack_context allocate() { return stacks().take(); }
  void deallocate(ctx::stack_context& stack) noexcept { stacks().give_back(stack); }
};

}  // namespace

struct Fiber {
  FiberBody body;
  Process* process;
  Term args[kMaxFiberArgs];
  unsigned arity;
  FiberRoots* roots = nullptr;
  Term result;
  bool running = false;
  bool done = false;
  ctx::fiber inside;   // the body, while it is suspended
  ctx::fiber outside;  // the scheduler, while the body runs
  const void* stack_low = nullptr;
#if VMRUN_ASAN_FIBERS
  void* inside_fake = nullptr;
  void* outside_fake = nullptr;
  const void* outside_low = nullptr;
  std::size_t outside_bytes = 0;
#endif
#if VMRUN_TSAN_FIBERS
  void* tsan_inside = __tsan_create_fiber(0);
  void* tsan_outside = nullptr;
  ~Fiber() { __tsan_destroy_fiber(tsan_inside); }
#endif

  // These tell the sanitizers about every switch of stacks. They are always inlined, because
  // ThreadSanitizer keeps a call stack for each fiber. Only the scheduler's side calls them, so
  // that calls and returns balance even when a body ends.
  [[gnu::always_inline]] inline void leaving_scheduler() {
#if VMRUN_ASAN_FIBERS
    __sanitizer_start_switch_fiber(&outside_fake, stack_low, kStackBytes);
#endif
#if VMRUN_TSAN_FIBERS
    tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_inside, 0);
#endif
  }
  [[gnu::always_inline]] inline void back_in_scheduler() {
#if VMRUN_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(outside_fake, nullptr, nullptr);
#endif
#if VMRUN_TSAN_FIBERS
    __tsan_switch_to_fiber(tsan_outside, 0);
#endif
  }
  void leaving_fiber(bool for_good) {
    (void)for_good;
#if VMRUN_ASAN_FIBERS
    __sanitizer_start_switch_fiber(for_good ? nullptr : &inside_fake, outside_low, outside_bytes);
#endif
  }
  void entered_fiber() {
#if VMRUN_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(inside_fake, &outside_low, &outside_bytes);
#endif
  }
};

namespace {

void start(Fiber& f) {
  PooledStack allocator;
  const ctx::stack_context stack = allocator.allocate();
  f.stack_low = static_cast<char*>(stack.sp) - stack.size;
  f.inside = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack), allocator,
                        [&f](ctx::fiber&& outside) {
                          f.entered_fiber();
                          f.outside = std::move(outside);
                          f.result = f.body(*f.process, f.args);
                          f.done = true;
                          f.leaving_fiber(true);
                          return std::move(f.outside);
                        });
}

}  // namespace

Term run_on_fiber(Process& p, FiberBody body, const Term* args, unsigned arity) {
  assert(arity <= kMaxFiberArgs);
  if (!p.fiber) {
    p.fiber = new Fiber;
    p.fiber->body = body;
    p.fiber->process = &p;
    p.fiber->arity = arity;
    for (unsigned i = 0; i < arity; ++i) p.fiber->args[i] = args[i];
    start(*p.fiber);
  }
  Fiber& f = *p.fiber;
  f.running = true;
  f.leaving_scheduler();
  f.inside = std::move(f.inside).resume();
  f.back_in_scheduler();
  f.running = false;
  if (!f.done) {
    p.bif_action = BifAction::kSuspendOnFiber;
    return kNonValue;
  }
  const Term result = f.result;
  p.fiber = nullptr;
  delete &f;
  return result;
}

void fiber_yield(Process& p) {
  Fiber& f = *p.fiber;
  f.leaving_fiber(false);
  f.outside = std::move(f.outside).resume();
  f.entered_fiber();
}

bool on_fiber(const Process& p) { return p.fiber && p.fiber->running; }

FiberRoots::FiberRoots(Process& p, Term* first, Word count)
    : fiber_(*p.fiber), first_(first), count_(count), next_(fiber_.roots) {
  fiber_.roots = this;
}

FiberRoots::~FiberRoots() {
  FiberRoots** link = &fiber_.roots;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

void visit_fiber_roots(Fiber& f, void (*visit)(void* context, Term* terms, std::size_t count),
                       void* context) {
  visit(context, f.args, f.arity);
  for (FiberRoots* r = f.roots; r; r = r->next_) visit(context, r->first_, r->count_);
}

void abandon_fiber(Process& p) {
  Fiber* f = p.fiber;
  if (!f) return;
  // The destruction of the suspended side unwinds its stack.
  f->leaving_scheduler();
  f->inside = ctx::fiber();
  f->back_in_scheduler();
  p.fiber = nullptr;
  delete f;
}

}  // namespace vmrun
