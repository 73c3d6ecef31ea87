/* -s /dev/stdin -n 'END {}' is standard input. */
/* flags: -q -s /dev/stdin -n 'END {}' */
/* stdin: BEGIN { printf("from standard input\n"); exit(0); } */



/* expect: from standard input */
