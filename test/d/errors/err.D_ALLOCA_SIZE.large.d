/* More than the scratch memory of a clause. */

BEGIN { this->p = alloca(1000000); }
