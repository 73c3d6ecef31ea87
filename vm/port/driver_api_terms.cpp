// SPDX-License-Identifier: Apache-2.0
// Functions for drivers: data for the owner, and terms for any process.

#include <algorithm>
#include <cstring>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/term_input.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/map.hpp"

using namespace vmrun;

namespace {

// ---- Building -----------------------------------------------------------------------------------

/// A part of a binary. It is shared if that saves copying more than a few bytes.
Term binary_part(Heap& heap, Binary* binary, Word offset, Word size) {
  if (size <= kHeapBinaryMaxBytes) return make_binary(heap, binary->data + offset, size);
  binary->retain();
  return make_refc_binary(heap, binary, binary->data + offset, size);
}

Term byte_list(Heap& heap, const void* bytes, Word size, Term tail) {
  const auto* first = static_cast<const std::uint8_t*>(bytes);
  Term* hp = heap.alloc(2 * size);
  for (Word i = size; i--;) tail = make_cons(hp, Term::small(first[i]), tail);
  return tail;
}

/// Runs the stack machine of erl_drv_output_term: each tag takes its operands and, for compound
/// terms, takes elements off the stack.
class TermMachine {
 public:
  TermMachine(Heap& heap, const ErlDrvTermData* data, int length) : heap_(heap), next_(data), left_(length) {}

  /// Returns the one term that is left in the end, or the non-value when the data are not a term.
  Term run() {
    while (left_ > 0) {
      const Term t = step();
      if (!t) return kNonValue;
      stack_.push_back(t);
    }
    return stack_.size() == 1 ? stack_[0] : kNonValue;
  }
  /// The number of bytes in binaries and strings.
  Word data_bytes() const { return data_bytes_; }

 private:
  template <class T>
  T operand() {
    --left_;
    return (T)*next_++;
  }
  ErlDrvUInt data_size() {
    const auto size = operand<ErlDrvUInt>();
    data_bytes_ += size;
    return size;
  }
  bool have(std::size_t elements) const { return stack_.size() >= elements; }

  Term step() {
    const auto tag = operand<ErlDrvTermData>();
    static constexpr std::uint8_t kOperands[] = {0, 0, 1, 1, 1, 3, 2, 1, 1, 2, 1, 1, 2, 1, 2, 1, 1, 1};
    if (tag == 0 || tag >= sizeof kOperands || left_ < kOperands[tag]) return kNonValue;
    switch (tag) {
      case ERL_DRV_NIL: return Term::nil();
      case ERL_DRV_ATOM: return checked(&Term::is_atom);
      case ERL_DRV_INT: return make_integer(heap_, operand<ErlDrvSInt>());
      case ERL_DRV_UINT: return make_unsigned(heap_, operand<ErlDrvUInt>());
      case ERL_DRV_INT64: return make_integer(heap_, *operand<ErlDrvSInt64*>());
      case ERL_DRV_UINT64: return make_unsigned(heap_, *operand<ErlDrvUInt64*>());
      case ERL_DRV_PORT: return checked(&Term::is_local_port);
      case ERL_DRV_PID: return checked(&Term::is_local_pid);
      case ERL_DRV_FLOAT: return floating(*operand<double*>());
      case ERL_DRV_BINARY: return driver_binary_part();
      case ERL_DRV_BUF2BINARY: {
        const auto* bytes = operand<const char*>();
        const auto size = data_size();
        return bytes || size == 0 ? make_binary(heap_, bytes, size) : kNonValue;
      }
      case ERL_DRV_STRING: {
        const auto* bytes = operand<const char*>();
        const auto size = data_size();
        return byte_list(heap_, bytes, size, Term::nil());
      }
      case ERL_DRV_STRING_CONS: {
        const auto* bytes = operand<const char*>();
        const auto size = data_size();
        if (!have(1)) return kNonValue;
        const Term tail = stack_.back();
        stack_.pop_back();
        return byte_list(heap_, bytes, size, tail);
      }
      case ERL_DRV_EXT2TERM: {
        const auto* bytes = operand<const std::uint8_t*>();
        const auto size = operand<ErlDrvUInt>();
        return bytes ? decode_external(heap_, bytes, size).term : kNonValue;
      }
      case ERL_DRV_TUPLE: return tuple(operand<ErlDrvUInt>());
      case ERL_DRV_LIST: return list(operand<ErlDrvUInt>());
      case ERL_DRV_MAP: return map(operand<ErlDrvUInt>());
    }
    return kNonValue;
  }

  Term checked(bool (Term::*is)() const) {
    const Term t = Term::from_raw(operand<Word>());
    return (t.*is)() ? t : kNonValue;
  }

