# SPDX-License-Identifier: Apache-2.0
# Completions for vmrun, vmrunc and vmtrace. Flags, their words and the views of vmtrace come from the --help of the
# command that is typed.

function __vmrun_help
    set -l words (commandline -opc)
    set -l command (string replace -r '^~' $HOME -- $words[1])
    if string match -qr 'vmtrace$' -- $command; and set -q words[2]; and string match -qr '^[a-z]' -- $words[2]
        $command $words[2] --help 2>/dev/null </dev/null
    else
        $command --help 2>/dev/null </dev/null
    end
end

# Lines of a word, a tab and its meaning.
function __vmrun_complete
    set -l words (commandline -opc)
    set -l help (__vmrun_help)
    if string match -qr '^[-+]' -- $words[-1]
        set -l value (string match -rg '^  '(string escape --style=regex -- $words[-1])' {1,2}([a-z_]+\|[^ ]*)' -- $help)
        if set -q value[1]
            string split '|' -- $value[1]
            return
        end
    end
    if string match -qr '^[-+]' -- (commandline -ct)
        string match -r '^  [-+].*' -- $help | string replace -r '^  ([-+][^ ,]+)(?:, [-+][^ ]+)? *(.*)' '$1\t$2'
        string match -r '^  [-+][^ ,]+, [-+].*' -- $help | string replace -r '^  [-+][^ ,]+, ([-+][^ ]+) *(.*)' '$1\t$2'
    else if string match -qr 'vmtrace$' -- $words[1]; and not set -q words[2]
        string match -r '^  vmtrace [a-z]+ .*' -- $help | string replace -r '^  vmtrace ([a-z]+) +(.*)' '$1\t$2'
    end
end

for command in vmrun vmrunc vmtrace
    complete -c $command -a '(__vmrun_complete)'
end
