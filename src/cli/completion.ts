// Completion for bash and zsh, written from the table of commands. The same words in both: the
// commands, then the options of the command and the values of those that have a closed list.
import type { Command, Option } from './command.ts';
import { GLOBAL_OPTIONS, type Table } from './parse.ts';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Both scripts find the words of the command: those that are no option and no value of one. `first`
 * and `second` are its first two, `previous` the word before the one that is completed.
 */
export function completionOf(table: Table, shell: Shell): string {
  return shell === 'bash' ? bash(table) : zsh(table);
}

function bash(table: Table): string {
  return `# tollhouse completion for bash: source <(tollhouse completion bash)
_tollhouse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous='' first='' second='' word words='' files=''
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$previous" in ${valued(table)}) previous=''; continue ;; esac
    previous="$word"
    case "$word" in
      -*) ;;
      *) if [[ -z $first ]]; then first="$word"; elif [[ -z $second ]]; then second="$word"; fi ;;
    esac
  done
${cases(table)}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $files ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _tollhouse tollhouse
`;
}

function zsh(table: Table): string {
  return `#compdef tollhouse
# tollhouse completion for zsh: source <(tollhouse completion zsh)
_tollhouse() {
  local previous='' first='' second='' word words_now='' files='' at
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    case "$previous" in ${valued(table)}) previous=''; continue ;; esac
    previous="$word"
    case "$word" in
      -*) ;;
      *) if [[ -z $first ]]; then first="$word"; elif [[ -z $second ]]; then second="$word"; fi ;;
    esac
  done
${cases(table).replaceAll('words=', 'words_now=')}
  compadd -- \${=words_now}
  if [[ -n $files ]]; then _files; fi
}
compdef _tollhouse tollhouse
`;
}

/** The options whose value follows them, as a pattern. */
function valued(table: Table): string {
  const rows = [GLOBAL_OPTIONS, ...Object.values(table).map(({ options }) => options)];
  const names = rows
    .flatMap((options) => Object.entries<Option>(options))
    .flatMap(([name, { value }]) => (value === undefined ? [] : [`--${name}`]));
  return [...new Set(names)].join('|');
}

function cases(table: Table): string {
  const nouns = new Map<string, string[]>();
  for (const name of Object.keys(table)) {
    const [noun = '', verb] = name.split(' ');
    nouns.set(noun, [...(nouns.get(noun) ?? []), ...(verb === undefined ? [] : [verb])]);
  }
  const lines = ['  case "$previous" in'];
  for (const [pattern, words] of choicesOfOptions(table)) lines.push(arm(pattern, words));
  // Any other value of an option is free text.
  lines.push(arm(valued(table), []), '    *) case "$first $second" in');
  lines.push(arm("' '", [...nouns.keys(), ...switches(GLOBAL_OPTIONS)]));
  for (const [noun, verbs] of nouns) {
    if (verbs.length > 0) lines.push(arm(`'${noun} '`, verbs));
  }
  for (const [name, row] of Object.entries(table)) {
    const isTwoWords = name.includes(' ');
    const [argument] = row.args;
    const options = [...switches(row.options), ...switches(GLOBAL_OPTIONS)];
    const isFile = argument?.isFile === true && !isTwoWords;
    if (isTwoWords) lines.push(arm(`'${name}'`, options));
    else {
      lines.push(arm(`'${name} '`, [...(argument?.choices ?? []), ...options], isFile));
      lines.push(arm(`'${name} '*`, options));
    }
  }
  return [...lines, '    esac ;;', '  esac'].join('\n');
}

const switches = (options: Command['options']): string[] =>
  Object.keys(options).map((name) => `--${name}`);

function arm(pattern: string, words: readonly string[], isFile = false): string {
  const files = isFile ? '; files=1' : '';
  return `    ${pattern}) words='${words.join(' ')}'${files} ;;`;
}

function choicesOfOptions(table: Table): [string, readonly string[]][] {
  return Object.values(table).flatMap(({ options }) =>
    Object.entries<Option>(options).flatMap(([name, { choices }]) =>
      choices === undefined ? [] : [[`--${name}`, choices] as [string, readonly string[]]],
    ),
  );
}
