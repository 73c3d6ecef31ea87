/* How long a function takes that ends in a call of another one. */
/* target: functions.act */
#pragma D option quiet

erlang*:functions:given:entry { self->t = timestamp; }
erlang*:functions:given:return
/self->t/
{
	@calls = count();
	@time = quantize(timestamp - self->t);
	self->t = 0;
}
erlang*:functions:given:exception { @exceptions = count(); }
END { printa("%@d calls\n", @calls); printa("%@d exceptions\n", @exceptions); trunc(@time); }

/* expect: 5 calls */
