// SPDX-License-Identifier: Apache-2.0
// The interpreter. It relies on program_verifier.cpp, which has checked that operands are in range,
// that registers are written before they are read, and that every path ends. What is left to check
// here is addresses, divisors, room in scratch, key and record, and what the host answers. Nothing
// allocates. Work that grows with the length of a text takes from thread.fuel.
#include <cerrno>
#include <cstring>

#include <algorithm>
#include <limits>

#include "probes/engine/state.hpp"
#include "probes/engine/trace_clock.hpp"

namespace vmrun::d {

namespace {

std::uint64_t sign_extended(std::uint64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

// Global variables are shared. One that is aligned is read and written in one piece.
template <class Number>
std::uint64_t load_number(const char* from) {
  Number n;
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof n == 0)
    n = __atomic_load_n(reinterpret_cast<const Number*>(from), __ATOMIC_RELAXED);
  else std::memcpy(&n, from, sizeof n);
  return n;
}
template <class Number>
void store_number(char* to, std::uint64_t value) {
  const auto n = static_cast<Number>(value);
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof n == 0)
    __atomic_store_n(reinterpret_cast<Number*>(to), n, __ATOMIC_RELAXED);
  else std::memcpy(to, &n, sizeof n);
}

bool load(Thread& t, Address a, unsigned size, std::uint64_t& out) {
  const unsigned bytes = size & 127;
  const char* from = t.memory.at(a, bytes);
  if (from == nullptr) return t.fail(FaultKind::kBadAddress, a);
  switch (bytes) {
    case 1: out = load_number<std::uint8_t>(from); break;
    case 2: out = load_number<std::uint16_t>(from); break;
    case 4: out = load_number<std::uint32_t>(from); break;
    default: out = load_number<std::uint64_t>(from);
  }
  if (size & 128) out = sign_extended(out, bytes * 8);
  return true;
}

bool store(Thread& t, Address a, unsigned bytes, std::uint64_t value) {
  char* to = t.memory.at(a, bytes, true);
  if (to == nullptr) return t.fail(FaultKind::kBadAddress, a);
  switch (bytes) {
    case 1: store_number<std::uint8_t>(to, value); break;
    case 2: store_number<std::uint16_t>(to, value); break;
    case 4: store_number<std::uint32_t>(to, value); break;
    default: store_number<std::uint64_t>(to, value);
  }
  return true;
}

bool burn(Thread& t, std::size_t bytes) {
  t.fuel -= static_cast<std::int64_t>(bytes);
  return t.fuel >= 0 || t.fail(FaultKind::kIllegalOperation);
}

[[gnu::noinline]] bool copy_bytes(Thread& t, Address to, Address from, std::size_t bytes) {
  const char* source = t.memory.at(from, bytes);
  if (source == nullptr) return t.fail(FaultKind::kBadAddress, from);
  char* place = t.memory.at(to, bytes, true);
  if (place == nullptr) return t.fail(FaultKind::kBadAddress, to);
  if (!burn(t, bytes)) return false;
  std::memmove(place, source, bytes);
  return true;
}

// A NULL text is copied as an empty one.
[[gnu::noinline]] bool copy_text(Thread& t, Address to, Address from, std::size_t room) {
  std::string_view text("");
  if (from != 0 && !t.text(from, text)) return false;
  const std::size_t bytes = std::min(text.size(), room - 1);
  char* place = t.memory.at(to, bytes + 1, true);
  if (place == nullptr) return t.fail(FaultKind::kBadAddress, to);
  std::memmove(place, text.data(), bytes);
  place[bytes] = '\0';
  return true;
}

[[gnu::noinline]] bool allocate(Thread& t, std::uint64_t bytes, Address& out) {
  if (!t.allocate(bytes, out) || !burn(t, bytes)) return false;
  if (bytes != 0) std::memset(t.memory.at(out, bytes), 0, bytes);
  return true;
}

// NULL sorts before all texts.
[[gnu::noinline]] bool compare_texts(Thread& t, Address x, Address y, std::uint64_t& out) {
  std::string_view a(""), b("");
  if ((x != 0 && !t.text(x, a)) || (y != 0 && !t.text(y, b))) return false;
  const int order = x != 0 && y != 0 ? a.compare(b) : (x != 0) - (y != 0);
  out = static_cast<std::uint64_t>(static_cast<std::int64_t>(order > 0) - (order < 0));
  return true;
}

[[gnu::noinline]] bool divide(Thread& t, Operation how, std::uint64_t x, std::uint64_t y,
                              std::uint64_t& out) {
  if (y == 0) return t.fail(FaultKind::kDivideByZero);
  const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
  switch (how) {
    case Operation::kSdiv: out = sy == -1 ? 0 - x : static_cast<std::uint64_t>(sx / sy); break;
    case Operation::kSrem: out = sy == -1 ? 0 : static_cast<std::uint64_t>(sx % sy); break;
    case Operation::kUdiv: out = x / y; break;
    default: out = x % y;
  }
  return true;
}

// What is put to keys and records goes after the words that are there.

// make(place, room in bytes) puts an EncodedArgument. Returns false when there is no room for it.
template <class Make>
bool put_encoded(std::uint64_t* words, std::size_t& used, std::size_t most, std::size_t room, Make&& make) {
  if (used + 1 + words_of(room) > most) return false;
  std::uint64_t& head = words[used];
  char* place = reinterpret_cast<char*>(words + used + 1);
  const EncodedArgument encoded = make(place, room);
  const std::size_t bytes = std::min(encoded.bytes, room);
  std::memset(place + bytes, 0, words_of(bytes) * 8 - bytes);
  head = static_cast<std::uint64_t>(encoded.shape) | static_cast<std::uint64_t>(bytes) << 32;
  used += 1 + words_of(bytes);
  return true;
}

bool put_text(std::uint64_t* words, std::size_t& used, std::size_t most, Address a, std::string_view text) {
  return put_encoded(words, used, most, text.size(), [&](char* out, std::size_t) {
    std::memcpy(out, text.data(), text.size());
    return EncodedArgument{a == 0 ? Encoding::kNull : Encoding::kText, text.size()};
  });
}

// Returns the room for a text of the host's. Numbers of processes and functions fit in any case.
std::size_t text_room(const Thread& t) {
  return words_of(std::max<std::size_t>(t.shared.program.options.strsize - 1, 32)) * 8;
}

EncodedArgument argument(Thread& t, const Firing& f, unsigned n, char* out, std::size_t room) {
  if (n >= f.argument_count) return {Encoding::kNull, 0};
  EncodedArgument encoded = t.shared.host.encoded_argument(f, n, out, room);
  if (encoded.shape == Encoding::kText)
    encoded.bytes = std::min<std::size_t>(encoded.bytes, t.shared.program.options.strsize - 1);
  return encoded;
}

std::string_view function_text(Host& host, Builtin which, const Firing& f) {
  switch (which) {
    case Builtin::kProbemod: return host.function_name(function_of_probe(f.probe)).module;
    case Builtin::kProbefunc: return host.function_name(function_of_probe(f.probe)).function;
    case Builtin::kProbename: return function_probe_info(event_of_probe(f.probe)).name;
    default: return "";
  }
}

std::string_view own_text(const Thread& t, Builtin which, const Firing& f) {
  if (which == Builtin::kProbeprov && (is_function_probe(f.probe) || f.probe < t.shared.host.probes().size()))
    return t.shared.provider;
  if (is_function_probe(f.probe) && which != Builtin::kExecname)
    return function_text(t.shared.host, which, f);
  switch (which) {
    case Builtin::kExecname: return t.shared.execname;
    case Builtin::kProbeprov: return t.shared.probe(f.probe).provider;
    case Builtin::kProbemod: return t.shared.probe(f.probe).module;
    case Builtin::kProbefunc: return t.shared.probe(f.probe).function;
    case Builtin::kProbename: return t.shared.probe(f.probe).name;
    default: return "";
  }
}

EncodedArgument builtin_text(Thread& t, const Firing& f, unsigned number, char* out, std::size_t room) {
  const std::size_t most = t.shared.program.options.strsize - 1;
  if (kBuiltins[number].host) {
    EncodedArgument encoded = t.shared.host.builtin_encoded(number, f, out, room);
    if (encoded.shape == Encoding::kText) encoded.bytes = std::min(encoded.bytes, most);
    return encoded;
  }
  const auto text = own_text(t, static_cast<Builtin>(number), f);
  const std::size_t bytes = std::min({text.size(), room, most});
  std::memcpy(out, text.data(), bytes);
  return {Encoding::kText, bytes};
}

std::size_t frames(const Thread& t, std::int32_t asked) {
  return asked == 0 ? t.shared.program.options.ustack_frames : static_cast<std::size_t>(asked);
}

EncodedArgument stack(Thread& t, const Firing& f, char* out, std::size_t room) {
  const std::size_t n = t.shared.host.stack(f, reinterpret_cast<std::uint64_t*>(out), room / 8);
  return {Encoding::kStack, n * 8};
}

EncodedArgument bytes_shape(const char* from, char* out, std::size_t bytes) {
  std::memcpy(out, from, bytes);
  return {Encoding::kBytes, bytes};
}

struct KeyPlace {
  static std::uint64_t* words(Thread& t) { return t.key; }
  static std::size_t& used(Thread& t) { return t.key_words; }
  static constexpr std::size_t kMost = Thread::kKeyWords;
  static bool full(Thread& t) { return t.fail(FaultKind::kTupleOverflow); }
};
// A record that does not fit is dropped when the clause ends.
struct RecordPlace {
  static std::uint64_t* words(Thread& t) { return t.record; }
  static std::size_t& used(Thread& t) { return t.record_words; }
  static constexpr std::size_t kMost = Thread::kRecordWords;
  static bool full(Thread& t) { return t.record_overflow = true; }
};

template <class Place>
bool add_number(Thread& t, std::uint64_t n) {
  if (Place::used(t) == Place::kMost) [[unlikely]]
    return Place::full(t);
  Place::words(t)[Place::used(t)++] = n;
  return true;
}

template <class Place, class Make>
bool add_encoded(Thread& t, std::size_t room, Make&& make) {
  if (!burn(t, room / 8)) return false;
  return put_encoded(Place::words(t), Place::used(t), Place::kMost, room, make) || Place::full(t);
}

template <class Place>
[[gnu::noinline]] bool add_text(Thread& t, Address a) {
  std::string_view text("");
  if (a != 0 && !t.text(a, text)) return false;
  return put_text(Place::words(t), Place::used(t), Place::kMost, a, text) || Place::full(t);
}

template <class Place>
[[gnu::noinline]] bool add_bytes(Thread& t, Address a, std::size_t bytes) {
  const char* from = bytes == 0 ? "" : t.memory.at(a, bytes);
  if (from == nullptr) return t.fail(FaultKind::kBadAddress, a);
  return add_encoded<Place>(t, bytes, [&](char* out, std::size_t) { return bytes_shape(from, out, bytes); });
}

template <class Place>
[[gnu::noinline]] bool add_argument(Thread& t, const Firing& f, unsigned n) {
  return add_encoded<Place>(t, text_room(t),
                            [&](char* out, std::size_t room) { return argument(t, f, n, out, room); });
}

template <class Place>
[[gnu::noinline]] bool add_builtin(Thread& t, const Firing& f, unsigned number) {
  return add_encoded<Place>(
      t, text_room(t), [&](char* out, std::size_t room) { return builtin_text(t, f, number, out, room); });
}

template <class Place>
[[gnu::noinline]] bool add_term(Thread& t, std::uint64_t term, std::size_t room) {
  if (term == 0) return t.fail(FaultKind::kIllegalOperation);
  return add_encoded<Place>(t, room, [&](char* out, std::size_t most) {
    most = std::min<std::size_t>(most, t.shared.program.options.strsize - 1);
    return EncodedArgument{Encoding::kText, t.shared.host.term_text(term, out, most)};
  });
}

template <class Place>
[[gnu::noinline]] bool add_stack(Thread& t, const Firing& f, std::int32_t asked) {
  return add_encoded<Place>(t, frames(t, asked) * 8,
                            [&](char* out, std::size_t room) { return stack(t, f, out, room); });
}

std::uint64_t argument_number(Thread& t, const Firing& f, unsigned n) {
  if (n >= f.argument_count) return 0;
  if (f.kinds[n] >= ArgumentKind::kInt) return f.arguments[n];
  return t.shared.host.argument_number(f, n);
}

// make(place, room) puts a text with its NUL and returns its length, or -1 when there is no text.
template <class Make>
bool text_in_scratch(Thread& t, Address& out, Make&& make) {
  const std::size_t room = t.shared.program.options.strsize;
  if (!burn(t, room / 8)) return false;
  out = t.memory.reserve(room);
  if (out == 0) return t.fail(FaultKind::kNoScratch);
  char* place = t.memory.at(out, room);
  const std::ptrdiff_t bytes = make(place, room);
  if (bytes < 0) {
    t.memory.shrink(out, 0);
    out = 0;
    return true;
  }
  const std::size_t end = std::min(static_cast<std::size_t>(bytes), room - 1);
  place[end] = '\0';
  t.memory.shrink(out, end + 1);
  return true;
}

[[gnu::noinline]] bool argument_in_scratch(Thread& t, const Firing& f, unsigned n, Address& out) {
  return text_in_scratch(t, out, [&](char* place, std::size_t room) {
    return n < f.argument_count ? t.shared.host.argument_text(f, n, place, room) : -1;
  });
}

/// copyinstr() of a number. A script may have kept the number of an argument in a variable.
[[gnu::noinline]] bool text_of_number(Thread& t, const Firing& f, std::uint64_t number, Address& out) {
  for (unsigned n = 0; n < f.argument_count; ++n)
    if (f.kinds[n] < ArgumentKind::kInt && argument_number(t, f, n) == number && number != 0)
      return argument_in_scratch(t, f, n, out);
  if (t.memory.at(number, 1) == nullptr) return t.fail(FaultKind::kBadAddress, number);
  out = number;
  return true;
}

bool map_value(Thread& t, std::uint64_t map, Address key, std::uint64_t& out) {
  std::string_view text;
  if (!t.text(key, text)) return false;
  return t.shared.host.map_value(map, text, out) || t.fail(FaultKind::kIllegalOperation);
}

[[gnu::noinline]] bool term_number(Thread& t, unsigned subroutine, std::uint64_t term, std::uint64_t& out) {
  std::int64_t n = 0;
  if (!t.shared.host.term_number(subroutine, term, n)) return t.fail(FaultKind::kIllegalOperation);
  out = static_cast<std::uint64_t>(n);
  return true;
}

[[gnu::noinline]] bool term_in_scratch(Thread& t, std::uint64_t term, Address& out) {
  if (term == 0) return t.fail(FaultKind::kIllegalOperation);
  return text_in_scratch(t, out, [&](char* place, std::size_t room) {
    return static_cast<std::ptrdiff_t>(t.shared.host.term_text(term, place, room - 1));
  });
}

std::uint64_t own_number(Thread& t, Builtin which, const Firing& f) {
  switch (which) {
    case Builtin::kTimestamp: return t.timestamp();
    case Builtin::kVtimestamp: return thread_time_ns();
    case Builtin::kWalltimestamp: return wall_time_ns();
    case Builtin::kPid: return t.shared.pid;
    case Builtin::kPpid: return t.shared.ppid;
    case Builtin::kTid: return t.tid;
    case Builtin::kId: return probe_id(f.probe);
    case Builtin::kEpid: return epid(t.clause);
    case Builtin::kUid: return t.shared.uid;
    case Builtin::kGid: return t.shared.gid;
    case Builtin::kErrno: return static_cast<std::uint64_t>(errno);
    default: return 0;
  }
}

[[gnu::noinline]] bool builtin(Thread& t, const Firing& f, unsigned number, std::uint64_t& out) {
  const BuiltinInfo& info = kBuiltins[number];
  const bool is_text = info.type == ValueType::kString || info.type == ValueType::kPid;
  if (is_text && info.host)
    return text_in_scratch(t, out, [&](char* place, std::size_t room) {
      return t.shared.host.builtin_text(number, f, place, room);
    });
  if (is_text) return t.make_text(own_text(t, static_cast<Builtin>(number), f), out);
  out = info.host ? t.shared.host.builtin_number(number, f) : own_number(t, static_cast<Builtin>(number), f);
  return true;
}

// Gives the bytes to be stored in a variable that is by reference. Returns false at a fault.
bool stored_bytes(Thread& t, const Variable& v, Address a, std::string_view& out) {
  if (v.is_text) return t.text(a, out);
  const char* from = t.memory.at(a, v.bytes);
  if (from == nullptr) return t.fail(FaultKind::kBadAddress, a);
  out = {from, v.bytes};
  return burn(t, v.bytes);
}

// got(place) fills in v.bytes bytes, or says that there are none.
template <class Get>
bool fetched(Thread& t, const Variable& v, Address& out, Get&& get) {
  const std::size_t bytes = words_of(v.bytes) * 8;  // dynamic variables hand over whole words
  if (!burn(t, bytes)) return false;
  out = t.memory.reserve(bytes);
  if (out == 0) return t.fail(FaultKind::kNoScratch);
  if (!get(t.memory.at(out, bytes))) {
    t.memory.shrink(out, 0);
    out = 0;
  }
  return true;
}

[[gnu::noinline]] bool load_global_bytes(Thread& t, const Variable& v, std::uint32_t number, Address& out) {
  return fetched(t, v, out, [&](char* place) {
    const auto got = t.shared.globals.read(number, place);
    if (got == Globals::Got::kBusy) t.ring->drop(Drop::kDynamic);
    return got == Globals::Got::kValue;
  });
}

bool load_global(Thread& t, std::uint32_t number, std::uint64_t& out) {
  const Variable& v = t.shared.program.variables[number];
  if (v.by_reference) return load_global_bytes(t, v, number, out);
  out = t.shared.globals.integer(number);
  return true;
}

[[gnu::noinline]] bool store_global_bytes(Thread& t, const Variable& v, std::uint32_t number, Address value) {
  std::string_view bytes;
  if (value != 0 && !stored_bytes(t, v, value, bytes)) return false;
  if (!t.shared.globals.write(number, value == 0 ? nullptr : bytes.data(), bytes.size()))
    t.ring->drop(Drop::kDynamic);
  return true;
}

bool store_global(Thread& t, std::uint32_t number, std::uint64_t value) {
  const Variable& v = t.shared.program.variables[number];
  if (v.by_reference) return store_global_bytes(t, v, number, value);
  t.shared.globals.set_integer(number, value);
  return true;
}

struct Key {
  const std::uint64_t* words;
  std::size_t count;
};

// Returns the key that was put together. For self-> it begins with the number of the process or
// thread.
Key taken_key(Thread& t, const Firing& f, bool of_self) {
  Key key{t.key + 1, t.key_words - 1};
  if (of_self) {
    t.key[0] = t.shared.host.self_key(f);
    key = {t.key, t.key_words};
  }
  t.key_words = 1;
  return key;
}

[[gnu::noinline]] bool load_dynamic(Thread& t, std::uint32_t number, Key key, std::uint64_t& out) {
  const Variable& v = t.shared.program.variables[number];
  auto get = [&](void* place) {
    const auto got = t.shared.dynamic.get(number, key.words, key.count, place);
    if (got == DynamicVariables::Got::kBusy) t.ring->drop(Drop::kDynamic);
    return got == DynamicVariables::Got::kValue;
  };
  if (v.by_reference) return fetched(t, v, out, get);
  if (!get(&out)) out = 0;
  return true;
}

[[gnu::noinline]] bool store_dynamic(Thread& t, std::uint32_t number, Key key, std::uint64_t value) {
  const Variable& v = t.shared.program.variables[number];
  if (value == 0) {
    t.shared.dynamic.erase(number, key.words, key.count);
    return true;
  }
  std::string_view bytes(reinterpret_cast<const char*>(&value), 8);
  if (v.by_reference && !stored_bytes(t, v, value, bytes)) return false;
  if (!t.shared.dynamic.put(number, key.words, key.count, bytes.data(), bytes.size()))
    t.ring->drop(Drop::kDynamic);
  return true;
}

[[gnu::noinline]] bool load_self(Thread& t, const Firing& f, std::uint32_t number, std::uint64_t& out) {
  const std::uint64_t self = t.shared.host.self_key(f);
  return load_dynamic(t, number, {&self, 1}, out);
}

[[gnu::noinline]] bool store_self(Thread& t, const Firing& f, std::uint32_t number, std::uint64_t value) {
  const std::uint64_t self = t.shared.host.self_key(f);
  return store_dynamic(t, number, {&self, 1}, value);
}

[[gnu::noinline]] void exit_with(Thread& t, std::uint64_t status) {
  if (!t.shared.exit_called.exchange(true, std::memory_order_relaxed)) {
    t.shared.exit_status.store(static_cast<std::int64_t>(status), std::memory_order_relaxed);
    t.shared.exiting.store(true, std::memory_order_release);  // together with the status
  }
  t.shared.phase.store(Phase::kStopped, std::memory_order_release);
}

void reported(Thread& t, Speculations::Result result) {
  if (result == Speculations::Result::kBusy) t.ring->drop(Drop::kSpeculationBusy);
}

}  // namespace

