"""Programs inside the machine that trace it (erltrace)."""
import pathlib
import resource

from harness.results import Test

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
STACK = 1 << 30  # of a thread, address space only


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [Test('live', 'inside: erltrace: ' + name[5:].replace('_', ' '), getattr(suite, name), alone=True)
            for name in vars(Suite) if name.startswith('test_')]


class Suite:
    def __init__(self, vmrun):
        self.vmrun = vmrun

    def test_handles_that_trace_nothing_need_no_thread(self):
        """There is no room for the stack of another one, and a thread that cannot be had is told of."""
        usual = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (STACK, usual[1]))
        try:
            target = session.Target(self.vmrun, HERE / 'idle_handles.act', flags=('+S', '1', '+SDcpu', '1', '+SDio', '1'))
        finally:
            resource.setrlimit(resource.RLIMIT_STACK, usual)
        with target:
            taken = int(pathlib.Path(f'/proc/{target.process.pid}/statm').read_text().split()[0]) * resource.getpagesize()
            resource.prlimit(target.process.pid, resource.RLIMIT_AS, (taken + STACK // 2,) * 2)
            target.line('go')
            target.wait_for('done')
            target.finish()
            expect(not target.errors.seen, 'a thread was asked for', *target.errors.seen)
