#pragma once

#include <string_view>

/// Header files that programs ask for by -include_lib and that are part of the compiler: those in
/// runtime/lib/include, written for this project. Others come from an installed Erlang/OTP.
namespace vmrun::compile {

/// The text of `name` ("kernel/include/file.hrl"); no data when it is not one of these.
std::string_view find_known_header(std::string_view name);

}  // namespace vmrun::compile