  Term floating(double value) {
    if (value != value || value - value != 0) return kNonValue;
    Term* hp = heap_.alloc(2);
    return make_float(hp, value);
  }

  Term driver_binary_part() {
    auto* bin = operand<ErlDrvBinary*>();
    const auto size = data_size(), offset = operand<ErlDrvUInt>();
    if (!bin) return size == 0 ? make_binary(heap_, nullptr, 0) : kNonValue;
    const auto whole = static_cast<ErlDrvUInt>(bin->orig_size);
    if (size > whole || offset > whole - size) return kNonValue;
    return binary_part(heap_, binary_of(bin), offset, size);
  }

  Term tuple(Word n) {
    if (!have(n)) return kNonValue;
    if (n == 0) return empty_tuple();
    Term* object = heap_.alloc(n + 1);
    object[0] = Term::header(Term::Sub::kTuple, n);
    std::copy(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end(), object + 1);
    stack_.resize(stack_.size() - n);
    return Term::boxed(object);
  }

  /// A list of n elements, the last of which is the tail.
  Term list(Word n) {
    if (n == 0 || !have(n)) return kNonValue;
    Term t = stack_.back();
    Term* hp = heap_.alloc(2 * (n - 1));
    for (Word i = 2; i <= n; ++i) t = make_cons(hp, stack_[stack_.size() - i], t);
    stack_.resize(stack_.size() - n);
    return t;
  }

  Term map(Word n) {
    if (n > stack_.size() / 2) return kNonValue;
    bool duplicates = false;
    const Term t = map_from_pairs(heap_, stack_.data() + stack_.size() - 2 * n, n, &duplicates);
    stack_.resize(stack_.size() - 2 * n);
    return duplicates ? kNonValue : t;
  }

  Heap& heap_;
  const ErlDrvTermData* next_;
  int left_;
  Word data_bytes_ = 0;
  std::vector<Term> stack_;
};

/// Makes the heap's terms a message. When all of them lie in one fragment, which is usual, that
/// fragment is the message.
Fragment* message_of(Heap& heap, Term root) {
  Fragment* f = heap.fragments;
  if (f && !f->next) {
    f->off_heap = heap.off_heap;
    heap.fragments = nullptr;
    heap.off_heap = nullptr;
  } else {
    const Word words = copy_size_words(root);
    f = new_fragment(words);
    Term* hp = f->words;
    root = copy_term(root, hp, f->off_heap);
    f->used_words = static_cast<std::uint32_t>(words);
  }
  f->message = root;
  return f;
}

/// Returns 1: sent; 0: the receiver does not exist; -1: not a term. from: the port.
int send_terms(Term from, Term to, const ErlDrvTermData* data, int length) {
  Heap heap;
  TermMachine machine(heap, data, length);
  const Term root = machine.run();
  if (!root) return -1;
  EpochGuard guard;
  // Only the thread that holds the port reports to tracing.
  if (Port* p = current_port; p && p->id == from && p->tracing.is_on(kTraceSend)) [[unlikely]]
    tell_port_send(p->tracing, from, to, root, process_table.find(to) != nullptr);
  if (machine.data_bytes()) count_term_input(machine.data_bytes());
  return send_from_vm(to, message_of(heap, root)) ? 1 : 0;
}

[[gnu::cold, gnu::noinline]] bool says_last(const Port& p) { return current_port == &p && p.says_last; }
bool is_closing(const Port& p) {
  return p.state.load(std::memory_order_acquire) >= Port::State::kClosing && !says_last(p);
}

/// For functions that any thread may call with a port's identifier.
int send_terms_from(ErlDrvTermData port, Term to, const ErlDrvTermData* data, int length) {
  const Term id = term_of(port);
  {
    EpochGuard guard;
    const Port* p = id.is_local_port() ? port_table.find(id) : nullptr;
    if (!p) return -1;
    if (is_closing(*p)) return 0;
    if (!to) to = p->owner_now();
  }
  return send_terms(id, to, data, length);
}

}  // namespace

bool vmrun::send_driver_term(Term to, const ErlDrvTermData* data, int length) {
  return send_terms(current_port ? current_port->id : kNonValue, to, data, length) > 0;
}

const ErlDrvTermData driver_term_nil = Term::kNilTag;

