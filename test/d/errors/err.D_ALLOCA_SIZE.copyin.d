/* One byte more than scratchsize. */
#pragma D option scratchsize=64

BEGIN { this->p = copyin(arg0, 65); }
