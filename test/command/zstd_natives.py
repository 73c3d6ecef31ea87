# SPDX-License-Identifier: Apache-2.0
"""The native functions of OTP's zstd (28 and later), called by a module of that name."""
import os
import pathlib
import subprocess

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S

HERE = pathlib.Path(__file__).resolve().parent / 'natives'
EXPECTED = f'''levels [{','.join(['true'] * 20)}]
in pieces true
flushed {{<<"hello">>,<<"again">>}}
#{{checksumFlag => true,dictID => 0,frameContentSize => 100000,
  frameType => 'ZSTD_frame'}}
[blockSizeMax,checksumFlag,dictID,frameContentSize,frameType,headerSize,
 windowSize]
{{zstd_error,<<"Unknown frame descriptor">>}}
dictionaries {{[true,true],true,true,0}}
[true,btopt,true,20,-5]
22
{{badarg,{{invalid_key,nothing}}}}
{{badarg,{{invalid_value,1}}}}
{{zstd_error,<<"Parameter is out of bound">>}}
{{badarg,{{invalid_key,windowLog}}}}
{{zstd_error,<<"Unknown frame descriptor">>}}
[badarg,badarg,badarg,badarg]
not_on_controlling_process
'''


def natives(vmrun):
    done = subprocess.run(
        [os.path.abspath(vmrun), '-pa', str(HERE), str(HERE / 'zstd_natives.act')],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=ENVIRONMENT,
    )
    if done.stdout == 'no library\n':
        raise Skip('built without libzstd')
    if (done.returncode, done.stdout) != (0, EXPECTED):
        raise Failure(f'status {done.returncode}, {done.stdout}\n{done.stderr}')


def tests(vmrun):
    return [Test('command', "zstd's natives", lambda: natives(vmrun))]
