// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/d/syntax/failure.hpp"

/// Formats of printf and printa, as far as the compiler needs them: the arguments they take.
namespace vmrun::d::lang {

struct Conversion {
  bool star_width = false, star_precision = false;  // an int argument comes before the value
  bool aggregation = false;                         // %@d
  char what = 'd';
};

/// Returns the conversions that take arguments, in their order (%% takes none). Fails with D_SYNTAX
/// when D does not know a conversion of the format.
std::vector<Conversion> parse_format(std::string_view format, Place place);

enum class ConversionType { kInteger, kText, kCharacter, kAddress, kTime, kFloat, kStack, kUnknown };
ConversionType type_of(char conversion);

}  // namespace vmrun::d::lang