extern "C" {

// ---- Data ---------------------------------------------------------------------------------------

int driver_output2(ErlDrvPort port, char* hbuf, ErlDrvSizeT hlen, char* buf, ErlDrvSizeT len) {
  if (!port) return -1;
  Port& p = port_of(port);
  if (!is_closing(p))
    deliver_data(p, reinterpret_cast<std::uint8_t*>(hbuf), hlen, reinterpret_cast<std::uint8_t*>(buf), len);
  return 0;
}

int driver_output(ErlDrvPort port, char* buf, ErlDrvSizeT len) {
  return driver_output2(port, nullptr, 0, buf, len);
}

int driver_output_binary(ErlDrvPort port, char* hbuf, ErlDrvSizeT hlen, ErlDrvBinary* bin, ErlDrvSizeT offset,
                         ErlDrvSizeT len) {
  if (!port) return -1;
  Port& p = port_of(port);
  if (is_closing(p)) return 0;
  if (!bin) return driver_output2(port, hbuf, hlen, nullptr, 0);
  const auto whole = static_cast<ErlDrvSizeT>(bin->orig_size);
  if (len > whole || offset > whole - len) return -1;
  deliver_binary(p, reinterpret_cast<std::uint8_t*>(hbuf), hlen, binary_of(bin), offset, len);
  return 0;
}

/// A binary port gets binaries, one for each element: [Header…, Piece1, Piece2 | Piece3]. Other
/// ports get one list of bytes.
int driver_outputv(ErlDrvPort port, char* hbuf, ErlDrvSizeT hlen, ErlIOVec* ev, ErlDrvSizeT skip) {
  if (!port || skip > ev->size) return -1;
  Port& p = port_of(port);
  if (is_closing(p)) return 0;
  Heap heap;
  Term data = Term::nil();
  const ErlDrvSizeT total = ev->size - skip;
  ErlDrvSizeT left = total;  // built from the end
  for (int i = ev->vsize - 1; i >= 0 && left; --i) {
    const ErlDrvSizeT size = ev->iov[i].iov_len, begin = size > left ? size - left : 0;
    if (begin == size) continue;
    left -= size - begin;
    const char* bytes = static_cast<const char*>(ev->iov[i].iov_base) + begin;
    if (!p.binary) {
      data = byte_list(heap, bytes, size - begin, data);
      continue;
    }
    ErlDrvBinary* bin = ev->binv[i];
    const Term part =
        bin ? binary_part(heap, binary_of(bin), static_cast<Word>(bytes - bin->orig_bytes), size - begin)
            : make_binary(heap, bytes, size - begin);
    if (data.is_nil()) {  // the last one is the list's tail, so a single one is not a list
      data = part;
      continue;
    }
    Term* hp = heap.alloc(2);
    data = make_cons(hp, part, data);
  }
  if (hlen) data = byte_list(heap, hbuf, hlen, data);
  Term* hp = heap.alloc(6);
  static const Term kData = intern_atom("data");
  const Term pair = make_tuple(hp, kData, data);
  p.input_bytes.fetch_add(hlen + total, std::memory_order_relaxed);
  deliver_to_owner(p, message_of(heap, make_tuple(hp, p.id, pair)));
  return 0;
}

// ---- Terms --------------------------------------------------------------------------------------

ErlDrvTermData driver_mk_atom(char* string) { return driver_term(text_atom(string)); }
ErlDrvTermData driver_mk_port(ErlDrvPort port) { return driver_term(port_of(port).id); }
ErlDrvTermData driver_connected(ErlDrvPort port) {
  return port ? driver_term(port_of(port).owner_now()) : driver_term_nil;
}
ErlDrvTermData driver_caller(ErlDrvPort port) {
  if (!port) return driver_term_nil;
  const Term caller = port_of(port).caller;
  return caller ? driver_term(caller) : driver_term_nil;
}
ErlDrvTermData driver_mk_term_nil(void) { return driver_term_nil; }

int erl_drv_output_term(ErlDrvTermData port, ErlDrvTermData* data, int len) {
  return send_terms_from(port, kNonValue, data, len);
}
int erl_drv_send_term(ErlDrvTermData port, ErlDrvTermData to, ErlDrvTermData* data, int len) {
  return send_terms_from(port, term_of(to), data, len);
}

int driver_output_term(ErlDrvPort port, ErlDrvTermData* data, int len) {
  if (!port) return -1;
  Port& p = port_of(port);
  return is_closing(p) ? 0 : send_terms(p.id, p.owner_now(), data, len);
}
int driver_send_term(ErlDrvPort port, ErlDrvTermData to, ErlDrvTermData* data, int len) {
  if (!port) return -1;
  const Port& p = port_of(port);
  return is_closing(p) ? 0 : send_terms(p.id, term_of(to), data, len);
}

}  // extern "C"
