#include "probes/d/format.hpp"

#include <cstring>

namespace vmrun::d::lang {

ConversionType type_of(char conversion) {
  switch (conversion) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
    case 'D':
    case 'O':
    case 'U': return ConversionType::kInteger;
    case 's':
    case 'S': return ConversionType::kText;
    case 'c':
    case 'C': return ConversionType::kCharacter;
    case 'p':
    case 'a':
    case 'A': return ConversionType::kAddress;
    case 'Y':
    case 'T': return ConversionType::kTime;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G': return ConversionType::kFloat;
    case 'k': return ConversionType::kStack;
    default: return ConversionType::kUnknown;
  }
}

std::vector<Conversion> parse_format(std::string_view format, Place place) {
  std::vector<Conversion> out;
  for (std::size_t i = 0; i < format.size();) {
    if (format[i++] != '%') continue;
    const auto look = [&] { return i < format.size() ? format[i] : '\0'; };
    const auto in = [&](const char* set) { return look() != '\0' && std::strchr(set, look()) != nullptr; };
    const auto digits = [&] {
      while (in("0123456789")) i++;
    };
    if (look() == '%') {
      i++;
      continue;
    }
    Conversion c;
    while (in("-+ #0'?@")) c.aggregation = format[i++] == '@' || c.aggregation;
    if (look() == '*') {
      c.star_width = true;
      i++;
    }
    digits();
    if (look() == '.') {
      i++;
      if (look() == '*') {
        c.star_precision = true;
        i++;
      }
      digits();
    }
    while (in("@")) c.aggregation = format[i++] == '@';
    while (in("hlLjztwq")) i++;
    if (i >= format.size()) fail(place, "D_SYNTAX", "format ends inside a conversion");
    c.what = format[i++];
    if (type_of(c.what) == ConversionType::kUnknown)
      fail(place, "D_SYNTAX", std::string("unknown conversion in format: %") + c.what);
    out.push_back(c);
  }
  return out;
}

}  // namespace vmrun::d::lang
