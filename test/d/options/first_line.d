#!/usr/bin/env -S vmtrace -qs
/* A first line that names the interpreter. */
/* flags: -q */
BEGIN { printf("run\n"); exit(0); }

/* expect: run */
