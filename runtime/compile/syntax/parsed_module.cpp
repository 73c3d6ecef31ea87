// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/syntax/parsed_module.hpp"

#include "runtime/compile/syntax/parser.hpp"

namespace vmrun::compile {

ParsedModule parse_module(Session& session, const PreprocessorOptions& options, std::uint32_t file) {
  ParsedModule module;
  Preprocessor preprocessor(session, options, file);
  std::vector<Token> tokens;
  while (preprocessor.next_form(tokens)) {
    if (options.expressions && tokens.back().kind == Tok::kEof) tokens.back().text = "end of the expressions";
    Parser parser(session, tokens);
    if (options.expressions && !module.forms.empty()) {
      session.diagnostics.error(tokens[0].loc, "expected the end: expressions are separated by ','");
      break;
    }
    const Form* form =
        options.expressions ? parser.parse_body_of(session.names.intern("main")) : parser.parse_form();
    if (!form) {
      module.unread.note(tokens);
      continue;
    }
    if (form->kind == FormKind::kAttribute) {
      const auto& attribute = form->as<AttributeForm>();
      bool names_module =
          attribute.name == "module" && !attribute.values.empty() && attribute.values[0]->is(ExprKind::kAtom);
      if (names_module && module.name.empty()) {
        module.name = attribute.values[0]->as<AtomExpr>().name;
        module.name_loc = form->loc;
      }
    }
    module.forms.push_back(form);
  }
  module.end = preprocessor.end_loc();
  if (options.expressions && module.forms.empty() && !session.diagnostics.has_errors())
    session.diagnostics.error({file, 1, 1}, "unexpected end of the expressions: expected an expression");
  const Unread& unread = preprocessor.unread();
  module.unread.names.insert(unread.names.begin(), unread.names.end());
  module.unread.text = unread.text;
  if (module.name.empty()) module.name = session.names.intern(options.default_module);
  return module;
}

std::string preprocess_to_text(Session& session, const PreprocessorOptions& options, std::uint32_t file) {
  std::string out;
  Preprocessor preprocessor(session, options, file);
  std::vector<Token> tokens;
  while (preprocessor.next_form(tokens)) {
    std::uint32_t line = tokens.empty() ? 0 : tokens[0].loc.line;
    bool first = true;
    for (const Token& t : tokens) {
      if (t.kind == Tok::kEof) break;
      if (t.loc.line > line) out += "\n  ";
      else if (!first && t.kind != Tok::kDot && t.kind != Tok::kComma) out += ' ';
      line = t.loc.line;
      first = false;
      out += token_source(t);
    }
    out += "\n";
  }
  return out;
}

}  // namespace vmrun::compile
