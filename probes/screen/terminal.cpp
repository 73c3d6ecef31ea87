// SPDX-License-Identifier: Apache-2.0
#include "probes/screen/terminal.hpp"

#ifdef VMRUN_NCURSES

#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Its macros would replace words of other headers.
#define NCURSES_NOMACROS
#include <curses.h>

namespace vmrun::screen {
namespace {

constexpr int kEscapeMs = 25;  // how long a sequence of a key may take after its escape
constexpr char kEscape = 27, kDelete = 127;
enum Colours : short { kWarningColours = 1, kHeadingColours, kSortedColours, kStrongColours };

Key key_of(int code) {
  using Kind = Key::Kind;
  switch (code) {
    case KEY_UP: return {Kind::kUp};
    case KEY_DOWN: return {Kind::kDown};
    case KEY_LEFT: return {Kind::kLeft};
    case KEY_RIGHT: return {Kind::kRight};
    case KEY_PPAGE: return {Kind::kPageUp};
    case KEY_NPAGE: return {Kind::kPageDown};
    case KEY_HOME: return {Kind::kHome};
    case KEY_END: return {Kind::kEnd};
    case KEY_BACKSPACE: return {Kind::kBackspace};
    case KEY_ENTER: return {Kind::kEnter};
    case KEY_RESIZE: return {Kind::kResize};
    default: return {Kind::kOther};
  }
}

Key key_of_character(wint_t c) {
  using Kind = Key::Kind;
  switch (c) {
    case '\r':
    case '\n': return {Kind::kEnter};
    case kEscape: return {Kind::kEscape};
    case '\b':
    case kDelete: return {Kind::kBackspace};
    default: return {Kind::kCharacter, static_cast<char32_t>(c)};
  }
}

class CursesTerminal : public Terminal {
 public:
  explicit CursesTerminal(SCREEN* screen) : screen_(screen) {
    is_utf8_ = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    set_escdelay(kEscapeMs);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    begin_colours();
  }
  ~CursesTerminal() override {
    endwin();
    delscreen(screen_);
  }
  CursesTerminal(const CursesTerminal&) = delete;

  std::size_t width() const override { return static_cast<std::size_t>(getmaxx(stdscr)); }
  std::size_t height() const override { return static_cast<std::size_t>(getmaxy(stdscr)); }
  int descriptor() const override { return STDIN_FILENO; }

  void show(const std::vector<Line>& lines) override {
    werase(stdscr);
    for (std::size_t row = 0; row < std::min(lines.size(), height()); ++row)
      put(static_cast<int>(row), lines[row]);
    wrefresh(stdscr);
  }

  std::optional<Key> key() override {
    wint_t c = 0;
    switch (wget_wch(stdscr, &c)) {
      case ERR: return {};
      case KEY_CODE_YES: return key_of(static_cast<int>(c));
      default: return key_of_character(c);
    }
  }

 private:
  /// A terminal without colours has bold and reverse; so has one whose user wants no colours
  /// (https://no-color.org).
  void begin_colours() {
    const char* unwanted = std::getenv("NO_COLOR");
    if ((unwanted != nullptr && *unwanted != 0) || !has_colors() || start_color() == ERR) return;
    has_colours_ = use_default_colors() == OK;
    if (!has_colours_) return;
    init_pair(kWarningColours, COLOR_RED, -1);
    init_pair(kHeadingColours, COLOR_BLACK, COLOR_GREEN);
    init_pair(kSortedColours, COLOR_BLACK, COLOR_CYAN);
    init_pair(kStrongColours, COLOR_CYAN, -1);
  }

  attr_t attributes(Look look) const {
    const auto coloured = [this](short pair, attr_t with, attr_t without) -> attr_t {
      return has_colours_ ? with | static_cast<attr_t>(COLOR_PAIR(pair)) : without;
    };
    switch (look) {
      case Look::kStrong: return coloured(kStrongColours, A_NORMAL, A_BOLD);
      case Look::kFaint: return A_DIM;
      case Look::kWarning: return coloured(kWarningColours, A_BOLD, A_BOLD | A_REVERSE);
      case Look::kHeading: return coloured(kHeadingColours, A_NORMAL, A_REVERSE);
      case Look::kSorted: return coloured(kSortedColours, A_NORMAL, A_REVERSE | A_BOLD);
      case Look::kChosen: return A_REVERSE;
      case Look::kPlain: break;
    }
    return A_NORMAL;
  }

  void put(int row, const Line& line) {
    std::size_t column = 0;
    for (const Piece& piece : line) {
      if (column >= width()) return;
      std::string text = cut_to(piece.text, width() - column);
      const std::size_t columns = columns_of(text);
      if (!is_utf8_)
        for (char& c : text)
          if (static_cast<unsigned char>(c) > kDelete) c = '?';
      wattrset(stdscr, static_cast<int>(attributes(piece.look)));
      mvwaddstr(stdscr, row, static_cast<int>(column), text.c_str());
      column += columns;
    }
    wattrset(stdscr, A_NORMAL);
  }

  SCREEN* screen_;
  bool is_utf8_ = false, has_colours_ = false;
};

}  // namespace

std::unique_ptr<Terminal> Terminal::open() {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return nullptr;
  std::setlocale(LC_CTYPE, "");
  SCREEN* const screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return nullptr;
  set_term(screen);
  return std::make_unique<CursesTerminal>(screen);
}

}  // namespace vmrun::screen

#else

namespace vmrun::screen {

std::unique_ptr<Terminal> Terminal::open() { return nullptr; }

}  // namespace vmrun::screen

#endif
