#pragma once

#include <vector>

#include "vm/process/process.hpp"

/// Match specifications: [{Head, Guards, Body}], interpreted over the terms of the specification
/// itself. Patterns match exactly (=:=); a map in a pattern matches maps that have its keys. Guards
/// and bodies call the guard BIFs of module erlang through the export table, so there is one
/// implementation of each. The process's own thread; the specification and the object must stay
/// where they are while a MatchSpec is in use. Spec: "Match Specifications in Erlang" of the ERTS
/// user's guide.
namespace vmrun::ets {

class MatchSpec {
 public:
  /// What match and match_object do: one clause without guards.
  enum class Result { kBody, kObject, kBindings };
  MatchSpec(Process& p, Term pattern, Result result);
  /// A whole specification; valid() tells whether it is one.
  MatchSpec(Process& p, Term specification);
  bool valid() const { return valid_; }

  /// The result for an object, or kNonValue if no clause matches. The result may point into the
  /// object; copy it before that goes.
  Term run(Term object);
  /// Whether the result is the object itself, as it is.
  bool gives_object() const { return clauses_.size() == 1 && clauses_[0].result == Result::kObject; }

  /// The key every matching object has (an object of arity `keypos` or more), if all clauses ask
  /// for the same one and it contains no variable; else kNonValue.
  Term bound_key(Word keypos) const;

 private:
  struct Clause {
    Term head, guards, body;
    Result result;
  };
  bool check_clause(Clause& c);
  bool note_variables(Term pattern);
  bool check_expression(Term e, int depth) const;
  bool matches(Term pattern, Term value);
  bool guards_hold(Term guards);
  Term evaluate(Term e);
  Term evaluate_call(Term e);
  Term evaluate_list(Term e);
  Term evaluate_tuple(Term e);
  Term evaluate_map(Term e);
  Term all_bindings();
  Term* binding(Word number);

  Process& p_;
  bool valid_ = true;
  std::vector<Clause> clauses_;
  Term object_;
  // '$N' of the clause at hand: numbers are sparse, so a sorted list of pairs.
  struct Binding {
    Word number;
    Term value;
  };
  std::vector<Binding> bindings_;
  std::vector<Word> numbers_;  // scratch of note_variables
};

/// N of '$N', or -1.
SWord variable_number(Term atom);

}  // namespace vmrun::ets
