/* Zeros in front, which a precision and - switch off. */
#pragma D option quiet

BEGIN { printf("%05d|%-05d|%05.3d|%08x|%#010x|%05s|\n", 42, 42, 42, 255, 255, "s"); exit(0); }

/* expect: 00042|42   |  042|000000ff|0x000000ff|    s| */
