#pragma once

#include "runtime/ets/table.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/print.hpp"

/// What the files of module ets share.
namespace vmrun::ets {

/// A term of a table copied to the caller's heap. Fires copy_object and copy_struct.
Term copy_out(Process& p, Term t);

/// Copies of an object and the older ones with its key, oldest first.
Term group_list(Process& p, const Store& store, Object* newest);

}  // namespace vmrun::ets
