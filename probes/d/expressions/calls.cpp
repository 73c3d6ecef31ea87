// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/calls.hpp"

#include <algorithm>

#include "probes/d/expressions/builtin_variables.hpp"
#include "probes/d/expressions/vocabulary.hpp"
#include "probes/d/script/action_table.hpp"
#include "probes/engine/operations.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {

using Kind = Node::Kind;

namespace {

std::string argument_of(const Node* call, std::size_t n) {
  return call->text + "( ) argument #" + std::to_string(n + 1);
}

/// Returns kSubroutineCount when there is no subroutine of this name.
unsigned subroutine_number(std::string_view name) {
  unsigned number = 0;
  while (number < kSubroutineCount && kSubroutines[number].name != name) number++;
  return number;
}

/// Gives the value that stands for the last argument when it is left out. Returns false when it may
/// not be left out.
bool default_argument(Subroutine which, std::int64_t& value) {
  switch (which) {
    case Subroutine::kStrtoll:
    case Subroutine::kLltostr: value = 10; return true;
    case Subroutine::kInetNtoa6:
    case Subroutine::kIndex: value = 0; return true;
    case Subroutine::kSubstr:
    case Subroutine::kRindex: value = INT64_MAX; return true;
    default: return false;
  }
}

TypeId result_type(Subroutine which) {
  switch (which) {
    case Subroutine::kStrlen: return kUnsignedLong;
    case Subroutine::kHtons:
    case Subroutine::kNtohs: return kUnsignedShort;
    case Subroutine::kHtonl:
    case Subroutine::kNtohl: return kUint32;
    case Subroutine::kHtonll:
    case Subroutine::kNtohll: return kUint64;
    case Subroutine::kCopyinto: return kVoid;
    case Subroutine::kTerm2int:
    case Subroutine::kStrtoll: return kInt64;
    default: break;
  }
  switch (kSubroutines[static_cast<unsigned>(which)].result) {
    case ParameterType::kTerm: return kTermType;
    case ParameterType::kString: return kString;
    case ParameterType::kBytes: return kVoidPointer;
    default: return kInt;
  }
}

}  // namespace

void need_arguments(const Node* call, std::size_t least, std::size_t most, const char* tag) {
  const std::size_t given = call->children.size();
  if (given >= least && given <= most) return;
  fail(call->place, tag,
       call->text + "( ) prototype mismatch: " + std::to_string(given) + " args passed, " +
           (least == most   ? ""
            : given < least ? "at least "
                            : "at most ") +
           std::to_string(given < least ? least : most) + " expected");
}

/// Calls for which the compiler makes code itself.
struct Calls::Own {
  std::string_view name;
  std::size_t least, most;
  void (Calls::*check)(Node*& n);
};
constexpr Calls::Own Calls::kOwn[] = {
    {"copyinstr", 1, 2, &Calls::copyinstr}, {"speculation", 0, 0, &Calls::speculation},
    {"alloca", 1, 1, &Calls::allocate},     {"bcopy", 3, 3, &Calls::bcopy},
    {"term2str", 1, 1, &Calls::term2str},   {"copyin", 2, 2, &Calls::copyin},
    {"copyinto", 3, 3, &Calls::copyin},     {"element", 2, 2, &Calls::element},
    {"map_get", 2, 2, &Calls::map_key},     {"is_map_key", 2, 2, &Calls::map_key}};

const Calls::Own* Calls::own(std::string_view name) {
  const Own* row = std::ranges::find(kOwn, name, &Own::name);
  return row == std::end(kOwn) ? nullptr : row;
}

bool is_function(std::string_view name) {
  return Calls::own(name) != nullptr || subroutine_number(name) != kSubroutineCount;
}

bool is_unknown_function(std::string_view name) {
  return !is_function(name) && !is_action(name) && !is_aggregating(name) && why_refused(name).empty();
}

std::string function_hint(const Node* call, bool is_statement) {
  if (is_builtin_variable(call->text)) return ": " + call->text + " is a variable, which stands without ( )";
  const std::size_t given = call->children.size();
  NearName near(call->text);
  for (const Calls::Own& row : Calls::kOwn)
    if (given >= row.least && given <= row.most) near.offer(row.name);
  for (unsigned number = 0; number < kSubroutineCount; number++) {
    std::int64_t left_out;
    const std::size_t most = kSubroutines[number].parameter_count;
    const bool may_leave_out = default_argument(static_cast<Subroutine>(number), left_out);
    if (Calls::own(kSubroutines[number].name) == nullptr && given <= most && given + may_leave_out >= most)
      near.offer(kSubroutines[number].name);
  }
  if (is_statement)
    for (const ActionRow& row : kActions)
      if (given >= row.fewest) near.offer(row.name);
  if (!near.found().empty()) return did_you_mean(near.found());
  const std::string_view aggregating = is_statement ? aggregating_like(call->text) : "";
  return aggregating.empty() ? "" : did_you_mean("@ = " + std::string(aggregating) + "( )");
}

