/* A term is compared with a string or an integer. */
/* target: ../target/messages.act */

struct s { int a; };
struct s v;
erlang*:::process-exit /targs[1] == v/ { }