// A byte of an instruction names its register. It was written before, except in unreached code.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

bool run(Thread& t, const Instruction* const first, const Firing& f, std::uint64_t& result) {
#define LABEL(name) &&op_##name,
  static const void* const kLabels[] = {VMRUN_D_OPERATIONS(LABEL)};
#undef LABEL
  std::uint64_t r[kRegisters];
  r[0] = 0;  // the value that a body leaves means nothing
  std::uint64_t terms[kTermRegisters];
  const Program& p = t.shared.program;
  Host& host = t.shared.host;
  const Instruction* i = first - 1;

#define NEXT()                                               \
  do {                                                       \
    ++i;                                                     \
    goto* kLabels[static_cast<unsigned char>(i->operation)]; \
  } while (false)
#define OP(name, ...)      \
  op_##name : __VA_ARGS__; \
  NEXT();
#define TRY(name, ...)                                     \
  op_##name : if (!(__VA_ARGS__)) [[unlikely]] goto fault; \
  NEXT();
#define A         r[i->a]
#define B         r[i->b]
#define C         r[i->c]
#define N         static_cast<std::uint32_t>(i->imm)
#define SIGNED(x) static_cast<std::int64_t>(x)

  NEXT();

  OP(kMove, A = B)
  OP(kLoad, A = static_cast<std::uint64_t>(static_cast<std::int64_t>(i->imm)))
  OP(kConst, A = p.constants[N])
  OP(kText, A = address(Segment::kTexts, N))

  OP(kAdd, A = B + C)
  OP(kSub, A = B - C)
  OP(kMul, A = B * C)
  TRY(kSdiv, divide(t, i->operation, B, C, A))
  TRY(kUdiv, divide(t, i->operation, B, C, A))
  TRY(kSrem, divide(t, i->operation, B, C, A))
  TRY(kUrem, divide(t, i->operation, B, C, A))
  OP(kAnd, A = B & C)
  OP(kOr, A = B | C)
  OP(kXor, A = B ^ C)
  OP(kSll, A = B << (C & 63))
  OP(kSrl, A = B >> (C & 63))
  OP(kSra, A = static_cast<std::uint64_t>(SIGNED(B) >> (C & 63)))
  OP(kNot, A = ~B)
  OP(kNeg, A = 0 - B)
  OP(kSext, A = sign_extended(B, i->c))
  OP(kZext, A = B & (~std::uint64_t{0} >> (64 - i->c)))
  OP(kSeq, A = B == C)
  OP(kSne, A = B != C)
  OP(kSlt, A = SIGNED(B) < SIGNED(C))
  OP(kSle, A = SIGNED(B) <= SIGNED(C))
  OP(kSult, A = B < C)
  OP(kSule, A = B <= C)
  TRY(kScmp, compare_texts(t, B, C, A))

  OP(kJump, i = first + i->imm - 1)
  OP(kJz, if (B == 0) i = first + i->imm - 1)
  OP(kJnz, if (B != 0) i = first + i->imm - 1)
op_kRet:
  result = r[0];
  return true;

  TRY(kLd, load(t, B + static_cast<std::uint64_t>(SIGNED(i->imm)), i->c, A))
  TRY(kSt, store(t, B + static_cast<std::uint64_t>(SIGNED(i->imm)), i->c, A))
  TRY(kCopy, copy_bytes(t, A, B, N))
  TRY(kCopyn, copy_bytes(t, A, B, C))
  TRY(kCopys, copy_text(t, A, B, N))
  TRY(kAlloc, allocate(t, B, A))
  OP(kFrame, A = address(Segment::kFrame, N))

  OP(kArg, A = argument_number(t, f, N))
  TRY(kArgtext, argument_in_scratch(t, f, N, A))
  TRY(kBuiltin, builtin(t, f, N, A))
  TRY(kArgof, text_of_number(t, f, B, A))
  TRY(kLdg, load_global(t, N, A))
  TRY(kStg, store_global(t, N, A))
  OP(kAddrg, A = address(Segment::kGlobals, t.shared.globals.offset(N)))
  TRY(kLdt, load_self(t, f, N, A))
  TRY(kStt, store_self(t, f, N, A))
  TRY(kKeyi, add_number<KeyPlace>(t, A))
  TRY(kKeys, add_text<KeyPlace>(t, A))
  TRY(kKeyb, add_bytes<KeyPlace>(t, A, N))
  TRY(kKeyarg, add_argument<KeyPlace>(t, f, N))
  TRY(kKeybuiltin, add_builtin<KeyPlace>(t, f, N))
  TRY(kKeyterm, add_term<KeyPlace>(t, terms[i->a], text_room(t)))
  TRY(kKeystack, add_stack<KeyPlace>(t, f, i->imm))
  TRY(kLda, load_dynamic(t, N, taken_key(t, f, false), A))
  TRY(kSta, store_dynamic(t, N, taken_key(t, f, false), A))
  TRY(kLdta, load_dynamic(t, N, taken_key(t, f, true), A))
  TRY(kStta, store_dynamic(t, N, taken_key(t, f, true), A))
  OP(kAgg, if (!t.current->take_in(N, t.key + 1, t.key_words - 1, SIGNED(A), SIGNED(B)))
               [[unlikely]] t.ring->drop(Drop::kAggregation);
     t.key_words = 1)

  TRY(kBegin, (t.action = N + 1, add_number<RecordPlace>(t, N)))
  TRY(kFi, add_number<RecordPlace>(t, A))
  TRY(kFs, add_text<RecordPlace>(t, A))
  TRY(kFb, add_bytes<RecordPlace>(t, A, N))
  TRY(kFarg, add_argument<RecordPlace>(t, f, N))
  TRY(kFbuiltin, add_builtin<RecordPlace>(t, f, N))
  TRY(kFterm, add_term<RecordPlace>(t, terms[i->a], N))
  TRY(kFstack, add_stack<RecordPlace>(t, f, i->imm))

  TRY(kCall, call_subroutine(t, static_cast<Subroutine>(N), r + i->b, A))
  TRY(kTarg, host.argument_term(f, N, terms[i->a]) || t.fail(FaultKind::kIllegalOperation))
  TRY(kTbuiltin, host.builtin_term(N, f, terms[i->a]) || t.fail(FaultKind::kIllegalOperation))
  TRY(kTcall, host.term_part(N, terms[i->b], SIGNED(C), terms[i->a]) || t.fail(FaultKind::kIllegalOperation))
  TRY(kTint, term_number(t, N, terms[i->b], A))
  TRY(kTgeti, host.map_value(terms[i->b], SIGNED(C), terms[i->a]) || t.fail(FaultKind::kIllegalOperation))
  TRY(kTgets, map_value(t, terms[i->b], C, terms[i->a]))
  OP(kTis, A = terms[i->b] != 0)
  TRY(kTtext, term_in_scratch(t, terms[i->b], A))

  OP(kSpec, A = t.shared.speculations.start(); if (A == 0) t.ring->drop(Drop::kSpeculationUnavailable))
op_kSpecto:
  if (!t.shared.speculations.is_active(A)) {  // the clause ends here and records nothing
    t.record_words = 0;
    return true;
  }
  t.speculation = A;
  t.redirected = true;
  NEXT();
  TRY(kCommit, t.shared.speculations.can_be(A) ? (reported(t, t.shared.speculations.commit(A, *t.ring)), true)
                                               : t.fail(FaultKind::kIllegalOperation))
  TRY(kDiscard, t.shared.speculations.can_be(A) ? (reported(t, t.shared.speculations.discard(A)), true)
                                                : t.fail(FaultKind::kIllegalOperation))
  OP(kExit, exit_with(t, A))

fault:
  t.fault.offset = static_cast<std::uint64_t>(i - first);
  return false;

#undef NEXT
#undef OP
#undef TRY
#undef A
#undef B
#undef C
#undef N
#undef SIGNED
}

#pragma GCC diagnostic pop

}  // namespace vmrun::d
