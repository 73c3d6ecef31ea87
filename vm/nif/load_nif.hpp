#pragma once

#include "vm/process/process.hpp"

/// erlang:load_nif/2.
namespace vmrun {

/// args: path without ".so" (a string), load_info. at: an address in the code that calls. Returns
/// ok or {error, {Reason, Text}}; badarg when the path is no string or the caller no module's code.
Term load_nif_called_at(Process& p, const Term* args, const Word* at);

}  // namespace vmrun
