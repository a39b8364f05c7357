// What a command of the administration is, and how its arguments are read.
import { clock } from '../platform/clock.ts';
import type { Executor, Sql } from '../platform/postgres/postgres.ts';
import type { Config } from '../config.ts';
import type { Mode } from '../../ledger/kernel/tenant.ts';
import { findAppUrl } from '../records/installation.ts';
import { PORTAL_TTL_S_MAX } from '../records/portal-tokens.ts';
import { isUuid } from '../records/uuid.ts';

/** The arguments make no sense: exit code 2. */
export class UsageError extends Error {}

/** The command cannot be done: exit code 1. */
export class CommandRefused extends Error {}

export type Result = { readonly value: unknown; readonly failed?: boolean };
/** What a command does, once its arguments are read. */
export type Run = (sql: Sql, config: Config, terminal: Terminal) => Promise<Result>;

/** Where a command was typed. */
export type Terminal = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  input(): AsyncIterable<Uint8Array>;
  print(line: string): void;
  error(line: string): void;
};

export type Options = {
  readonly name?: string | undefined;
  readonly org?: string | undefined;
  readonly group?: string | undefined;
  readonly mode?: string | undefined;
  readonly scopes?: string | undefined;
  readonly 'expires-at'?: string | undefined;
  readonly customer?: string | undefined;
  readonly email?: string | undefined;
  readonly role?: string | undefined;
  readonly ttl?: string | undefined;
  readonly 'dry-run'?: boolean | undefined;
  readonly since?: string | undefined;
};

/** One row of the table of commands. */
export type Command = {
  /** Its arguments, as the usage shows them. */
  readonly usage: string;
  readonly options: readonly (keyof Options)[];
  /** Whether ids may follow its name. */
  readonly takesIds?: boolean;
  /**
   * Whether it changes nothing, not even the schema: there may be no backup of the database yet.
   */
  readonly onlyReads?: (options: Options) => boolean;
  /** Reads the arguments. @throws UsageError */
  plan(options: Options, ids: readonly string[]): Run;
};

/** Where links lead: to the server that was started last, unless this environment says another. */
export async function appUrlOf(
  sql: Executor,
  { isAddressed, appUrl }: Pick<Config, 'isAddressed' | 'appUrl'>,
): Promise<string> {
  return isAddressed ? appUrl : ((await findAppUrl(sql)) ?? appUrl);
}

export function textOf(what: string, value: string | undefined): string {
  const text = value?.trim() ?? '';
  if (text === '' || text.length > 255)
    throw new UsageError(`${what} must have 1 to 255 characters`);
  return text;
}

export function idOf(what: string, value: string | undefined): string {
  if (value !== undefined && isUuid(value)) return value.toLowerCase();
  throw new UsageError(`${what} must be an id`);
}

export function modeOf(value: string | undefined): Mode {
  if (value === undefined || value === 'test') return 'test';
  if (value === 'live') return 'live';
  throw new UsageError('--mode must be test or live');
}

export function timeOf(what: string, value: string): number {
  const time = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (time > clock.now()) return time;
  throw new UsageError(`${what} must be a time to come, such as 2030-01-31T00:00:00Z`);
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

export function durationOf(what: string, value: string): number {
  const [, count, unit = ''] = /^(\d{1,7})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (UNIT_S[unit] ?? Number.NaN);
  if (seconds > 0 && seconds <= PORTAL_TTL_S_MAX) return seconds;
  throw new UsageError(`${what} must be a time such as 90s, 15m, 24h or 7d, at most 30d`);
}

export function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
