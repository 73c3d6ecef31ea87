#include "runtime/compile/ssa/bif_info.hpp"

#include <mutex>
#include <unordered_map>

#include "vm/term/atom.hpp"

namespace vmrun::compile::ssa {

namespace {

constexpr std::int8_t t(Test test) { return static_cast<std::int8_t>(test); }

BifInfo kBifs[] = {
    // name, arity, gc, safe, boolean, test, swapped
    {"<", 2, false, true, true, t(Test::kLt), false, {}},
    {">", 2, false, true, true, t(Test::kLt), true, {}},
    {"=<", 2, false, true, true, t(Test::kGe), true, {}},
    {">=", 2, false, true, true, t(Test::kGe), false, {}},
    {"==", 2, false, true, true, t(Test::kEq), false, {}},
    {"/=", 2, false, true, true, t(Test::kNe), false, {}},
    {"=:=", 2, false, true, true, t(Test::kEqExact), false, {}},
    {"=/=", 2, false, true, true, t(Test::kNeExact), false, {}},
    {"is_integer", 1, false, true, true, t(Test::kInteger), false, {}},
    {"is_float", 1, false, true, true, t(Test::kFloat), false, {}},
    {"is_number", 1, false, true, true, t(Test::kNumber), false, {}},
    {"is_atom", 1, false, true, true, t(Test::kAtom), false, {}},
    {"is_pid", 1, false, true, true, t(Test::kPid), false, {}},
    {"is_reference", 1, false, true, true, t(Test::kReference), false, {}},
    {"is_port", 1, false, true, true, t(Test::kPort), false, {}},
    {"is_binary", 1, false, true, true, t(Test::kBinary), false, {}},
    {"is_bitstring", 1, false, true, true, t(Test::kBitstr), false, {}},
    {"is_list", 1, false, true, true, t(Test::kList), false, {}},
    {"is_tuple", 1, false, true, true, t(Test::kTuple), false, {}},
    {"is_boolean", 1, false, true, true, t(Test::kBoolean), false, {}},
    {"is_function", 1, false, true, true, t(Test::kFunction), false, {}},
    {"is_function", 2, false, false, true, t(Test::kFunction2), false, {}},
    {"is_map", 1, false, true, true, t(Test::kMap), false, {}},
    {"is_map_key", 2, false, false, true, -1, false, {}},
    {"and", 2, false, false, true, -1, false, {}},
    {"or", 2, false, false, true, -1, false, {}},
    {"xor", 2, false, false, true, -1, false, {}},
    {"not", 1, false, false, true, -1, false, {}},
    {"hd", 1, false, false, false, -1, false, {}},
    {"tl", 1, false, false, false, -1, false, {}},
    {"element", 2, false, false, false, -1, false, {}},
    {"tuple_size", 1, false, false, false, -1, false, {}},
    {"map_get", 2, false, false, false, -1, false, {}},
    {"self", 0, false, true, false, -1, false, {}},
    {"node", 0, false, true, false, -1, false, {}},
    {"node", 1, false, false, false, -1, false, {}},
    {"get", 1, false, true, false, -1, false, {}},
    {"max", 2, false, true, false, -1, false, {}},
    {"min", 2, false, true, false, -1, false, {}},
    {"+", 2, true, false, false, -1, false, {}},
    {"-", 2, true, false, false, -1, false, {}},
    {"*", 2, true, false, false, -1, false, {}},
    {"/", 2, true, false, false, -1, false, {}},
    {"div", 2, true, false, false, -1, false, {}},
    {"rem", 2, true, false, false, -1, false, {}},
    {"band", 2, true, false, false, -1, false, {}},
    {"bor", 2, true, false, false, -1, false, {}},
    {"bxor", 2, true, false, false, -1, false, {}},
    {"bsl", 2, true, false, false, -1, false, {}},
    {"bsr", 2, true, false, false, -1, false, {}},
    {"bnot", 1, true, false, false, -1, false, {}},
    {"+", 1, true, false, false, -1, false, {}},
    {"-", 1, true, false, false, -1, false, {}},
    {"abs", 1, true, false, false, -1, false, {}},
    {"float", 1, true, false, false, -1, false, {}},
    {"round", 1, true, false, false, -1, false, {}},
    {"trunc", 1, true, false, false, -1, false, {}},
    {"floor", 1, true, false, false, -1, false, {}},
    {"ceil", 1, true, false, false, -1, false, {}},
    {"length", 1, true, false, false, -1, false, {}},
    {"size", 1, true, false, false, -1, false, {}},
    {"bit_size", 1, true, false, false, -1, false, {}},
    {"byte_size", 1, true, false, false, -1, false, {}},
    {"map_size", 1, true, false, false, -1, false, {}},
    {"binary_part", 2, true, false, false, -1, false, {}},
    {"binary_part", 3, true, false, false, -1, false, {}},
};

using Table = std::unordered_map<std::uint64_t, const BifInfo*>;

Table make_table() {
  Table table;
  for (BifInfo& b : kBifs) {
    b.atom = intern_atom(b.name);
    table[b.atom.raw() << 4 | b.arity] = &b;
  }
  return table;
}

}  // namespace

const BifInfo* find_bif(Term name, std::uint32_t arity) {
  static const Table table = make_table();
  if (arity > 3) return nullptr;
  auto it = table.find(name.raw() << 4 | arity);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace vmrun::compile::ssa
