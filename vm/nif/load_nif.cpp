// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/load_nif.hpp"

#include "vm/code/change_permission.hpp"
#include "vm/code/module.hpp"
#include "vm/nif/library.hpp"
#include "vm/process/bif.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

bool path_of(Term list, std::string* path) {
  for (; list.is_list(); list = list.tail()) {
    const Term c = list.head();
    if (!c.is_small() || c.small_value() <= 0 || c.small_value() > 0x10FFFF) return false;
    append_utf8(*path, static_cast<char32_t>(c.small_value()));
  }
  return list.is_nil() && !path->empty();
}

Term string_of(Heap& heap, std::string_view text) {
  Term list = Term::nil();
  Term* hp = heap.alloc(2 * text.size());
  for (std::size_t i = text.size(); i-- > 0;)
    list = make_cons(hp, Term::small(static_cast<unsigned char>(text[i])), list);
  return list;
}

}  // namespace

Term load_nif_called_at(Process& p, const Term* args, const Word* at) {
  if (!may_change_code(p)) return kNonValue;
  std::string path;
  auto* module = const_cast<Module*>(module_at(at));
  if (!module || !path_of(args[0], &path)) return raise_badarg(p);
  NifFailure failure;
  if (load_nif_library(p, *module, path, args[1], &failure)) return atoms::ok;
  const Term text = string_of(p.heap, failure.text);
  Term* hp = p.heap.alloc(6);
  const Term reason = make_tuple(hp, failure.reason, text);
  return make_tuple(hp, atoms::error, reason);
}

}  // namespace vmrun
