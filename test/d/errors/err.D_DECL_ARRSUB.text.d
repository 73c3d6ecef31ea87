/* A dimension that is no integer. */

int a["x"];
BEGIN {  }
