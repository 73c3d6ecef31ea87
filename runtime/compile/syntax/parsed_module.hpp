// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/compile/source/compile_session.hpp"
#include "runtime/compile/syntax/ast.hpp"
#include "runtime/compile/syntax/preprocessor.hpp"

/// A parsed module: its forms, sorted by kind. Made by parse_module, read by lint and lowering.
/// Owned by one compilation; one thread at a time.
namespace vmrun::compile {

struct ParsedModule {
  std::string_view name;
  Loc name_loc;
  std::vector<const Form*> forms;  // all of them, in source order
  Loc end;
  Unread unread;  // forms that are missing here
};

/// Parses all forms of a registered source text. Errors go to the session's diagnostics; the forms
/// that could be parsed are returned in any case.
ParsedModule parse_module(Session& session, const PreprocessorOptions& options, std::uint32_t file);

/// Returns the text after preprocessing, one form per line group (`vmrunc -E`).
std::string preprocess_to_text(Session& session, const PreprocessorOptions& options, std::uint32_t file);

}  // namespace vmrun::compile
