// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "vm/port/driver.hpp"
#include "vm/port/operation.hpp"
#include "vm/port/operations.hpp"
#include "vm/process/process_state.hpp"

/// The items of port_info/1,2.
namespace vmrun {
namespace {

Term pair(Heap& heap, Term a, Term b) {
  Term* hp = heap.alloc(3);
  return make_tuple(hp, a, b);
}
Term cons(Heap& heap, Term head, Term tail) {
  Term* hp = heap.alloc(2);
  return make_cons(hp, head, tail);
}
Term number(Word n) { return Term::small(static_cast<SWord>(n)); }

Term info_registered_name(Port& p, Heap&) {
  const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed);
  return name ? Term::atom(name - 1) : Term::nil();
}
/// The bytes of the name, as in OTP.
Term info_name(Port& p, Heap& heap) {
  Term* hp = heap.alloc(2 * p.name.size());
  Term list = Term::nil();
  for (std::size_t i = p.name.size(); i-- > 0;)
    list = make_cons(hp, Term::small(static_cast<std::uint8_t>(p.name[i])), list);
  return list;
}
Term info_links(Port& p, Heap& heap) {
  Term list = Term::nil();
  p.links.for_each([&](Term pid) { list = cons(heap, pid, list); });
  return list;
}
Term info_id(Port& p, Heap&) { return number(p.id.id_number()); }
Term info_connected(Port& p, Heap&) { return p.owner_now(); }
Term info_input(Port& p, Heap&) { return number(p.input_bytes.load(std::memory_order_relaxed)); }
Term info_output(Port& p, Heap&) { return number(p.output_bytes.load(std::memory_order_relaxed)); }
Term info_os_pid(Port& p, Heap&) { return p.os_pid < 0 ? atoms::undefined : Term::small(p.os_pid); }
Term info_monitors(Port& p, Heap& heap) {
  Term list = Term::nil();
  p.driver_monitors.for_each(
      [&](const RefKey&, Term pid) { list = cons(heap, pair(heap, atoms::process, pid), list); });
  return list;
}
Term info_monitored_by(Port& p, Heap& heap) {
  Term list = Term::nil();
  p.monitored_by.for_each([&](const RefKey&, const MonitorIn& m) { list = cons(heap, m.watcher, list); });
  return list;
}
Term info_queue_size(Port& p, Heap&) { return number(p.queue.size()); }
Term info_memory(Port& p, Heap&) {
  return number(sizeof(Port) + p.queue.size() + p.links.memory_bytes() + p.monitored_by.memory_bytes() +
                p.driver_monitors.memory_bytes() + p.line_buffer.capacity() + p.name.capacity());
}
Term info_parallelism(Port& p, Heap&) { return p.parallelism ? atoms::true_ : atoms::false_; }
Term info_locking(Port& p, Heap&) {
  return p.driver->locks_per_port() ? atoms::port_level : atoms::driver_level;
}

struct Item {
  Term name;
  Term (*value)(Port&, Heap&);
  bool by_default;  // part of port_info/1, in this order
};
constexpr Item kItems[] = {
    {atoms::registered_name, info_registered_name, true},
    {atoms::name, info_name, true},
    {atoms::links, info_links, true},
    {atoms::id, info_id, true},
    {atoms::connected, info_connected, true},
    {atoms::input, info_input, true},
    {atoms::output, info_output, true},
    {atoms::os_pid, info_os_pid, true},
    {atoms::monitors, info_monitors, false},
    {atoms::monitored_by, info_monitored_by, false},
    {atoms::queue_size, info_queue_size, false},
    {atoms::memory, info_memory, false},
    {atoms::parallelism, info_parallelism, false},
    {atoms::locking, info_locking, false},
};

const Item* find_item(Term name) {
  for (const Item& item : kItems)
    if (item.name == name) return &item;
  return nullptr;
}

Outcome all_items(Port& p, Heap& heap) {
  Term list = Term::nil();
  for (std::size_t i = std::size(kItems); i-- > 0;) {
    if (!kItems[i].by_default) continue;
    const Term value = kItems[i].value(p, heap);
    if (kItems[i].name == atoms::registered_name && value.is_nil()) continue;
    list = cons(heap, pair(heap, kItems[i].name, value), list);
  }
  return {list};
}

}  // namespace

Term port_info(Process& p, Term id, Term name) {
  Port* port = port_table.find(id);
  if (!port || !is_in(*port, AllowedStates::kOpenOrClosing)) return atoms::undefined;
  const Item* item = name ? find_item(name) : nullptr;
  if (name && !item) return raise_badarg(p);
  return operate_on(p, *port, AllowedStates::kOpenOrClosing, atoms::info,
                    [item](Port& held, Heap& heap, Term) -> Outcome {
                      if (!item) return all_items(held, heap);
                      const Term value = item->value(held, heap);
                      if (item->name == atoms::registered_name && value.is_nil()) return {value};
                      return {pair(heap, item->name, value)};
                    },
                    {atoms::undefined});
}

}  // namespace vmrun
