// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/d/script/script.hpp"

/// The D language: it compiles texts to a Script. No state is kept, so any thread may compile.
namespace vmrun::d {

/// Returns a script, or null and what is wrong, at least one error, in the order of the texts. It
/// never throws, whatever the bytes are.
std::unique_ptr<Script> compile(const std::vector<Source>& sources, const CompileOptions& options,
                                std::vector<CompileError>& errors);

/// Writes an error as dtrace does: `file: line N: text`, with [D_TAG] in front of the text when
/// tags are wanted.
std::string to_text(const CompileError& error, bool with_tag);

/// Returns the error for a description that matches nothing: D_PDESC_ZERO. sources: those of the
/// script.
CompileError no_match(const Script& script, const ClauseInfo& clause, const ClauseInfo::Matched& matched,
                      const std::vector<Source>& sources);

/// Returns why it matches nothing, with its punctuation, for the end of a message; it may be empty.
std::string no_match_reason(const ClauseInfo::Matched& matched);

}  // namespace vmrun::d
