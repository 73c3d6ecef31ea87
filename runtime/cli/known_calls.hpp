#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What a call of the library's modules comes to, for the compiler's warnings.
namespace vmrun::cli {

class CodeFinder;

/// "function lists:revers/1 undefined, did you mean lists:reverse/1?" of a call that will fail, if
/// there is a function whose name is like it; else empty. A module that the program has itself
/// (finder) is not judged. Any thread.
std::string problem_of_call(const CodeFinder& finder, std::string_view module, std::string_view function,
                            std::uint32_t arity);

/// Whether a module of the library, or of built-in functions, has the function. Any thread.
bool library_has(std::string_view module, std::string_view function, std::uint32_t arity);

}  // namespace vmrun::cli
