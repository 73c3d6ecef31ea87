// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "probes/screen/key.hpp"
#include "probes/screen/screen_lines.hpp"

/// The terminal of standard input and output, by ncurses. There is one such object at a time. While
/// it exists, the terminal shows nothing but its lines; its end brings back what was there before.
/// One thread uses it.
namespace vmrun::screen {

class Terminal {
 public:
  /// Returns null when this build has no ncurses, when input or output is no terminal, or when the
  /// terminal cannot move its cursor.
  static std::unique_ptr<Terminal> open();
  virtual ~Terminal() = default;

  virtual std::size_t width() const = 0;
  virtual std::size_t height() const = 0;
  /// Shows the lines from the top. What is longer than the screen is cut. Only what has changed is
  /// written.
  virtual void show(const std::vector<Line>& lines) = 0;
  /// Returns the next key that has been pressed, and does not wait for one.
  virtual std::optional<Key> key() = 0;
  /// The descriptor that is readable when keys have been pressed.
  virtual int descriptor() const = 0;
};

}  // namespace vmrun::screen
