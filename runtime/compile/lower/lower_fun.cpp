// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_fun.hpp"

#include <algorithm>

#include "vm/term/atom.hpp"

namespace vmrun::compile::lower {

using namespace core;

const ClosureInfo* LowerFun::closure_of(Arg a) const {
  if (!a.is_value()) return nullptr;
  auto it = closures_.find(a.value);
  return it == closures_.end() ? nullptr : &it->second;
}

Arg LowerFun::make_closure(FunNote* note) {
  std::vector<Arg> env;
  for (Var* v : note->free) env.push_back(c_.lookup(v));
  Arg fun = blocks_.emit_value(Op::kMakeFun, env, {}, note->lambda_index);
  closures_[fun.value] = {note, arena_.copy(env)};
  return fun;
}

Arg LowerFun::lambda(Lambda& l) { return make_closure(l.note); }

/// `fun f/1` has an entry in the fun table that refers to f itself.
Arg LowerFun::fun_ref(FunRef& r) {
  auto [it, fresh] = c_.module.local_funs.try_emplace(ModuleContext::key(r.name, r.arity), 0);
  if (fresh) {
    const auto target = c_.module.local.find(ModuleContext::key(r.name, r.arity));
    if (target == c_.module.local.end()) {
      c_.module.errors.push_back("reference to an undefined function " + std::string(atom_text(r.name)));
      return Arg::lit(Term::nil());
    }
    it->second = static_cast<std::uint32_t>(c_.module.program.lambdas.size());
    c_.module.program.lambdas.push_back({target->second, 0});
  }
  return blocks_.emit_value(Op::kMakeFun, {}, {}, it->second);
}

Arg LowerFun::apply_value(Arg fun, std::vector<Arg> args, Loc loc) {
  if (const ClosureInfo* c = closure_of(fun); c && c->note->params.size() == args.size()) {
    args.insert(args.end(), c->env.begin(), c->env.end());
    return blocks_.emit_value(Op::kCall, std::move(args), loc, c->note->index);
  }
  args.push_back(fun);
  return blocks_.emit_value(Op::kCallFun, std::move(args), loc);
}

}  // namespace vmrun::compile::lower
