#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/d/script/script.hpp"

/// The D language: texts to a Script. No state is kept: any thread may compile.
namespace vmrun::d {

/// Null and at least one error, or a script. Never throws, whatever the bytes are.
std::unique_ptr<Script> compile(const std::vector<Source>& sources, const CompileOptions& options,
                                std::vector<CompileError>& errors);

/// As dtrace says it: `file: line N: text`, with [D_TAG] in front of the text when tags are wanted.
std::string to_text(const CompileError& error, bool with_tag);

/// Of a description that matches nothing: D_PDESC_ZERO.
CompileError no_match(const Script& script, const ClauseInfo& clause, const ClauseInfo::Matched& matched);

}  // namespace vmrun::d
