// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/binding.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "vm/base/affinity.hpp"
#include "vm/sched/online.hpp"

namespace vmrun {
namespace {

struct Binding {
  std::optional<pthread_t> thread;  // nothing before it runs
  int processor = -1;               // -1: not bound
};

struct State {
  std::mutex mutex;
  BindType type = BindType::kUnbound;
  std::vector<Binding> bindings;  // by scheduler

  /// Returns the processors that schedulers may be bound to, in order.
  std::vector<int> order() const {
    if (type == BindType::kUnbound) return {};  // without reading /sys
    std::vector<int> order = bind_order(known_places(), type);
    const std::optional<ProcessorSet> program = ProcessorSet::of_program();
    std::erase_if(order, [&](int logical) { return !program || !program->has(logical); });
    return order;
  }

  void bind() {
    std::vector<int> wanted = order();
    wanted.resize(std::min<std::size_t>(wanted.size(), schedulers_to_run()));
    wanted.resize(bindings.size(), -1);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      Binding& b = bindings[i];
      if (wanted[i] != b.processor)
        b.processor = !b.thread || bind_thread(*b.thread, wanted[i]) ? wanted[i] : -1;
    }
  }
};
State& state() {
  static auto& s = *new State;  // never destroyed: threads outlive main
  return s;
}

}  // namespace

BindType bind_type() {
  const std::lock_guard guard(state().mutex);
  return state().type;
}

bool set_bind_type(BindType type) {
  if (known_places().empty()) return false;
  const std::lock_guard guard(state().mutex);
  state().type = type;
  state().bind();
  return true;
}

std::vector<int> scheduler_bindings() {
  const std::lock_guard guard(state().mutex);
  std::vector<int> processors;
  for (const Binding& b : state().bindings) processors.push_back(b.processor);
  return processors;
}

void bind_schedulers() {
  const std::lock_guard guard(state().mutex);
  state().bind();
}

void prepare_bindings(unsigned schedulers) {
  const std::lock_guard guard(state().mutex);
  state().bindings.assign(schedulers, {});
  state().bind();
}

void bind_own_thread(unsigned index) {
  const std::lock_guard guard(state().mutex);
  if (index >= state().bindings.size()) return;  // the schedulers end already
  Binding& b = state().bindings[index];
  b.thread = pthread_self();
  if (b.processor >= 0 && !bind_thread(*b.thread, b.processor)) b.processor = -1;
}

}  // namespace vmrun
