#pragma once

#include <string_view>

/// Header files of a stock system that programs ask for by -include_lib and that are part of the
/// compiler, as there is no library folder: records that functions of the library answer.
namespace vmrun::compile {

/// The text of `name` ("kernel/include/file.hrl"); no data when it is not one of these.
std::string_view find_known_header(std::string_view name);

}  // namespace vmrun::compile
