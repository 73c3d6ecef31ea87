/* Too many bytes of this-> variables. */

this char a[40000];
this char b[40000];
BEGIN {  }
