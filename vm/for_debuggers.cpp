// SPDX-License-Identifier: Apache-2.0
#include "vm/for_debuggers.hpp"

#include "vm/code/interpreter.hpp"
#include "vm/code/module.hpp"
#include "vm/hot/heating.hpp"
#include "vm/hot/place_in_code.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/atom.hpp"

namespace vmrun {

void tell_debuggers() {
  tell_debuggers_of_atoms();
  tell_debuggers_of_schedulers();
  tell_debuggers_of_code();
  tell_debuggers_of_machine_code();
  tell_debuggers_of_loop(reinterpret_cast<const void*>(&interpret));
}

}  // namespace vmrun
