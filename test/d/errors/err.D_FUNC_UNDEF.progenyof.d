/* Data of a kernel. */

BEGIN { x = progenyof(1); }
