/* A text of the script's is no address of the process that is traced. */

BEGIN { tracemem(copyin("1", 2), 2); }
