// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The native functions of the module erltrace, as a library that is linked in. See
/// docs/erltrace.md.
namespace vmrun::erltrace {

/// From now on erlang:load_nif("erltrace", _) finds them. Called before the first process starts.
void register_natives();

}  // namespace vmrun::erltrace
