# bash completion for vmrun, vmrunc and vmtrace                            -*- shell-script -*-
# SPDX-License-Identifier: Apache-2.0
# Flags, their words and the views of vmtrace come from the --help of the command that is typed, so they are those of
# the installed program.

# Prints the help for what stands on the line: the command's, or that of a view.
_vmrun_help() {
  local command=${1/#\~/$HOME}
  if [[ ${command##*/} == vmtrace && $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == [a-z]* ]]; then
    "$command" "${COMP_WORDS[1]}" --help 2>/dev/null </dev/null
  else
    "$command" --help 2>/dev/null </dev/null
  fi
}

_vmrun() {
  local help word=$2 before=$3 value offered
  COMPREPLY=()
  help=$(_vmrun_help "$1") || return
  case $before in
    [-+]*)
      # The name of the value of the flag in front, if it has one: NAME, or one|another.
      value=$(sed -n "s/^  $(sed 's,[][\.*^$/],\\&,g' <<<"$before") \{1,2\}\([^ ]*\).*/\1/p" <<<"$help" | head -n 1)
      case $value in
        PID) COMPREPLY=($(compgen -W "$(pgrep -x 'vmrun|erl' 2>/dev/null)" -- "$word")); return ;;
        DIR) compopt -o filenames; COMPREPLY=($(compgen -d -- "$word")); return ;;
        [a-z]*'|'*) COMPREPLY=($(compgen -W "${value//|/ }" -- "$word")); return ;;
      esac
      ;;
  esac
  case $word in
    [-+]*)
      offered=$(sed -n 's/^  \([-+][^ ,]*\), \([-+][^ ]*\) .*/\1 \2/p; s/^  \([-+][^ ,]*\)\( .*\)\{0,1\}$/\1/p' \
        <<<"$help")
      ;;
    *)
      [[ ${1##*/} != vmtrace || $COMP_CWORD -ne 1 ]] || offered=$(sed -n 's/^  vmtrace \([a-z]*\) .*/\1/p' <<<"$help")
      compopt -o filenames
      COMPREPLY=($(compgen -f -- "$word"))
      ;;
  esac
  COMPREPLY+=($(compgen -W "$offered" -- "$word"))
} && complete -F _vmrun vmrun vmrunc vmtrace
