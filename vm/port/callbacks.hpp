#pragma once

#include <cstddef>

#include "vm/include/erl_driver.h"
#include "vm/term/term.hpp"

/// Every call of a driver's callback goes through here: the probe first, then the callback, with
/// the driver's lock where it wants one and current_port set. The caller holds the port (not for
/// call_init, call_finish, call_stop_select, which have none). A callback may close the port: look
/// at the state afterwards. What a driver does wrong inside of a callback (a crash, a longjmp) is
/// nobody's to catch. Firing rules: docs/probes.md, family driver.
namespace vmrun {

struct Driver;
struct Port;
struct PortOptions;

/// For probes: what a caller that is no process is called.
inline constexpr Term kRawCaller = kNonValue;

ErlDrvData call_start(Port& p, Term caller, const PortOptions& options);
void call_stop(Port& p);
void call_flush(Port& p);
/// One of these per command: outputv where the driver has it (Port::takes).
void call_output(Port& p, Term caller, char* bytes, std::size_t size);
void call_outputv(Port& p, Term caller, ErlIOVec* vector);
/// The same for data of a connection to that node, of no process: fires dist-output(v) in their
/// place.
void call_output_to(Port& p, Term node, char* bytes, std::size_t size);
void call_outputv_to(Port& p, Term node, ErlIOVec* vector);
/// Fires port-control too.
ErlDrvSSizeT call_control(Port& p, Term caller, unsigned command, char* bytes, std::size_t size,
                          char** answer, std::size_t answer_size);
ErlDrvSSizeT call_call(Port& p, Term caller, unsigned command, char* bytes, std::size_t size, char** answer,
                       std::size_t answer_size, unsigned* flags);
void call_ready_input(Port& p, ErlDrvEvent event);
void call_ready_output(Port& p, ErlDrvEvent event);
void call_event(Port& p, ErlDrvEvent event, ErlDrvEventData data);
void call_timeout(Port& p);
void call_ready_async(Port& p, void* data);
void call_process_exit(Port& p, ErlDrvMonitor* monitor);

/// A port that a driver has created is its creator's alone until the creator's callback ends:
/// nobody else calls the driver for it before. Takes over the hold.
void keep_created(Port& p);

/// False when init reports an error. Nothing happens without an init callback.
bool call_init(Driver& d);
void call_finish(Driver& d);
/// Any thread.
void call_stop_select(Driver& d, ErlDrvEvent event);

}  // namespace vmrun
