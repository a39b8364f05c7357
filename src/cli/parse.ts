// Arguments to a command and its values, by the table of commands.
//
// Options may stand anywhere. One that is unknown, that another command takes, that comes twice or
// that lacks its value is refused: a misspelt one must not be left out in silence.
import { parseArgs } from 'node:util';
import { type Command, type Option, type OptionValues, UsageError } from './command.ts';

export type Table = Readonly<Record<string, Command>>;

/** Every command takes these. */
export const GLOBAL_OPTIONS = {
  'api-key': { value: 'KEY', about: 'the key to call with (default: TOLLHOUSE_API_KEY)' },
  url: {
    value: 'URL',
    about: 'the service (default: TOLLHOUSE_URL, or else http://localhost:3000)',
  },
  json: { about: 'print JSON for programs' },
  help: { about: 'show what the command takes' },
  version: { about: 'print the version' },
} as const satisfies Readonly<Record<string, Option>>;

export type Globals = {
  readonly 'api-key': string | undefined;
  readonly url: string | undefined;
  readonly json: boolean;
};

export type Parsed =
  | { readonly kind: 'version' }
  /** Without a name: of all commands. */
  | { readonly kind: 'help'; readonly name: string | null }
  | {
      readonly kind: 'command';
      readonly name: string;
      readonly globals: Globals;
      readonly options: OptionValues;
      readonly args: readonly string[];
    };

type Values = ReadonlyMap<string, string | true>;

/** @throws UsageError */
export function parse(table: Table, argv: readonly string[]): Parsed {
  const known = allOptions(table);
  const { values, words: given } = read(known, argv);
  if (values.has('version')) return { kind: 'version' };
  const isHelpWord = given[0] === 'help';
  const isHelp = isHelpWord || values.has('help');
  const words = isHelpWord ? given.slice(1) : given;
  if (words.length === 0) {
    if (isHelp) return { kind: 'help', name: null };
    throw new UsageError('which command? "tollhouse --help" lists them');
  }
  const name = nameOf(table, words);
  const command = table[name];
  if (command === undefined) throw new UsageError(unknownCommand(table, words));
  if (isHelp) return { kind: 'help', name };
  const args = words.slice(name.split(' ').length);
  checkOptions(name, command, values);
  checkArguments(name, command, args);
  const valueOf = (option: string) =>
    known.get(option)?.value === undefined ? values.has(option) : values.get(option);
  const text = (option: 'api-key' | 'url') => {
    const value = values.get(option);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    kind: 'command',
    name,
    globals: { 'api-key': text('api-key'), url: text('url'), json: values.has('json') },
    options: Object.fromEntries(
      Object.keys(command.options).map((option) => [option, valueOf(option)]),
    ),
    args,
  };
}

/** An option has one meaning for all commands, so that it can be read before the command is. */
function allOptions(table: Table): ReadonlyMap<string, Option> {
  const rows = [GLOBAL_OPTIONS, ...Object.values(table).map(({ options }) => options)];
  return new Map(rows.flatMap((options) => Object.entries<Option>(options)));
}

function read(
  known: ReadonlyMap<string, Option>,
  argv: readonly string[],
): { readonly values: Values; readonly words: readonly string[] } {
  const types = [...known].map(([name, { value }]) => {
    const type: 'string' | 'boolean' = value === undefined ? 'boolean' : 'string';
    return [name, name === 'help' ? { type, short: 'h' } : { type }] as const;
  });
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(types),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string | true>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = known.get(name);
    if (option === undefined) throw new UsageError(`unknown option ${rawName}`);
    if (values.has(name)) throw new UsageError(`${rawName} is given twice`);
    values.set(name, option.value === undefined ? true : givenValue(rawName, value, inlineValue));
    if (option.value === undefined && value !== undefined) {
      throw new UsageError(`${rawName} takes no value`);
    }
  }
  return { values, words };
}

/** `--value -5` is a number; `--customer --json` lacks a name. */
function givenValue(
  rawName: string,
  value: string | undefined,
  isInline: boolean | undefined,
): string {
  const isForgotten = value === undefined || (isInline !== true && /^-(?!\d)./.test(value));
  if (isForgotten || value === '') throw new UsageError(`${rawName} needs a value`);
  return value;
}

/** Names have one word or two. */
function nameOf(table: Table, [first = '', second = '']: readonly string[]): string {
  const isOneWord = Object.hasOwn(table, first);
  const both = `${first} ${second}`;
  if (isOneWord) return first;
  return Object.hasOwn(table, both) ? both : '';
}

function unknownCommand(table: Table, [first = '', second]: readonly string[]): string {
  const verbs = Object.keys(table)
    .map((name) => name.split(' '))
    .flatMap(([noun, verb]) => (noun === first && verb !== undefined ? [verb] : []));
  if (verbs.length === 0) return `unknown command ${first}: "tollhouse --help" lists them`;
  const wrong = second === undefined ? '' : `, not ${second}`;
  return `${first} takes ${verbs.join(', ')}${wrong}`;
}

function checkOptions(name: string, { options }: Command, values: Values): void {
  for (const given of values.keys()) {
    if (Object.hasOwn(GLOBAL_OPTIONS, given) || Object.hasOwn(options, given)) continue;
    throw new UsageError(`${name} takes no --${given}`);
  }
  for (const [option, { isRequired, choices }] of Object.entries(options)) {
    const value = values.get(option);
    if (value === undefined && isRequired === true)
      throw new UsageError(`${name} needs --${option}`);
    checkChoice(`--${option}`, value, choices);
  }
}

function checkArguments(name: string, command: Command, given: readonly string[]): void {
  for (const [place, { name: what, choices }] of command.args.entries()) {
    const value = given[place];
    if (value === undefined || value === '') throw new UsageError(`${name} needs ${what}`);
    checkChoice(what, value, choices);
  }
  const more = given.slice(command.args.length);
  if (more.length > 0) throw new UsageError(`${name} does not take ${more.join(' ')}`);
}

function checkChoice(
  what: string,
  value: string | true | undefined,
  choices: readonly string[] | undefined,
): void {
  if (typeof value !== 'string' || choices === undefined || choices.includes(value)) return;
  throw new UsageError(`${what} must be one of ${choices.join(', ')}`);
}
