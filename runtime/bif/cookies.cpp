// SPDX-License-Identifier: Apache-2.0
// Cookies: the process auth of an installed OTP keeps them, if this is a node.

#include "runtime/bif/bifs_generated.hpp"
#include "vm/code/module.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/registry.hpp"

namespace vmrun {
namespace {

Export* function(std::string_view module, std::string_view name, unsigned arity) {
  return export_entry(intern_atom(module), intern_atom(name), arity);
}

bool are_kept() { return static_cast<bool>(whereis(intern_atom("auth"))); }

}  // namespace

Term bif_erlang_get_cookie_0(Process& p, const Term*) {
  if (!are_kept()) return intern_atom("nocookie");
  static Export* const get = function("auth", "get_cookie", 0);
  return trap_to(p, get, {});
}

Term bif_erlang_get_cookie_1(Process& p, const Term* a) {
  static Export* const get = function("auth", "get_cookie", 1);
  if (!a[0].is_atom()) return raise_badarg(p);
  return are_kept() ? trap_to(p, get, {a[0]}) : intern_atom("nocookie");
}

Term bif_erlang_set_cookie_1(Process& p, const Term* a) {
  static Export* const set = function("auth", "set_cookie", 1);
  return a[0].is_atom() ? trap_to(p, set, {a[0]}) : raise_badarg(p);
}

Term bif_erlang_set_cookie_2(Process& p, const Term* a) {
  static Export* const set = function("auth", "set_cookie", 2);
  static const Term no_node = intern_atom("nonode@nohost");
  if (!a[0].is_atom() || a[0] == no_node || !a[1].is_atom()) return raise_badarg(p);
  return trap_to(p, set, {a[0], a[1]});
}

}  // namespace vmrun
