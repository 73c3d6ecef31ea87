// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Checks calls of the library's modules, for the compiler's warnings.
namespace vmrun::cli {

class CodeFinder;

/// For a call that will fail returns "function lists:revers/1 undefined, did you mean
/// lists:reverse/1?", if a function has a similar name; else "". Modules of the program itself
/// (finder) are not checked. Any thread.
std::string problem_of_call(const CodeFinder& finder, std::string_view module, std::string_view function,
                            std::uint32_t arity);

/// Whether the module of the library, or of built-in functions, has the function. Any thread.
bool library_has(std::string_view module, std::string_view function, std::uint32_t arity);

}  // namespace vmrun::cli
