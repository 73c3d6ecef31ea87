/* A number that is no constant. */

BEGIN { x = 3; @[ustack(x)] = count(); }
