// SPDX-License-Identifier: Apache-2.0
#include "probes/d/expressions/vocabulary.hpp"

#include <algorithm>

#include "probes/d/script/action_table.hpp"
#include "vm/base/near_name.hpp"

namespace vmrun::d::lang {
namespace {

struct Function {
  std::string_view name;
  Aggregating how;
};
constexpr Function kAggregatings[] = {{"count", Aggregating::kCount},
                                      {"sum", Aggregating::kSum},
                                      {"avg", Aggregating::kAvg},
                                      {"min", Aggregating::kMin},
                                      {"max", Aggregating::kMax},
                                      {"stddev", Aggregating::kStddev},
                                      {"quantize", Aggregating::kQuantize},
                                      {"lquantize", Aggregating::kLquantize},
                                      {"llquantize", Aggregating::kLlquantize}};

struct Refused {
  std::string_view name, why;
};
constexpr Refused kRefusedFunctions[] = {
    {"stack", "there is no kernel whose stack could be shown: ustack() is the stack of the Erlang process"},
    {"copyout", "memory of the target cannot be written"},
    {"copyoutstr", "memory of the target cannot be written"},
    {"raise", "the target is not signalled"},
    {"stop", "the target is not stopped"},
    {"panic", "there is no kernel"},
    {"breakpoint", "there is no kernel"},
    {"chill", "the target is not held up"},
    {"pcap", "there are no packets"},
    {"sym", "there are no symbols of a kernel: usym() and ufunc() are for code of Erlang"},
    {"func", "there are no symbols of a kernel"},
    {"mod", "there are no symbols of a kernel"},
    {"progenyof", "there is no kernel data"},
    {"mutex_owned", "there is no kernel data"},
    {"mutex_owner", "there is no kernel data"},
    {"mutex_type_adaptive", "there is no kernel data"},
    {"mutex_type_spin", "there is no kernel data"},
    {"rw_iswriter", "there is no kernel data"},
    {"rw_read_held", "there is no kernel data"},
    {"rw_write_held", "there is no kernel data"},
    {"getmajor", "there is no kernel data"},
    {"getminor", "there is no kernel data"},
    {"ddi_pathname", "there is no kernel data"},
    {"d_path", "there is no kernel data"},
    {"msgsize", "there is no kernel data"},
    {"msgdsize", "there is no kernel data"},
};
constexpr std::string_view kKernelVariables[] = {
    "caller",   "stackdepth", "ipl",       "curthread", "uregs",       "root",    "cwd",
    "zonename", "vmregs",     "curpsinfo", "curcpu",    "curlwpsinfo", "curproc", "regs",
    "fds",      "taskid",     "projid",    "pgid",      "sid",         "zoneid"};

}  // namespace

bool is_action(std::string_view name) { return find_action(name) != nullptr; }

bool is_traced_alone(std::string_view name) {
  return name == "ufunc" || name == "usym" || name == "uaddr" || name == "umod";
}

bool is_aggregating(std::string_view name) {
  return std::ranges::find(kAggregatings, name, &Function::name) != std::end(kAggregatings);
}

std::string_view aggregating_like(std::string_view wrong) {
  NearName near(wrong);
  for (const Function& known : kAggregatings) near.offer(known.name);
  return near.found();
}

Aggregating aggregating_function(std::string_view name) {
  return std::ranges::find(kAggregatings, name, &Function::name)->how;
}

std::string_view why_refused(std::string_view function) {
  const auto* row = std::ranges::find(kRefusedFunctions, function, &Refused::name);
  return row == std::end(kRefusedFunctions) ? std::string_view() : row->why;
}

bool is_kernel_variable(std::string_view name) {
  return std::ranges::find(kKernelVariables, name) != std::end(kKernelVariables);
}

}  // namespace vmrun::d::lang
