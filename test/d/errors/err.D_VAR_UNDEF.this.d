/* A variable of the clause that nobody assigned. */

BEGIN { trace(this->x); }
