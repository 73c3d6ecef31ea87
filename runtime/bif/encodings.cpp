// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"

/// What flags of the command say about characters, names of files and warnings.
namespace vmrun {
/// What file:list_dir does with a name that is not UTF-8: warning, ignore or error.
Term bif_prim_file_unreadable_names_0(Process&, const Term*) {
  return intern_atom(system_mode.unreadable_names);
}
Term bif_io_printable_range_0(Process&, const Term*) { return intern_atom(system_mode.printable_range); }

/// File names are UTF-8 here, whatever the locale says.
Term bif_file_native_name_encoding_0(Process&, const Term*) { return intern_atom("utf8"); }
/// The level that error_logger gives warnings.
Term bif_error_logger_warning_map_0(Process&, const Term*) { return intern_atom(system_mode.warning_map); }

}  // namespace vmrun
