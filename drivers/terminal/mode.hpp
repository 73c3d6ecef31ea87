#pragma once

/// The modes of the terminal on standard input: a line editor wants each key as it is pressed,
/// everybody else the modes that the machine found. One terminal, one editor; the functions may be
/// called from any thread and, but for the first, from signal handlers.
namespace vmrun::terminal {

/// Keys come one by one and are not echoed; the keys that make signals still do. False: standard
/// input and output are not a terminal. After the program was stopped and goes on, it is so again.
bool begin_editing();
/// For good: the modes that were found.
void end_editing();

/// For a time in which someone else speaks with the user; without an editor nothing happens.
void pause_editing();
void resume_editing();

}  // namespace vmrun::terminal
