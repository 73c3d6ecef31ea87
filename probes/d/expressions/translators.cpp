// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/translators.hpp"

#include <algorithm>

namespace vmrun::d::lang {

void Translators::declare(Place place, TypeId to, TypeId from, const std::string& variable,
                          std::vector<Listener::Member> members) {
  if (!types_.is_struct(to) || !types_.base(to).complete)
    fail(place, "D_XLATE_SOU", "a translator makes a struct or union, not \"" + types_.name(to) + '"');
  for (const Translator& t : translators_)
    if (types_.same(t.to, to) && types_.same(t.from, from))
      fail(place, "D_XLATE_REDECL",
           "translator from \"" + types_.name(from) + "\" to \"" + types_.name(to) + "\" is declared twice");
  for (const Listener::Member& member : members) {
    FoundMember found;
    if (!find_member(types_, to, member.name, found))
      fail(member.place, "D_XLATE_MEMB",
           "translator member " + member.name + " is not a member of " + types_.name(to) +
               member_hint(types_, to, member.name));
  }
  translators_.push_back({to, from, variable, std::move(members)});
}

bool Translators::takes(const Translator& t, TypeId from) const {
  return types_.same(t.from, from) || (types_.is_integer(t.from) && types_.is_integer(from)) ||
         (types_.is_text(t.from) && types_.is_text(from));
}

Node* Translators::member(const Node* n, Node* xlate, TypeId& type) {
  TypeId to = xlate->type;
  if (types_.is_pointer(to)) to = types_.base(to).element;
  if (!types_.is_struct(to))
    fail(n->place, "D_XLATE_SOU", "xlate requires a struct or union type, or a pointer to one");
  Node* from = xlate->children[0];
  for (const Translator& t : translators_) {
    if (!types_.same(t.to, to) || !takes(t, from->type)) continue;
    const auto member = std::ranges::find(t.members, n->text, &Listener::Member::name);
    if (member == t.members.end())
      fail(n->place, "D_XLATE_NOCONV", "translator does not define conversion for member: " + n->text);
    FoundMember found;
    find_member(types_, to, member->name, found);
    type = found.type;
    return nodes_.clone(member->value, {{t.variable, from}});
  }
  fail(n->place, "D_XLATE_NONE",
       "cannot translate from " + nodes_.described(from) + " to \"" + types_.name(to) + '"');
}

}  // namespace vmrun::d::lang
