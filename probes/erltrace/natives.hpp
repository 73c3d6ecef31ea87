#pragma once

/// The module erltrace's native functions, as a library that is linked in. See docs/erltrace.md.
namespace vmrun::erltrace {

/// erlang:load_nif("erltrace", _) finds them from now on. Before the first process.
void register_natives();

}  // namespace vmrun::erltrace