void Calls::begin(const Node* n, bool is_variable) const {
  const std::string& name = n->text;
  if (const std::string_view why = why_refused(name); !why.empty())
    fail(n->place, "D_FUNC_UNDEF", name + "( ) is not available: " + std::string(why));
  if (const ActionRow* row = find_action(name)) return need_arguments(n, row->fewest, 64);
  if (is_aggregating(name)) fail(n->place, "D_CG_EXPR", name + "( ) may only be assigned to an aggregation");
  if (const Own* row = own(name)) return need_arguments(n, row->least, row->most);
  const unsigned number = subroutine_number(name);
  if (number == kSubroutineCount && is_variable) fail(n->place, "D_FUNC_IDKIND", name + " is not a function");
  if (number == kSubroutineCount)
    fail(n->place, "D_FUNC_UNDEF", "undefined function name: " + name + function_hint(n, false));
  std::int64_t left_out;
  const std::size_t most = kSubroutines[number].parameter_count;
  need_arguments(n, most - (default_argument(static_cast<Subroutine>(number), left_out) ? 1 : 0), most);
}

void Calls::check(Node*& n) {
  if (is_action(n->text)) {
    n->type = kVoid;
    return;
  }
  if (const Own* row = own(n->text)) return (this->*row->check)(n);
  const unsigned number = subroutine_number(n->text);
  n->index = number;
  n->type = result_type(static_cast<Subroutine>(number));
  if (kSubroutines[number].of_term) of_term(n);
  else subroutine(n, number);
}

/// Returns the text of an argument of the probe when the source is one, else null.
Node* Calls::argument_text(const Node* source) {
  while (source->kind == Kind::kCast && types_.bytes(source->type) == 8) source = source->children[0];
  if (source->kind != Kind::kReference ||
      (source->where != Where::kArgument && source->where != Where::kArgumentText))
    return nullptr;
  Node* text = nodes_.clone(source, {});
  text->where = Where::kArgumentText;
  text->type = kString;
  return text;
}

/// Returns what copyinstr() and copyin() read: the text of an argument of the probe, or of a term.
/// A variable may hold a number instead, which is looked up at the firing.
Node* Calls::text_of(Node* source) {
  if (Node* text = argument_text(source)) return text;
  if (types_.is_term(source->type)) {
    conversions_.to_text(source);
    return source;
  }
  if (!types_.is_scalar(source->type))
    fail(source->place, "D_PROTO_ARG",
         "what is copied in must be an argument of the probe, argN or args[N], not of type " +
             nodes_.described(source));
  Node* lookup = nodes_.make(Kind::kCall, source->place);
  lookup->text = "copyinstr";
  lookup->children = {source};
  lookup->type = kString;
  lookup->checked = true;
  return lookup;
}

void Calls::copyinstr(Node*& n) {
  Node* text = text_of(n->children[0]);
  if (n->children.size() == 1) {
    n = text;
    return;
  }
  conversions_.need_integer(n->children[1], "D_PROTO_ARG", argument_of(n, 1));
  Node* length = n->children[1];
  n->text = "substr";
  n->index = static_cast<std::uint32_t>(Subroutine::kSubstr);
  n->children = {text, nodes_.integer(n->place, 0, kInt), length};
  n->type = kString;
}

/// Checks copyin() and copyinto().
void Calls::copyin(Node*& n) {
  n->children[0] = text_of(n->children[0]);
  n->index = subroutine_number(n->text);
  n->type = result_type(static_cast<Subroutine>(n->index));
  subroutine(n, n->index);
  if (n->children.size() == 3) need_memory(n, 2);
  else need_scratch(n, 1);
}

/// A constant size must not exceed the scratch memory of a clause.
void Calls::need_scratch(const Node* n, std::size_t i) {
  const Node* bytes = n->children[i];
  if (bytes->kind == Kind::kInteger && bytes->value > options_.scratchsize)
    fail(n->place, "D_ALLOCA_SIZE",
         n->text + "( ) of " + std::to_string(bytes->value) + " bytes: scratchsize is " +
             std::to_string(options_.scratchsize));
}

