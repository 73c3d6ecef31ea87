/* An argument that is not given, as a text. */

BEGIN { trace($$1); }
