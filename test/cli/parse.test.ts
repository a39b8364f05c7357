import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { UsageError } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { GLOBAL_OPTIONS, parse } from '../../src/cli/parse.ts';
import { holds, seeded } from '../ledger/property.ts';

const read = (line: string) => parse(COMMANDS, line.split(' ').filter(Boolean));

test.each([
  ['check api --customer u', { customer: 'u', value: undefined }],
  ['check --customer u api', { customer: 'u', value: undefined }],
  ['--json --url http://x check api --customer=u', { customer: 'u', value: undefined }],
  ['check api --customer u --value -5', { customer: 'u', value: '-5' }],
  ['check api --customer=-u', { customer: '-u', value: undefined }],
  ['check --customer u -- api', { customer: 'u', value: undefined }],
])('the command line parses %s', (line, options) => {
  expect(read(line)).toMatchObject({ kind: 'command', name: 'check', options, args: ['api'] });
});

test('the command line parses two words, switches and no arguments', () => {
  expect(read('customers list --limit 5')).toMatchObject({
    name: 'customers list',
    options: { limit: '5', after: undefined },
    args: [],
  });
  expect(read('ingest - --restart')).toMatchObject({ options: { restart: true }, args: ['-'] });
  expect(read('ingest f')).toMatchObject({ options: { restart: false } });
  expect(read('ingest f --url http://x --json')).toMatchObject({
    globals: { url: 'http://x', json: true, 'api-key': undefined },
  });
});

test.each([
  ['--help', { kind: 'help', name: null }],
  ['-h', { kind: 'help', name: null }],
  ['check --help', { kind: 'help', name: 'check' }],
  ['help', { kind: 'help', name: null }],
  ['help --help', { kind: 'help', name: null }],
  ['help check', { kind: 'help', name: 'check' }],
  ['help events tail', { kind: 'help', name: 'events tail' }],
  ['events tail -h', { kind: 'help', name: 'events tail' }],
  ['--version', { kind: 'version' }],
] as const)('the command line reads %s as help or version', (line, parsed) => {
  expect(read(line)).toEqual(parsed);
});

test.each([
  ['', 'which command? "tollhouse --help" lists them'],
  ['chek', 'unknown command chek: "tollhouse --help" lists them'],
  ['constructor', 'unknown command constructor: "tollhouse --help" lists them'],
  ['help chek', 'unknown command chek: "tollhouse --help" lists them'],
  ['help customers', 'customers takes list, get, create'],
  ['customers', 'customers takes list, get, create'],
  ['customers drop', 'customers takes list, get, create, not drop'],
  ['check', 'check needs --customer'],
  ['check --customer u', 'check needs FEATURE'],
  ['check a b --customer u', 'check does not take b'],
  ['check a --customer', '--customer needs a value'],
  ['check a --customer=', '--customer needs a value'],
  ['check a --customer --json', '--customer needs a value'],
  ['check a --customer u --customer v', '--customer is given twice'],
  ['check a --custmer u', 'unknown option --custmer'],
  ['check a --customer u -x', 'unknown option -x'],
  ['check a --customer u --key k', 'check takes no --key'],
  ['check a --customer u --json=yes', '--json takes no value'],
  ['check a --customer u --no-json', 'unknown option --no-json'],
  ['completion fish', 'SHELL must be one of bash, zsh'],
  ['trigger payment.suceeded', /^TYPE must be one of payment\.succeeded, /],
])('the command line refuses %s', (line, message) => {
  expect(() => read(line)).toThrow(message);
  expect(() => read(line)).toThrow(UsageError);
});

const word = fc.constantFrom(
  ...Object.keys(COMMANDS).flatMap((name) => name.split(' ')),
  ...Object.values(COMMANDS).flatMap(({ options }) => Object.keys(options).map((o) => `--${o}`)),
  ...Object.keys(GLOBAL_OPTIONS).map((name) => `--${name}`),
  '-',
  '--',
  '-h',
  '-5',
  '',
  '__proto__',
);
const argv = fc.array(fc.oneof({ weight: 4, arbitrary: word }, fc.string()), { maxLength: 8 });

test(
  seeded('any arguments are parsed as a command as its row says, or refused in one line'),
  () => {
    const property = fc.property(argv, (args) => {
      try {
        const parsed = parse(COMMANDS, args);
        if (parsed.kind !== 'command') return;
        const row = COMMANDS[parsed.name]!;
        expect(parsed.args).toHaveLength(row.args.length);
        expect(Object.keys(parsed.options)).toEqual(Object.keys(row.options));
        for (const [name, { value, isRequired }] of Object.entries(row.options)) {
          const given = parsed.options[name];
          if (value === undefined) expect(given).toBeBoolean();
          else if (given !== undefined || isRequired === true) expect(given).toBeString();
        }
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    });
    holds(property, 3000);
  },
);

test('an option of the command line means the same for every command', () => {
  const seen = new Map<string, boolean>();
  for (const { options } of [{ options: GLOBAL_OPTIONS }, ...Object.values(COMMANDS)]) {
    for (const [name, option] of Object.entries(options)) {
      const hasValue = 'value' in option;
      expect([name, seen.get(name) ?? hasValue]).toEqual([name, hasValue]);
      seen.set(name, hasValue);
    }
  }
});
