/* An associative array of a clause. */

BEGIN { this->a[1] = 2; }
