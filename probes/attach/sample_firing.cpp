// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/sample_firing.hpp"

#include <cstdlib>
#include <cstring>

#include "probes/attach/firing.hpp"
#include "probes/attach/machine_host.hpp"
#include "probes/attach/sample_notes.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/code/walk.hpp"
#include "vm/process/sampled.hpp"

namespace vmrun::attach {
namespace {

constexpr unsigned kMostActivities = 256;
char activity_places[kMostActivities];  // only their addresses mean something
std::atomic<const char*> activity_names[kMostActivities];

/// Names are added, never removed.
std::uint64_t place_of_activity(const char* text) {
  for (unsigned i = 0; i < kMostActivities; ++i) {
    const char* name = activity_names[i].load(std::memory_order_acquire);
    if (!name) {
      const char* const mine = strdup(text);
      if (activity_names[i].compare_exchange_strong(name, mine, std::memory_order_acq_rel)) name = mine;
      else std::free(const_cast<char*>(mine));
    }
    if (name && std::strcmp(name, text) == 0) return reinterpret_cast<std::uintptr_t>(activity_places + i);
  }
  return 0;
}

/// Returns the built-in function that the instruction calls.
const Export* called_by(const Word* at) {
  if (!function_header_at(at)) return nullptr;
  const std::uint16_t operation = operation_at(at);
  if (operation >= op::kOpCount) return nullptr;
  static Export* const send = export_entry(atoms::erlang, atoms::send, 2);
  if (operation == op::send) return send;
  const InstructionRow& row = op::kInstructions[operation];
  if (!row.built_in) return nullptr;
  const auto* const called = field<const Export*>(at, row.built_in);
  // The registers may belong to another process when this one was about to begin, so the word can
  // be anything.
  const Export* const there = export_of_stub(called->stub_code());
  return there == called && there->bif ? there : nullptr;
}

void fire_waiting(SampledThread& thread, Waiting& w, const Process* owner) {
  const std::uint32_t times = w.count.exchange(0, std::memory_order_acq_rel);
  Sample& s = w.sample;
  s.owner = owner && owner->id == s.process ? owner : nullptr;
  const bool noted = s.process && thread.noted_process == s.process;
  s.label = noted ? &thread.noted_label : nullptr;
  s.label_bytes = thread.noted_bytes;
  resolve(s);
  const Sampler& sampler = samplers[w.sampler];
  if (d::Session* session = sampler.session.load(std::memory_order_acquire))
    fire_sample(*session, sampler.probe, s, times);
}

/// While it lives and is `mine`, no other thread takes samples of the thread.
struct Taking {
  explicit Taking(SampledThread& thread)
      : thread(thread), mine(!thread.taking.exchange(true, std::memory_order_acquire)) {}
  ~Taking() {
    if (mine) thread.taking.store(false, std::memory_order_release);
  }
  Taking(const Taking&) = delete;

  SampledThread& thread;
  const bool mine;
};

}  // namespace

void resolve(Sample& s) {
  const EpochGuard guard;
  if (!s.knows_place && s.owner) {
    s.frames[0] = reinterpret_cast<std::uintptr_t>(s.owner->ip);
    s.frame_count = 1;
    each_stack_part(s.owner->heap.stop, s.owner->heap,
                    [&](const Term* part, std::size_t words) { add_callers(s, part, words); });
  }
  const auto* const at = s.frame_count ? reinterpret_cast<const Word*>(s.frames[0]) : nullptr;
  s.built_in = at && s.native && !s.activity[0] ? called_by(at) : nullptr;
  if (at && !function_header_at(at)) {  // the machine's own code: only callers are shown
    --s.frame_count;
    std::memmove(s.frames, s.frames + 1, s.frame_count * sizeof *s.frames);
  }
  // The process begins or ends: it has no code yet, or none any more.
  if (s.frame_count == 0 && !s.activity[0]) std::strcpy(s.activity, "[scheduler]");
  s.activity_place = s.activity[0] ? place_of_activity(s.activity) : 0;
}

void take_out(SampledThread& thread, const Process* owner, std::uint64_t until_ns) {
  const Taking taking(thread);
  if (!taking.mine) return;
  std::uint32_t taken = thread.taken.load(std::memory_order_relaxed);
  while (taken != thread.put.load(std::memory_order_acquire)) {
    Waiting& w = thread.waiting[taken % kWaiting];
    if (w.sample.time_ns > until_ns) return;
    fire_waiting(thread, w, owner);
    thread.taken.store(++taken, std::memory_order_release);
  }
}

namespace {

/// Finds the object of the calling thread. The object that it had in an earlier profile may belong
/// to another thread now.
SampledThread* sampled_thread() {
  const auto is_mine = [tid = tid_here()](const SampledThread* t) {
    return t && t->tid.load(std::memory_order_acquire) == tid;
  };
  if (is_mine(sampled_here)) return sampled_here;
  for (const Clock& c : clocks)
    if (SampledThread* t = c.thread.load(std::memory_order_acquire); is_mine(t)) return sampled_here = t;
  return nullptr;
}

}  // namespace

void deliver_samples(const Process* owner) {
  samples_wait = false;
  SampledThread* const thread = sampled_thread();
  // Nothing else fires in the middle of a firing, so the samples wait for the next slice.
  if (thread && !is_firing()) take_out(*thread, owner, ~std::uint64_t{0});
}

void note_sampled_process(const Process& p) {
  SampledThread* const thread = sampled_thread();
  if (!thread) return;
  const Taking taking(*thread);
  if (!taking.mine) return;
  thread->noted_process = p.id;
  thread->noted_label = label_of(p, thread->noted_bytes, sizeof thread->noted_bytes);
}

const char* activity_at(std::uint64_t address) {
  const std::uint64_t i = address - reinterpret_cast<std::uintptr_t>(activity_places);
  return i < kMostActivities ? activity_names[i].load(std::memory_order_acquire) : nullptr;
}

}  // namespace vmrun::attach