/// A text is a value, so nothing may be copied into it.
void Calls::need_memory(const Node* n, std::size_t i) {
  const Node* to = n->children[i];
  if (types_.is_string(to->type))
    fail(to->place, "D_PROTO_ARG",
         argument_of(n, i) + " must be memory, an array or what alloca( ) gives, not of type " +
             nodes_.described(to));
}

/// The arguments may have Erlang's order too: element(2, targs[0]).
void Calls::element(Node*& n) {
  if (!types_.is_term(n->children[0]->type) && types_.is_term(n->children[1]->type))
    std::swap(n->children[0], n->children[1]);
  n->index = subroutine_number(n->text);
  n->type = kTermType;
  of_term(n);
}

/// Checks map_get() and is_map_key().
void Calls::map_key(Node*& n) {
  Node *&key = n->children[0], *map = n->children[1];
  if (!types_.is_term(map->type))
    fail(n->place, "D_PROTO_ARG",
         argument_of(n, 1) + " must be a term, as targs[0], not " + nodes_.described(map));
  if (types_.is_term(key->type) || (!types_.is_integer(key->type) && !conversions_.to_text(key)))
    fail(n->place, "D_PROTO_ARG", argument_of(n, 0) + " must be an integer, or a string: an atom or binary");
  n->type = n->text == "map_get" ? TypeId{kTermType} : TypeId{kInt};
}

void Calls::speculation(Node*& n) { n->type = kInt; }

void Calls::allocate(Node*& n) {
  conversions_.need_integer(n->children[0], "D_PROTO_ARG", argument_of(n, 0));
  need_scratch(n, 0);
  n->type = kVoidPointer;
}

void Calls::bcopy(Node*& n) {
  for (std::size_t i = 0; i < 2; i++) {
    const TypeId type = n->children[i]->type;
    if (!types_.is_pointer(type) && !types_.is_by_reference(type))
      fail(n->place, "D_PROTO_ARG", argument_of(n, i) + " must be a pointer");
  }
  need_memory(n, 1);
  conversions_.need_integer(n->children[2], "D_PROTO_ARG", argument_of(n, 2));
  n->type = kVoid;
}

void Calls::term2str(Node*& n) {
  if (!types_.is_term(n->children[0]->type))
    fail(n->place, "D_PROTO_ARG", argument_of(n, 0) + " must be a term, as targs[0]");
  n->type = kString;
}

void Calls::subroutine(Node* n, unsigned number) {
  const SubroutineInfo& info = kSubroutines[number];
  const auto which = static_cast<Subroutine>(number);
  for (std::size_t i = 0; i < n->children.size(); i++) {
    Node*& argument = n->children[i];
    if (info.parameters[i] == ParameterType::kString) {
      const bool is_null = argument->kind == Kind::kInteger && argument->value == 0;
      if (!is_null) conversions_.need_text(argument, "D_PROTO_ARG", argument_of(n, i));
    } else if (info.parameters[i] == ParameterType::kBytes) {
      if (!types_.is_pointer(argument->type) && !types_.is_by_reference(argument->type))
        fail(argument->place, "D_PROTO_ARG",
             argument_of(n, i) + " must be a pointer, not of type " + nodes_.described(argument));
    } else {
      conversions_.need_integer(argument, "D_PROTO_ARG", argument_of(n, i));
    }
  }
  if (which == Subroutine::kInetNtoa6) address_of_ipv6(n);
  std::int64_t left_out;
  if (n->children.size() < info.parameter_count && default_argument(which, left_out))
    n->children.push_back(nodes_.integer(n->place, static_cast<std::uint64_t>(left_out), kInt64));
}

/// The address is 16 bytes in a structure, as in the system's headers. The notation must be known
/// when the script is compiled.
void Calls::address_of_ipv6(const Node* n) {
  const Node* from = n->children[0];
  const TypeId type = types_.is_pointer(from->type) ? types_.base(from->type).element : from->type;
  if (!types_.is_struct(type) || types_.bytes(type) != 16)
    fail(from->place, "D_PROTO_ARG",
         argument_of(n, 0) + " must be a struct in6_addr *, not of type " + nodes_.described(from));
  if (n->children.size() > 1 && n->children[1]->kind != Kind::kInteger)
    fail(n->children[1]->place, "D_PROTO_ARG", argument_of(n, 1) + " must be a constant");
}

void Calls::of_term(Node* n) {
  if (!types_.is_term(n->children[0]->type))
    fail(n->place, "D_PROTO_ARG",
         argument_of(n, 0) + " must be a term, as targs[0], not " + nodes_.described(n->children[0]));
  if (n->children.size() > 1) conversions_.need_integer(n->children[1], "D_PROTO_ARG", argument_of(n, 1));
}

}  // namespace vmrun::d::lang
