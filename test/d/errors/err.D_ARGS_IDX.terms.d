/* A function without arguments has no targs at its entry. */
/* target: ../target/reverse.act */
/* expect-err: :6:22: error: [D_ARGS_IDX] index 0 is out of range for erlang*:reverse:main/0:entry targs[ ]: the function takes no arguments */
erlang*:reverse:main/0:entry
{
	trace(term2str(targs[0]));
}
