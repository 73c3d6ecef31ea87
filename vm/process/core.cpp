#include "vm/process/core.hpp"

#include "vm/process/code_view.hpp"

namespace vmrun {

constinit CodeView code_view;
constinit thread_local Core* current_core = nullptr;

}  // namespace vmrun
