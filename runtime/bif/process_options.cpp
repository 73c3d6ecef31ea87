// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/process_options.hpp"

#include "runtime/bif/support.hpp"
#include "vm/base/release.hpp"
#include "vm/dist/remote_spawn.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/map.hpp"

namespace vmrun {
namespace {

constexpr SWord kMaxHeapWords = SWord{1} << 32;

bool read_pair_option(Term key, Term value, SpawnOptions* options) {
  SWord n;
  if (key == atoms::priority) return read_priority(value, &options->priority);
  if (key == atoms::link && release_has(Trait::kPriorityMessages)) {
    options->link = true;
    return read_link_options(value, &options->priority_link);
  }
  if (key == atoms::monitor) {
    options->monitor = true;
    MonitorOptions wanted;
    if (!read_monitor_options(value, &wanted)) return false;
    options->monitor_tag = wanted.tag;
    options->monitor_alias = wanted.alias;
    options->priority_monitor = wanted.priority;
    return true;
  }
  if (key == atoms::min_heap_size) {
    if (!small_in_range(value, 0, kMaxHeapWords, &n)) return false;
    options->min_heap_words = n ? next_heap_size(static_cast<Word>(n)) : 0;
    return true;
  }
  if (key == atoms::fullsweep_after) {
    if (!small_in_range(value, 0, SWord{1} << 32, &n)) return false;
    options->fullsweep_after = static_cast<std::uint16_t>(n > 65535 ? 65535 : n);
    return true;
  }
  if (key == atoms::max_heap_size) return read_max_heap(value, options->min_heap_words, &options->max_heap);
  if (key == atoms::message_queue_data) {
    if (value != atoms::on_heap && value != atoms::off_heap) return false;
    options->off_heap_messages = value == atoms::off_heap;
    return true;
  }
  if (key == atoms::min_bin_vheap_size) {
    if (!small_in_range(value, 0, Term::kSmallMax, &n)) return false;
    options->min_bin_vheap_words = next_heap_size(static_cast<Word>(n));
    return true;
  }
  if (key == atoms::scheduler) {
    if (!small_in_range(value, 0, scheduler_count(), &n)) return false;
    options->scheduler = static_cast<std::uint16_t>(n);
    return true;
  }
  return key == atoms::async_dist && read_boolean(value, &options->async_dist);
}

}  // namespace

bool read_priority(Term t, std::uint8_t* priority) {
  static constexpr Term kNames[] = {atoms::low, atoms::normal, atoms::high, atoms::max};
  for (std::uint8_t i = 0; i < 4; ++i)
    if (t == kNames[i]) {
      *priority = i;
      return true;
    }
  return false;
}

bool read_max_heap(Term t, Word min_heap_words, MaxHeap* out) {
  SWord n;
  if (!small_in_range(t.is_map() ? map_get(t, atoms::size) : t, 0, Term::kSmallMax, &n)) return false;
  const auto words = static_cast<Word>(n);
  if (words && words < (min_heap_words ? min_heap_words : kToldHeapWords)) return false;

  bool kill = out->kill, log = out->log, binaries = out->binaries;
  const auto read = [&](Term key, bool* flag) {
    const Term value = t.is_map() ? map_get(t, key) : kNonValue;
    return !value || read_boolean(value, flag);
  };
  if (!read(atoms::kill, &kill) || !read(atoms::error_logger, &log)) return false;
  if (release_has(Trait::kBinariesInHeapLimit) && !read(atoms::include_shared_binaries, &binaries))
    return false;
  *out = {.words = words, .kill = kill, .log = log, .binaries = binaries};
  return true;
}

bool read_link_options(Term list, bool* priority) {
  for (; list.is_list(); list = list.tail()) {
    if (!is_priority_option(list.head())) return false;
    *priority = true;
  }
  return list.is_nil();
}

bool read_monitor_options(Term list, MonitorOptions* options) {
  AliasMode* const alias = &options->alias;
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    if (is_priority_option(o)) {
      options->priority = true;
      continue;
    }
    if (!o.is_tuple() || o.tuple_arity() != 2) return false;
    if (o.element(0) == atoms::tag) {
      options->tag = o.element(1);
    } else if (o.element(0) == atoms::alias) {
      if (o.element(1) == atoms::explicit_unalias) *alias = AliasMode::kExplicitUnalias;
      else if (o.element(1) == atoms::demonitor) *alias = AliasMode::kDemonitor;
      else if (o.element(1) == atoms::reply_demonitor) *alias = AliasMode::kReplyDemonitor;
      else return false;
    } else {
      return false;
    }
  }
  return list.is_nil();
}

bool read_spawn_options(Term list, SpawnOptions* options) {
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    if (o == atoms::link) options->link = true;
    else if (o == atoms::monitor) options->monitor = true;
    else if (!o.is_tuple() || o.tuple_arity() != 2 || !read_pair_option(o.element(0), o.element(1), options))
      return false;
  }
  return list.is_nil() && (!options->max_heap.words || options->max_heap.words >= options->min_heap_words);
}

}  // namespace vmrun
