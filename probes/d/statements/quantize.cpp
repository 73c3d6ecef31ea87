// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/quantize.hpp"

#include <algorithm>

namespace vmrun::d::lang {

using Kind = Node::Kind;

namespace {

struct Parameter {
  const char *type, *value, *match, *name;
  bool positive = false;
};
constexpr Parameter kLinear[] = {
    {"D_LQUANT_BASETYPE", "D_LQUANT_BASEVAL", "D_LQUANT_MATCHBASE", "base"},
    {"D_LQUANT_LIMTYPE", "D_LQUANT_LIMVAL", "D_LQUANT_MATCHLIM", "limit"},
    {"D_LQUANT_STEPTYPE", "D_LQUANT_STEPVAL", "D_LQUANT_MATCHSTEP", "step", true}};
constexpr Parameter kLog[] = {
    {"D_LLQUANT_FACTORTYPE", "D_LLQUANT_FACTORVAL", "D_LLQUANT_MATCHFACTOR", "factor"},
    {"D_LLQUANT_LMAGTYPE", "D_LLQUANT_LMAGVAL", "D_LLQUANT_MATCHLMAG", "low magnitude"},
    {"D_LLQUANT_HMAGTYPE", "D_LLQUANT_HMAGVAL", "D_LLQUANT_MATCHHMAG", "high magnitude"},
    {"D_LLQUANT_STEPTYPE", "D_LLQUANT_STEPVAL", "D_LLQUANT_MATCHSTEPS", "number of steps", true}};

/// Returns one of the constants. Fails when it is not a constant, is out of range, or differs from
/// that of an earlier use.
std::int64_t constant(const Parameter& p, const Types& types, const Node* function, std::size_t i,
                      bool linear) {
  const Node* argument = function->children[i];
  const std::string which = function->text + "( ) argument #" + std::to_string(i + 1);
  if (argument->kind != Kind::kInteger || !types.is_integer(argument->type))
    fail(function->place, p.type, which + " must be an integer constant: the " + p.name);
  const auto value = static_cast<std::int64_t>(argument->value);
  if (p.positive && value <= 0)
    fail(function->place, p.type, which + " must be a positive integer constant: the " + p.name);
  if (p.positive && linear && value > 65535)
    fail(function->place, p.value, which + " must fit in 16 bits: the " + p.name);
  if (value > INT32_MAX || value < INT32_MIN || (!linear && (value < 0 || value > 65535)))
    fail(function->place, p.value, which + " is out of range: the " + p.name);
  return value;
}

void check_limit(Place place, const std::int64_t* values) {
  if (values[1] <= values[0])
    fail(place, "D_LQUANT_MISMATCH", "lquantize( ) limit must be greater than its base");
}

void check_linear(Place place, const std::int64_t* values) {
  const std::int64_t base = values[0], limit = values[1], step = values[2];
  const std::int64_t levels = (limit - base) / step;
  if (levels == 0)
    fail(place, "D_LQUANT_STEPLARGE", "lquantize( ) step is too large: there would be no bucket");
  if (levels > 65534)
    fail(place, "D_LQUANT_STEPSMALL", "lquantize( ) step is too small: there would be too many buckets");
}

void check_steps(Place place, std::int64_t factor, std::int64_t low, std::int64_t steps) {
  const auto refuse = [&](const std::string& why) {
    fail(place, "D_LLQUANT_STEPVAL", "llquantize( ) argument #5 (the number of steps) must " + why);
  };
  if (steps < factor && factor % steps != 0) refuse("evenly divide its factor, or be a multiple of it");
  if (steps <= factor) return;
  if (steps % factor != 0) refuse("be a multiple of its factor, or evenly divide it");
  std::int64_t power = factor;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(low, 1); i++) power *= factor;
  if (power % steps != 0)
    refuse("evenly divide " +
           std::string(low == 0 ? "the square of its factor" : "factor ^ (low magnitude + 1)"));
}

void check_logarithmic(Place place, const std::int64_t* values) {
  const std::int64_t factor = values[0], low = values[1], high = values[2], steps = values[3];
  if (factor < 2) fail(place, "D_LLQUANT_FACTORVAL", "llquantize( ) factor must be at least 2");
  if (low > high)
    fail(place, "D_LLQUANT_HMAGVAL", "llquantize( ) high magnitude must be at least its low magnitude");
  std::int64_t power = 1;
  for (std::int64_t i = 0; i < high + 1; i++)
    if (__builtin_mul_overflow(power, factor, &power))
      fail(place, "D_LLQUANT_HMAGVAL", "llquantize( ) factor ^ high magnitude is more than 64 bits hold");
  check_steps(place, factor, low, steps);
}

}  // namespace

void bucket_parameters(Expressions& expressions, const Types& types, Aggregation& a, Node* function,
                       bool is_new) {
  const bool linear = a.how == Aggregating::kLquantize;
  const std::size_t count = linear ? std::size(kLinear) : std::size(kLog);
  std::int64_t values[4] = {0, 0, 1, 0};
  for (std::size_t i = 0; i < count; i++) {
    const Parameter& p = linear ? kLinear[i] : kLog[i];
    if (linear && i == 2) check_limit(function->place, values);
    if (i + 1 >= function->children.size()) continue;  // it is left out: the step is 1
    expressions.check(function->children[i + 1]);
    values[i] = constant(p, types, function, i + 1, linear);
    if (!is_new && values[i] != a.parameters[i])
      fail(function->place, p.match,
           function->text + "( ): the " + p.name + " differs from what @" + a.name + " had before");
  }
  if (linear) check_linear(function->place, values);
  else check_logarithmic(function->place, values);
  std::copy_n(values, 4, a.parameters);
}

}  // namespace vmrun::d::lang
