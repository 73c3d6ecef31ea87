// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vm/term/term.hpp"

/// Constants of a program as text that Erlang can read again. (Other texts of terms are for people:
/// they do not quote reserved words, and cut long terms.) Any thread.
namespace vmrun::compile {

/// Returns an atom, quoted if necessary.
std::string atom_source(Term atom);

/// Appends any term that may be a literal: all but pids, ports, references and local funs.
void append_term_source(std::string& out, Term t);

}  // namespace vmrun::compile
