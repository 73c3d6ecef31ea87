#include "vm/process/core.hpp"

namespace vmrun {

constinit thread_local Core* current_core = nullptr;

}  // namespace vmrun
