#pragma once
// Constants of a program as Erlang reads them again. (Other texts of terms are for people: they
// leave reserved words unquoted and cut what is long.) Any thread.

#include <string>

#include "vm/term/term.hpp"

namespace vmrun::compile {

/// An atom, quoted if need be.
std::string atom_source(Term atom);

/// Appends any term that may be a literal: all but pids, ports, references and local funs.
void append_term_source(std::string& out, Term t);

}  // namespace vmrun::compile
