/* A macro nobody knows. */

BEGIN { trace($nosuch); }
