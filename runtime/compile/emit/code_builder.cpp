// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/code_builder.hpp"

#include <bit>

namespace vmrun::compile {

std::uint32_t CodeBuilder::import(Term module, Term name, std::uint32_t arity) {
  const std::uint64_t key = (module.raw() >> 6) << 40 ^ (name.raw() >> 6) << 12 ^ arity;
  auto [it, fresh] = imports_.try_emplace(key, static_cast<std::uint32_t>(code_.imports.size()));
  if (fresh) code_.imports.push_back({module, name, arity});
  return it->second;
}

std::uint32_t CodeBuilder::line(Loc loc) {
  auto [it, fresh] = lines_.try_emplace(std::uint64_t{loc.file} << 32 | loc.line,
                                        static_cast<std::uint32_t>(code_.lines.size() + 1));
  if (fresh) code_.lines.push_back({loc.file, loc.line});
  return it->second;
}

std::uint32_t CodeBuilder::type(const ir::Type& t) {
  namespace kind = ir::kind;
  // The file format has unions, but for unrelated kinds like a pid and a map only "any", and also
  // for native records.
  constexpr std::uint16_t kOthers =
      kind::kBitstring | kind::kFun | kind::kMap | kind::kPid | kind::kPort | kind::kReference;
  constexpr std::uint16_t kAnyInFile = kind::kAny & ~kind::kRecord;
  if (t.may_be(kind::kRecord) || t.kinds == 0 || std::popcount(static_cast<unsigned>(t.kinds & kOthers)) > 1)
    return 0;
  const bool ranged = t.may_be(kind::kInteger) && t.bounded();
  const std::int64_t low = ranged ? t.low : 0, high = ranged ? t.high : -1;
  if (code_.types.empty()) code_.types.push_back({kAnyInFile, 0, -1});
  auto [it, fresh] = types_.try_emplace({t.kinds, low, high}, static_cast<std::uint32_t>(code_.types.size()));
  if (fresh) code_.types.push_back({t.kinds, low, high});
  return it->second;
}

std::uint32_t CodeBuilder::string(std::span<const std::uint8_t> bytes) {
  auto at = static_cast<std::uint32_t>(code_.strings.size());
  code_.strings.insert(code_.strings.end(), bytes.begin(), bytes.end());
  return at;
}

}  // namespace vmrun::compile
