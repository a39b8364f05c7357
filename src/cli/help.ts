// The text of --help, from the table of commands.
import type { Command } from './command.ts';
import { columns } from './columns.ts';
import { GLOBAL_OPTIONS, type Table } from './parse.ts';

export function helpOf(table: Table): string {
  return [
    'usage: tollhouse COMMAND [options]',
    '',
    ...columns(Object.entries(table).map(([name, row]) => [`  ${callOf(name, row)}`, row.about])),
    '',
    'options of every command:',
    ...optionLines(GLOBAL_OPTIONS),
    '',
    'exit codes: 0 done, 1 refused or failed, 2 wrong arguments, 3 denied (check)',
  ].join('\n');
}

export function helpOfCommand(name: string, row: Command): string {
  const args = columns(row.args.map((arg) => [`  ${arg.name}`, withChoices(arg)]));
  const options = optionLines(row.options);
  return [
    `usage: tollhouse ${callOf(name, row)}${options.length > 0 ? ' [options]' : ''}`,
    '',
    `${row.about}.`,
    ...(row.notes ?? []),
    ...(args.length > 0 ? ['', ...args] : []),
    ...(options.length > 0 ? ['', ...options] : []),
    '',
    ...optionLines(GLOBAL_OPTIONS),
  ].join('\n');
}

/** Its name, arguments and the options that it cannot do without. */
function callOf(name: string, { args, options }: Command): string {
  const needed = Object.entries(options)
    .filter(([, { isRequired }]) => isRequired === true)
    .map(([option, { value = '' }]) => `--${option} ${value}`);
  return [name, ...args.map((arg) => arg.name), ...needed].join(' ');
}

function optionLines(options: Command['options']): string[] {
  return columns(
    Object.entries(options).map(([name, option]) => [
      `  --${name}${option.value === undefined ? '' : ` ${option.value}`}`,
      withChoices(option),
    ]),
  );
}

function withChoices({ about, choices }: { about: string; choices?: readonly string[] }): string {
  return choices === undefined ? about : `${about}: ${choices.join(', ')}`;
}
