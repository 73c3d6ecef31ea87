/* Too many parts. */

a:b:c:d:e { }
