// What a command of `tollhouse` is. Help, completion and the reading of arguments all come from
// these rows.
import type { Hooks } from '../client/hooks.ts';
import type { Tollhouse } from '../client/tollhouse.ts';
import type { Printer } from './printer.ts';

/** The arguments make no sense: exit code 2. */
export class UsageError extends Error {}

/** The command cannot be done: exit code 1. */
export class Refused extends Error {}

export const EXIT = { ok: 0, failed: 1, usage: 2, denied: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export type Option = {
  readonly about: string;
  /** What its value is called in the help; an option without one is a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly isRequired?: true;
};

export type Argument = {
  /** In capitals, as the help shows it. */
  readonly name: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** Whether the shell completes it with names of files. */
  readonly isFile?: true;
};

type Options = Readonly<Record<string, Option>>;

type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { readonly value: string }
    ? O[Name] extends { readonly isRequired: true }
      ? string
      : string | undefined
    : boolean;
};

/** What the arguments of one call say. */
type Given<V> = {
  readonly options: V;
  /** One text for each argument of the command: all are required. */
  readonly args: readonly string[];
};

/** A text for an option that has a value, true or false for a switch. */
export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

/** Resolves after that time, or at once when the signal aborts. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

/** What a command works with. */
export type Cli = {
  /** @throws UsageError without a key */
  readonly client: (hooks?: Hooks) => Tollhouse;
  readonly url: string;
  /** @throws UsageError without one */
  readonly apiKey: () => string;
  readonly out: Printer;
  /** Progress and notices: a program that reads `out` does not see them. */
  readonly notices: Printer;
  readonly isJson: boolean;
  readonly input: () => AsyncIterable<Uint8Array>;
  /** From its call on the first Ctrl-C aborts the signal. The second one ends the process. */
  readonly untilInterrupted: () => AbortSignal;
  readonly pause: Pause;
};

export type Command = {
  readonly about: string;
  readonly options: Options;
  readonly args: readonly Argument[];
  /** More lines for its own help. */
  readonly notes?: readonly string[];
  run(cli: Cli, given: Given<OptionValues>): Promise<ExitCode>;
};

/** A row, with the types of its options for `run`. */
export function command<const O extends Options>(row: {
  readonly about: string;
  readonly options: O;
  readonly args: readonly Argument[];
  readonly notes?: readonly string[];
  run(cli: Cli, given: Given<Values<O>>): Promise<ExitCode>;
}): Command {
  // What `parse` gives has exactly the types that the row names.
  return { ...row, run: (cli, given) => row.run(cli, given as Given<Values<O>>) };
}
