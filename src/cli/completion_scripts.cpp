// What shells load. All three do the same: they ask the program for words, and add names of files where it says so.
#include "cli/completion.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view bash_script =
    R"sh(# Completion of kaisched for bash. Load it with:  source <(kaisched completion bash)
_kaisched() {
  local words=() cur="" word join="" i
  # bash splits words at = and :, which are put together again
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:] && ${#words[@]} -gt 0 ]]; then
      words[-1]+=$word
      join=yes
    elif [[ -n $join ]]; then
      words[-1]+=$word
      join=""
    else
      words+=("$word")
    fi
  done
  cur=${words[-1]}
  local breaks=${COMP_WORDBREAKS//[^=:]/} typed=""
  if [[ -n $breaks && $cur == *["$breaks"]* ]]; then
    typed=${cur%"${cur##*["$breaks"]}"}
  fi
  local line reply endings=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      compopt -o filenames 2>/dev/null
      endings=${line#:files}
      local value=$cur
      [[ $cur == --*=* ]] && value=${cur#*=}
      while IFS= read -r reply; do
        [[ -z $endings || -d $reply || " $endings " == *" ${reply##*.} "* ]] && COMPREPLY+=("$reply")
      done < <(compgen -f -- "$value")
    else
      reply=${line%%$'\t'*}
      [[ $reply == *= ]] && compopt -o nospace 2>/dev/null
      COMPREPLY+=("${reply#"$typed"}")
    fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
}
complete -F _kaisched kaisched
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef kaisched
# Completion of kaisched for zsh. Load it after compinit with:  source <(kaisched completion zsh)
_kaisched() {
  local line word endings
  local -a plain open globs
  for line in "${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ -z $line ]]; then
      continue
    elif [[ $line == :files* ]]; then
      endings=${line#:files}
      compset -P '--*='
      if [[ -z $endings ]]; then
        _files
      else
        globs=("*."${^=endings})
        _files -g "${(j: :)globs}"
      fi
    else
      word=${line%%$'\t'*}
      word=${word//:/\\:}
      if [[ $word == *= ]]; then
        open+=("$word:${line#*$'\t'}")
      else
        plain+=("$word:${line#*$'\t'}")
      fi
    fi
  done
  (( $#plain )) && _describe kaisched plain
  (( $#open )) && _describe kaisched open -S ''
}
compdef _kaisched kaisched
)sh";

constexpr std::string_view fish_script =
    R"sh(# Completion of kaisched for fish. Load it with:  kaisched completion fish | source
function __kaisched_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
        if string match -q ':files*' -- $line
            set -l endings (string split -n ' ' -- (string replace ':files' '' -- $line))
            set -l lead (string match -r -- '^--[^=]*=' $typed)
            for file in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $typed))
                set -l name (string split \t -- $file)[1]
                set -l ending (string split -r -m1 . -- $name)[-1]
                if test (count $endings) -eq 0; or string match -q '*/' -- $name; or contains -- $ending $endings
                    echo "$lead$name"
                end
            end
        else
            echo $line
        end
    end
end
complete -c kaisched -f -a '(__kaisched_complete)'
)sh";

}  // namespace

std::string_view completion_script(std::string_view shell) noexcept {
  return shell == "zsh" ? zsh_script : shell == "fish" ? fish_script : bash_script;
}

}  // namespace kaisched::cli
