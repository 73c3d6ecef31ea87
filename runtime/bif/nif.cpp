#include "vm/nif/load_nif.hpp"

#include "vm/bif.hpp"

// erlang:load_nif/2 when it is not called by name but applied: the caller is then the code that the call returns to.
namespace vmrun {

Term bif_erlang_load_nif_2(Process& p, const Term* a) { return load_nif_called_at(p, a, p.ip); }

}  // namespace vmrun
