/* An argument that is not given. */

BEGIN { trace($1); }
