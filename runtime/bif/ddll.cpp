// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/ddll.hpp"

#include <dlfcn.h>

#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/message/send.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/port.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/taints.hpp"

/// Libraries with drivers, for erl_ddll. The policy (which processes use a driver or monitor it) is
/// in Erlang, runtime/lib/ddll_server.erl; erl_ddll's built-in functions call it. Only the process
/// there calls the functions of vmrun_ddll.
namespace vmrun {
namespace {

bool read_driver_name(Term t, std::string* out) {
  return t.is_cons_or_nil() && list_to_utf8(t, out) && out->find('\0') == std::string::npos;
}

Term error(Process& p, Term reason) { return new_tuple(p.heap, atoms::error, reason); }
Term error(Process& p, const char* reason) { return error(p, intern_atom(reason)); }

/// Returns the loader's message without the file's name in front.
std::string loader_message(const std::string& file) {
  const char* message = dlerror();
  std::string text = message ? message : "unknown";
  if (text.compare(0, file.size() + 2, file + ": ") == 0) text.erase(0, file.size() + 2);
  return text;
}

/// Returns the driver of a library, or nullptr and the reason.
ErlDrvEntry* entry_of(void* library, const std::string& name, const char** why) {
  using Init = ErlDrvEntry* (*)();
  const auto init = reinterpret_cast<Init>(dlsym(library, "driver_init"));
  ErlDrvEntry* entry = init ? init() : nullptr;
  *why = nullptr;
  if (!init) *why = "no_driver_init";
  else if (!entry) *why = "driver_init_failed";
  else if (static_cast<unsigned>(entry->extended_marker) != ERL_DRV_EXTENDED_MARKER ||
           entry->major_version < ERL_DRV_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD ||
           entry->major_version > ERL_DRV_EXTENDED_MAJOR_VERSION ||
           (entry->major_version == ERL_DRV_EXTENDED_MAJOR_VERSION &&
            entry->minor_version > ERL_DRV_EXTENDED_MINOR_VERSION))
    *why = "driver_incorrect_version";
  else if (!entry->driver_name || name != entry->driver_name) *why = "bad_driver_name";
  return *why ? nullptr : entry;
}

}  // namespace

void tell_driver_server(const std::string& name) {
  static const Term server = intern_atom("erl_ddll"), tag = intern_atom("driver_unloaded");
  EpochGuard guard;
  const Term pid = whereis(server);
  if (!pid) return;
  Fragment* f = new_fragment(3 + 2 * name.size());
  Term text = Term::nil();
  Term* hp = fragment_alloc(*f, 3 + 2 * name.size());
  for (auto c = name.rbegin(); c != name.rend(); ++c)
    text = make_cons(hp, Term::small(static_cast<std::uint8_t>(*c)), text);
  f->message = make_tuple(hp, tag, text);
  send_from_vm(pid, f);
}

namespace {

template <unsigned kArity>
Term ask_server(Process& p, const char* function, const Term* a) {
  Export* to = export_entry(intern_atom("ddll_server"), intern_atom(function), kArity);
  if constexpr (kArity == 0) return trap_to(p, to, {});
  else if constexpr (kArity == 1) return trap_to(p, to, {a[0]});
  else if constexpr (kArity == 2) return trap_to(p, to, {a[0], a[1]});
  else return trap_to(p, to, {a[0], a[1], a[2]});
}

}  // namespace

Term bif_erl_ddll_try_load_3(Process& p, const Term* a) { return ask_server<3>(p, "try_load", a); }
Term bif_erl_ddll_try_unload_2(Process& p, const Term* a) { return ask_server<2>(p, "try_unload", a); }
Term bif_erl_ddll_monitor_2(Process& p, const Term* a) { return ask_server<2>(p, "monitor", a); }
Term bif_erl_ddll_demonitor_1(Process& p, const Term* a) { return ask_server<1>(p, "demonitor", a); }
Term bif_erl_ddll_loaded_drivers_0(Process& p, const Term* a) {
  return ask_server<0>(p, "loaded_drivers", a);
}
Term bif_erl_ddll_info_2(Process& p, const Term* a) { return ask_server<2>(p, "info", a); }
Term bif_erl_ddll_format_error_int_1(Process& p, const Term* a) {
  return ask_server<1>(p, "format_error_int", a);
}

/// vmrun_ddll:open(File, Name) -> ok | {error, Reason}.
Term bif_vmrun_ddll_open_2(Process& p, const Term* a) {
  std::string file, name;
  if (!read_driver_name(a[0], &file) || !read_driver_name(a[1], &name)) return raise_badarg(p);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const Term text = code_point_list(p.heap, loader_message(file));
    return error(p, new_tuple(p.heap, intern_atom("open_error"), text));
  }
  const char* why;
  ErlDrvEntry* entry = entry_of(library, name, &why);
  if (entry && !register_driver(entry, library, file)) why = "driver_init_failed";
  if (!why) {
    note_taint(intern_atom(name));
    return atoms::ok;
  }
  dlclose(library);
  return error(p, why);
}

/// vmrun_ddll:close(Name) -> unloaded | pending | not_loaded | permanent | linked_in_driver.
/// pending: {driver_unloaded, Name} comes later.
Term bif_vmrun_ddll_close_1(Process& p, const Term* a) {
  std::string name;
  if (!read_driver_name(a[0], &name)) return raise_badarg(p);
  switch (unload_driver(name)) {
    case UnloadResult::kUnloaded: return intern_atom("unloaded");
    case UnloadResult::kWaitsForPorts: return intern_atom("pending");
    case UnloadResult::kNotLoaded: return intern_atom("not_loaded");
    case UnloadResult::kPermanent: return intern_atom("permanent");
    case UnloadResult::kLinkedIn: return intern_atom("linked_in_driver");
  }
  return atoms::undefined;
}

/// vmrun_ddll:keep(Name) -> true | false: cancels a pending close.
Term bif_vmrun_ddll_keep_1(Process& p, const Term* a) {
  std::string name;
  if (!read_driver_name(a[0], &name)) return raise_badarg(p);
  return bool_term(keep_driver(name));
}

/// vmrun_ddll:lock(Name) -> [Port]: allows no new ports until the driver is unloaded; returns the
/// existing ones.
Term bif_vmrun_ddll_lock_1(Process& p, const Term* a) {
  std::string name;
  if (!read_driver_name(a[0], &name)) return raise_badarg(p);
  const Driver* driver = lock_driver_out(name);
  ListBuilder list(p.heap);
  port_table.for_each([&](const Port& port) {
    if (port.driver == driver) list.add(port.id);
  });
  return list.finish();
}

/// vmrun_ddll:all() -> [{Name, Ports, LinkedIn, Permanent}], the oldest first.
Term bif_vmrun_ddll_all_0(Process& p, const Term*) {
  Term list = Term::nil();
  for (const DriverInfo& d : all_drivers()) {
    const Term entry =
        new_tuple(p.heap, code_point_list(p.heap, d.name), Term::small(static_cast<SWord>(d.ports)),
                  bool_term(d.linked_in), bool_term(d.permanent));
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, entry, list);
  }
  return list;
}

}  // namespace vmrun
