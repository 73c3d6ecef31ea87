/* One byte more than scratchsize. */
#pragma D option scratchsize=1024

BEGIN { this->p = alloca(1024); this->q = alloca(1025); }
