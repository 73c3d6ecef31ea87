// SPDX-License-Identifier: Apache-2.0
#include "probes/d/emit/code.hpp"

namespace vmrun::d::lang {
namespace {

constexpr unsigned kIntegerRegisters = 32, kTermRegisterCount = 8;
constexpr std::size_t kMostInstructions = 1 << 20;

}  // namespace

Code::Code(Program& program) : program_(program) {
  program.texts.assign(1, '\0');
  texts_[""] = 0;
}

void Code::start(std::vector<Instruction>& out) {
  out_ = &out;
  free_ = 0;
  free_term_ = 0;
}

std::size_t Code::put(Operation operation, unsigned a, unsigned b, unsigned c, std::int64_t imm) {
  if (out_->size() >= kMostInstructions) fail(place_, "D_SYNTAX", "the clause is too long");
  out_->push_back({operation, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b),
                   static_cast<std::uint8_t>(c), static_cast<std::int32_t>(imm)});
  return out_->size() - 1;
}

void Code::number(unsigned to, std::uint64_t value) {
  const auto is = static_cast<std::int64_t>(value);
  if (is >= INT32_MIN && is <= INT32_MAX) {
    put(Operation::kLoad, to, 0, 0, is);
    return;
  }
  const auto [at, is_new] = constants_.try_emplace(value, program_.constants.size());
  if (is_new) program_.constants.push_back(value);
  put(Operation::kConst, to, 0, 0, static_cast<std::int64_t>(at->second));
}

void Code::text(unsigned to, const std::string& value) {
  const auto [at, is_new] = texts_.try_emplace(value, program_.texts.size());
  if (is_new) {
    program_.texts += value;
    program_.texts += '\0';
  }
  put(Operation::kText, to, 0, 0, static_cast<std::int64_t>(at->second));
}

unsigned Code::take() {
  if (free_ >= kIntegerRegisters)
    fail(place_, "D_NOREG", "insufficient registers to generate code: the expression is too complex");
  return free_++;
}

unsigned Code::take_term() {
  if (free_term_ >= kTermRegisterCount)
    fail(place_, "D_NOREG", "insufficient registers for terms: the expression is too complex");
  return free_term_++;
}

}  // namespace vmrun::d::lang
