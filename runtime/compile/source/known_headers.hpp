// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Header files for -include_lib that are part of the compiler: those in runtime/lib/include,
/// written for this project. Other header files come from an installed Erlang/OTP.
namespace vmrun::compile {

/// Returns the text of `name` ("kernel/include/file.hrl"), or an empty view without data when it is
/// not one of these.
std::string_view find_known_header(std::string_view name);

}  // namespace vmrun::compile
