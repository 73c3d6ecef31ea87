// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint_types.hpp"

#include "runtime/compile/check/meant.hpp"

namespace vmrun::compile {

namespace {

/// The parameters of a type in a message.
std::string holes(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "_" : ",_";
  return text;
}

/// Whether these are integers and the second is not the smaller one, as far as that is known.
bool ascends(const TypeNumber& low, const TypeNumber& high) {
  if (low.kind == TypeNumber::kNone || high.kind == TypeNumber::kNone) return false;
  if (low.kind == TypeNumber::kLarge || high.kind == TypeNumber::kLarge) return true;
  return low.value <= high.value;
}

}  // namespace

void TypeLinter::run() {
  for (const TypeForm* t : c_.tables.types) {
    FunctionName name{t->name, static_cast<std::uint32_t>(t->params.size())};
    if (!defined_types_.emplace(name, t->loc).second)
      c_.error(t->loc, format_message("type %s(%s) already defined", quote_atom(t->name).c_str(),
                                      holes(t->params.size()).c_str()));
    else if (is_builtin_type(name.name, name.arity) &&
             (name.name == "any" || name.name == "none" || name.name == "term"))
      c_.error(t->loc, format_message("type %s/%u is a builtin type; it cannot be redefined",
                                      quote_atom(t->name).c_str(), name.arity));
  }
  for (const TypeForm* t : c_.tables.types) {
    Seen vars;
    for (const TypeExpr* p : t->params) type(*p, &vars);
    type(*t->definition, &vars);
    type_variables(vars);
  }
  for (const Form* f : c_.module.forms)
    if (f->kind == FormKind::kRecord)
      for (const RecordFieldDef& field : f->as<RecordForm>().fields)
        if (field.type) {
          Seen vars;
          type(*field.type, &vars);
          type_variables(vars);
        }
  std::unordered_set<FunctionName, FunctionNameHash> specified;
  for (const std::vector<const SpecForm*>* list : {&c_.tables.specs, &c_.tables.callbacks}) {
    const bool specs = list == &c_.tables.specs;
    if (!specs) specified.clear();
    for (const SpecForm* s : *list) {
      FunctionName name{s->name, s->arity};
      const bool here = s->module.empty() || (specs && s->module == c_.tables.name);
      if (!here)
        c_.error(s->loc,
                 format_message(specs ? "spec for function %s:%s/%u from other module"
                                      : "explicit module not allowed for callback %s:%s/%u",
                                quote_atom(s->module).c_str(), quote_atom(s->name).c_str(), s->arity));
      if (here && !specified.insert(name).second)
        c_.error(s->loc, format_message("%s for %s/%u already defined", specs ? "spec" : "callback",
                                        quote_atom(s->name).c_str(), s->arity));
      if (specs && here && !c_.tables.functions.count(name))
        c_.error(s->loc, format_message("spec for undefined function %s/%u%s", quote_atom(s->name).c_str(),
                                        s->arity, meant_function(c_.tables, name, Callable::kOwn).c_str()));
      for (const TypeExpr* signature : s->signatures) {
        Seen vars;
        for (const TypeExpr* part : signature->args) type(*part, &vars);
        type_variables(vars);
      }
    }
  }
  for (const NamedFunction& e : c_.tables.exported_types) {
    used_types_.insert(e.name);
    if (!defined_types_.count(e.name))
      c_.error(e.loc, format_message("type %s/%u undefined%s", quote_atom(e.name.name).c_str(), e.name.arity,
                                     meant_type(c_.tables, e.name).c_str()));
  }
  if (!c_.enabled("nowarn_unused_type") || c_.tables.export_all) return;
  for (const TypeForm* t : c_.tables.types) {
    FunctionName name{t->name, static_cast<std::uint32_t>(t->params.size())};
    if (used_types_.count(name) || !c_.in_main_file(t->loc)) continue;
    c_.warning(t->loc, format_message("type %s(%s) is unused", quote_atom(t->name).c_str(),
                                      holes(t->params.size()).c_str()));
  }
}

void TypeLinter::type(const TypeExpr& t, Seen* vars) {
  switch (t.kind) {
    case TypeKind::kVar:
      if (t.name != "_") {
        auto [it, fresh] = vars->try_emplace(t.name, t.loc, 0);
        ++it->second.second;
      }
      return;
    case TypeKind::kAnnotated:
      type(*t.args[1], vars);  // the variable is only a comment
      return;
    case TypeKind::kLiteral:
      if (t.computed && t.number.kind == TypeNumber::kNone) c_.error(t.loc, "bad integer type");
      return;
    case TypeKind::kRange:
      if (!ascends(t.args[0]->number, t.args[1]->number)) c_.error(t.loc, "bad range type");
      return;
    case TypeKind::kBinary:
      for (const TypeExpr* part : t.args)
        if (!ascends(TypeNumber{TypeNumber::kKnown}, part->number)) return c_.error(t.loc, "bad binary type");
      return;
    case TypeKind::kCall: {
      FunctionName name{t.name, static_cast<std::uint32_t>(t.args.size())};
      if (defined_types_.count(name)) {
        used_types_.insert(name);
      } else if (!is_builtin_type(name.name, name.arity) && !(name.name == "record" && name.arity > 0)) {
        c_.error(t.loc, format_message("type %s(%s) undefined%s", quote_atom(t.name).c_str(),
                                       holes(t.args.size()).c_str(), meant_type(c_.tables, name).c_str()));
      }
      break;
    }
    case TypeKind::kRecord: {
      const RecordName::Kind named = t.module.empty() ? RecordName::kPlain : RecordName::kRemote;
      const RecordMeaning meaning = c_.tables.meaning(RecordName{named, t.module, t.name});
      if (meaning.is_native() && !t.args.empty())
        c_.error(t.loc, "native records do not allow special field types");
      if (meaning.kind == RecordMeaning::kExternal) break;
      const auto it = c_.tables.records.find(t.name);
      if (it == c_.tables.records.end()) {
        c_.error(t.loc, format_message("record %s undefined%s", quote_atom(t.name).c_str(),
                                       meant_record(c_.tables, t.name).c_str()));
        break;
      }
      it->second.used = true;
      if (meaning.is_native()) break;
      for (const TypeExpr* f : t.args) c_.record_field(it->second, f->name, f->loc);
      break;
    }
    default: break;
  }
  for (const TypeExpr* a : t.args) type(*a, vars);
}

void TypeLinter::type_variables(const Seen& vars) {
  for (auto& [name, seen] : vars)
    if (seen.second == 1 && !name.starts_with('_'))
      c_.error(seen.first, format_message("type variable '%.*s' is only used once (is unbound)", VIEW(name)));
}

}  // namespace vmrun::compile
