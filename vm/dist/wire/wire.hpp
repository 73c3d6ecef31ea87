#pragma once

/// What goes over a connection between nodes once the handshake is done, as bytes: both directions.
/// ERTS User's Guide, "Distribution Protocol" and "External Term Format". What the control messages
/// mean is not known here: vm/dist.
#include "vm/dist/wire/input.hpp"
#include "vm/dist/wire/output.hpp"
