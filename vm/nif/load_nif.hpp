// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// erlang:load_nif/2.
namespace vmrun {

/// args: path without ".so" (a string), load_info. at: an address in the code that calls. Returns
/// ok or {error, {Reason, Text}}; badarg when the path is not a string, or when the caller is not
/// code of a module.
Term load_nif_called_at(Process& p, const Term* args, const Word* at);

}  // namespace vmrun
