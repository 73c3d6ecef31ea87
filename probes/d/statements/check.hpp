// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/descriptions/match.hpp"
#include "probes/d/statements/actions.hpp"
#include "probes/d/syntax/d_parser.hpp"

/// The third pass. It finds out what names mean and what types expressions have, and whether
/// statements make sense. It listens to the parser, rewrites trees (constants are computed, inlines
/// and translators put in) and fills in the tables of the script. It keeps the clauses from which
/// emit makes code. Declarations and clauses are checked here. The members below check their parts;
/// each member knows those above it.
namespace vmrun::d::lang {

struct CheckedClause {
  ClauseTree tree;
  Matched matched;
  bool records = false;  // it makes records of its own
};

class Checker : public Listener {
 public:
  Checker(Tree& tree, Types& types, Script& script, const CompileOptions& options, LaterVariables& later,
          Failures& failures)
      : types_(types),
        script_(script),
        options_(options),
        later_(later),
        failures_(failures),
        nodes_(tree, types) {}

  void begin_source(Source::Kind kind) { source_kind_ = kind; }
  std::vector<CheckedClause>& clauses() { return clauses_; }
  const Symbols& symbols() const { return symbols_; }

  std::int64_t constant(Node* expression, const char* tag) override;
  void enumerator(Place place, const std::string& name, std::int64_t value) override;
  void variable(const Declared& declared) override;
  void inlined(const Declared& declared, const std::vector<std::string>& parameters, Node* value) override;
  void translator(Place place, TypeId to, TypeId from, const std::string& variable,
                  std::vector<Member> members) override;
  void clause(ClauseTree clause) override;

 private:
  ClauseInfo match_descriptions(CheckedClause& clause);
  void match_description(CheckedClause& clause, std::size_t i, ClauseInfo& info);
  void predicate(Node*& n);
  void statements(std::vector<Statement>& list);
  void statement(Statement& s);
  void if_statement(Statement& s);
  /// Excuses the names that a wrong statement assigns.
  void excuse_assigned(const Node* n);

  Types& types_;
  Script& script_;
  const CompileOptions& options_;
  LaterVariables& later_;
  Failures& failures_;
  Source::Kind source_kind_ = Source::Kind::kFile;
  std::vector<CheckedClause> clauses_;

  Nodes nodes_;
  ProbeArguments arguments_;
  Conversions conversions_{nodes_, types_, arguments_};
  Symbols symbols_{types_, script_.program, later_};
  Translators translators_{types_, nodes_};
  Operators operators_{types_, nodes_, conversions_, symbols_};
  Calls calls_{types_, nodes_, conversions_, script_.program.options};
  Expressions expressions_{types_,     nodes_, conversions_, symbols_, translators_,
                           operators_, calls_, arguments_,   failures_};
  Fields fields_{types_, nodes_, conversions_, expressions_};
  Formatted formatted_{types_, nodes_, conversions_, expressions_, fields_};
  Aggregations aggregations_{types_, nodes_, conversions_, expressions_, fields_, script_, failures_};
  Actions actions_{types_, nodes_, conversions_, expressions_, fields_, formatted_, aggregations_, script_};
};

}  // namespace vmrun::d::lang
