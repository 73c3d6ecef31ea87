/* freopen of no constant. */

BEGIN { freopen(1); }
