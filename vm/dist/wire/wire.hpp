// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What goes over a connection between nodes after the handshake, as bytes, in both directions.
/// ERTS User's Guide, "Distribution Protocol" and "External Term Format". The meaning of control
/// messages is not known here but in vm/dist.
#include "vm/dist/wire/input.hpp"
#include "vm/dist/wire/output_queue.hpp"
