// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "runtime/bif/support.hpp"
#include "vm/base/os_signal.hpp"
#include "vm/port/environment.hpp"

/// Module os: the environment, and the names of the system.
namespace vmrun {
namespace {

bool read_name(Term t, std::string* out) {
  return t.is_cons_or_nil() && list_to_utf8(t, out) && !out->empty() && out->find('=') == std::string::npos &&
         out->find('\0') == std::string::npos;
}

Term text(Process& p, std::string_view utf8) { return code_point_list(p.heap, utf8); }

Term get(Process& p, Term name, Term otherwise) {
  std::string key;
  if (!read_name(name, &key)) return raise_badarg(p);
  const auto value = environment_get(key);
  return value ? text(p, *value) : otherwise;
}

std::optional<SignalAction> signal_action(Term option) {
  static constexpr std::pair<const char*, SignalAction> kActions[] = {{"default", SignalAction::kDefault},
                                                                      {"ignore", SignalAction::kIgnore},
                                                                      {"handle", SignalAction::kHandle}};
  for (const auto& [name, action] : kActions)
    if (option.is_atom() && atom_text(option) == name) return action;
  return {};
}

}  // namespace

Term bif_os_getenv_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for (const std::string& entry : environment_entries()) list.add(text(p, entry));
  return list.finish();
}
/// [{Name, Value}].
Term bif_os_env_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for (const std::string& entry : environment_entries()) {
    const std::size_t equals = entry.find('=');
    const std::string_view name(entry.data(), std::min(equals, entry.size()));
    const std::string_view value = equals < entry.size() ? std::string_view(entry).substr(equals + 1) : "";
    const Term key = text(p, name);
    list.add(new_tuple(p.heap, key, text(p, value)));
  }
  return list.finish();
}
Term bif_os_getenv_1(Process& p, const Term* a) { return get(p, a[0], atoms::false_); }
Term bif_os_getenv_2(Process& p, const Term* a) { return get(p, a[0], a[1]); }

Term bif_os_putenv_2(Process& p, const Term* a) {
  std::string key, value;
  if (!read_name(a[0], &key) || !a[1].is_cons_or_nil() || !list_to_utf8(a[1], &value) ||
      value.find('\0') != std::string::npos)
    return raise_badarg(p);
  environment_set(key, value);
  return atoms::true_;
}
Term bif_os_unsetenv_1(Process& p, const Term* a) {
  std::string key;
  if (!read_name(a[0], &key)) return raise_badarg(p);
  environment_unset(key);
  return atoms::true_;
}

Term bif_os_getpid_0(Process& p, const Term*) { return text_list(p.heap, std::to_string(getpid())); }
Term set_signal_cause(Process&, unsigned, const Term* a) {
  return signal_action(a[1]) ? kNonValue : atoms::badopt;
}
Term bif_os_set_signal_2(Process& p, const Term* a) {
  const std::optional<SignalAction> action = signal_action(a[1]);
  const int number = a[0].is_atom() ? signal_number(std::string(atom_text(a[0])).c_str()) : 0;
  if (!action || !number) return raise_badarg(p);
  // With SIGCHLD ignored, children would disappear without their exit status, which ports need.
  const bool needed = number == SIGCHLD && *action == SignalAction::kIgnore;
  set_signal_action(number, needed ? SignalAction::kDefault : *action);
  return atoms::ok;
}
Term bif_os_type_0(Process& p, const Term*) {
  return new_tuple(p.heap, intern_atom("unix"), intern_atom("linux"));
}
Term bif_os_version_0(Process& p, const Term*) {
  utsname name;
  int n[3] = {};
  if (uname(&name) == 0) std::sscanf(name.release, "%d.%d.%d", &n[0], &n[1], &n[2]);
  return new_tuple(p.heap, Term::small(n[0]), Term::small(n[1]), Term::small(n[2]));
}

}  // namespace vmrun
