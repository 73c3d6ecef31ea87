/* Who runs has waited for it, once. */
/* target: calls.act */
#pragma D option quiet

process-runnable { waits[copyinstr(arg0)]++; }
process-running { waits[copyinstr(arg0)]--; }
process-running /waits[copyinstr(arg0)] != 0 || (int64_t)arg1 < 0/ { printf("%s: %d\n", copyinstr(arg0), waits[copyinstr(arg0)]); }
process-exit /copyinstr(arg1) == "{done,2}"/ { printf("runs, waits %d\n", waits[self]); }

/* expect: runs, waits 0 */
