// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Probes that programs fire themselves.
namespace vmrun {

/// Registers the natives that replace the library of OTP's module dyntrace (vm/nif/library.hpp).
void register_dyntrace_natives();

}  // namespace vmrun
