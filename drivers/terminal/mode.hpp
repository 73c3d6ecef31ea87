// SPDX-License-Identifier: Apache-2.0
#pragma once

struct termios;

/// The modes of the terminal on standard input. A line editor needs each key as it is pressed;
/// everything else needs the modes that the machine found. One terminal, one editor. The functions
/// may be called from any thread and, except the first two, from signal handlers.
namespace vmrun::terminal {

/// Delivers keys one by one, without echo; the keys that send signals still do. Returns false when
/// standard input and output are not a terminal. The mode is restored after the program was stopped
/// and continues.
bool begin_editing();
/// Sets modes of an editor that finds and computes them itself, and that is told of SIGCONT. found:
/// the terminal's modes before; they count only when no editor has begun. Returns false when the
/// system refuses: see errno.
bool hold_modes(int descriptor, const termios& found, const termios& wanted);
/// Restores the original modes for good.
void end_editing();

/// Restores the original modes while other code talks to the user. Without an editor these do
/// nothing.
void pause_editing();
void resume_editing();

}  // namespace vmrun::terminal
