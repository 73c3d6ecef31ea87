/* A scope in a declaration. */

int vmlinux`x;
BEGIN {  }
