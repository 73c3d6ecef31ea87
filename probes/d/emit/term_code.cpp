// SPDX-License-Identifier: Apache-2.0
#include "probes/d/emit/term_code.hpp"

namespace vmrun::d::lang {

void Terms::map_value(const Node* n, unsigned t) {
  const Node *key = n->children[0], *map = n->children[1];
  const unsigned mark = code_.free(), r = evaluator_.value(key);
  term(map);
  code_.put(types_.is_integer(key->type) ? Operation::kTgeti : Operation::kTgets, t, t, r);
  code_.free_from(mark);
  code_.free_terms_from(t + 1);
}

void Terms::part(const Node* n, unsigned t) {
  term(n->children[0]);
  const unsigned mark = code_.free();
  const bool has_index = n->children.size() > 1;
  const unsigned which = has_index ? evaluator_.value(n->children[1]) : code_.take();
  if (!has_index) code_.number(which, 0);
  code_.put(Operation::kTcall, t, t, which, n->index);
  code_.free_from(mark);
}

unsigned Terms::term(const Node* n) {
  code_.at(n->place);
  const unsigned t = code_.take_term();
  if (n->is_reference(Where::kTerm)) {
    code_.put(Operation::kTarg, t, 0, 0, n->index);
    return t;
  }
  if (n->is_reference(Where::kBuiltin)) {
    code_.put(Operation::kTbuiltin, t, 0, 0, n->index);
    return t;
  }
  if (n->kind != Node::Kind::kCall)
    fail(n->place, "D_OP_DYN", "a term can only be an argument, or a part of one");
  code_.free_terms_from(t);
  if (n->text == "map_get") map_value(n, t);
  else part(n, t);
  return t;
}

}  // namespace vmrun::d::lang
