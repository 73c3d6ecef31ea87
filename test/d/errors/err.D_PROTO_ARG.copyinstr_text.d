/* A text of the script's is no address of the process that is traced. */

BEGIN { s = "1"; trace(copyinstr(s)); }
