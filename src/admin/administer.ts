// One command of the administration, from its arguments to its exit code.
//
// Works on the configured database, or on the embedded one of the instance that runs on this
// DATA_DIR. Where none runs, it starts the embedded services for as long as the command takes.
// Exits with 0, with 1 for a failure, with 2 for arguments that make no sense.
import { parseArgs } from 'node:util';
import { ACCOUNTS } from './accounts.ts';
import { type Executed, recordCommand } from './audited.ts';
import {
  type Command,
  CommandRefused,
  type Result,
  type Run,
  type Terminal,
  UsageError,
} from './command.ts';
import { PORTAL_TOKENS } from './portal-tokens.ts';
import { PROCESSORS } from './processors.ts';
import { RECONCILE } from './reconcile.ts';
import { UPKEEP } from './upkeep.ts';
import { USERS } from './users.ts';
import { ConfigError, parseConfig } from '../config.ts';
import { checkSchema, migrate, MigrationFailure } from '../database/migrate.ts';
import { ADMIN_COMMAND } from '../platform/admin-command.ts';
import { openServices, readRuntime } from '../platform/embedded/services.ts';
import { ServiceFailure } from '../platform/failure.ts';
import { checkPostgres, sayNoConnection } from '../platform/net/reachable.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import { safeError } from '../platform/postgres/safe-error.ts';

/** In the order in which the usage shows them. */
const COMMANDS: Readonly<Record<string, Command>> = {
  ...ACCOUNTS,
  ...USERS,
  ...PORTAL_TOKENS,
  ...PROCESSORS,
  ...RECONCILE,
  ...UPKEEP,
};

const USAGE = [
  `usage: ${ADMIN_COMMAND} COMMAND [--json]`,
  ...Object.entries(COMMANDS).map(([name, { usage }]) => `  ${name} ${usage}`.trimEnd()),
].join('\n');

type ParsedCommand = Omit<Executed, 'value'> & {
  readonly run: Run;
  readonly onlyReads: boolean;
  readonly json: boolean;
};

function parse(args: string[]): ParsedCommand {
  const { values, positionals } = parseArguments(args);
  const [noun = '', verb = ''] = positionals;
  const name = Object.hasOwn(COMMANDS, noun) ? noun : `${noun} ${verb}`;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`unknown command: ${positionals.join(' ')}`);
  const { json = false, ...options } = values;
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && !command.options.some((known) => known === option)) {
      throw new UsageError(`${name} takes no --${option}`);
    }
  }
  const rest = positionals.slice(name.split(' ').length);
  if (rest.length > 0 && command.takesIds !== true)
    throw new UsageError(`too much: ${rest.join(' ')}`);
  const onlyReads = command.onlyReads?.(options) ?? false;
  return { name, options, rest, run: command.plan(options, rest), onlyReads, json };
}

function parseArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        name: { type: 'string' },
        org: { type: 'string' },
        group: { type: 'string' },
        mode: { type: 'string' },
        scopes: { type: 'string' },
        'expires-at': { type: 'string' },
        customer: { type: 'string' },
        email: { type: 'string' },
        role: { type: 'string' },
        ttl: { type: 'string' },
        'dry-run': { type: 'boolean' },
        since: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Runs the command on the database that there is. */
async function execute(
  { run, onlyReads, ...command }: ParsedCommand,
  terminal: Terminal,
): Promise<Result> {
  const config = parseConfig(terminal.environment);
  const known = config.databaseUrl ?? readRuntime(config.dataDir)?.databaseUrl;
  const warn = (fields: object, message: string): void =>
    terminal.error(`${message} ${Bun.inspect(fields)}`);
  const services =
    known === undefined ? await openServices(config, { warn, error: warn }) : undefined;
  try {
    const url = known ?? services?.databaseUrl ?? '';
    await checkPostgres(url);
    await (onlyReads ? checkSchema(url) : migrate(url));
    const sql = openPool(url, {
      max: 2,
      applicationName: 'tollhouse admin',
      statementTimeoutMs: 0,
    });
    try {
      const result = await run(sql, config, terminal);
      if (!onlyReads) await recordCommand(sql, { ...command, value: result.value });
      return result;
    } finally {
      await sql.end({ timeout: 5 });
    }
  } finally {
    await services?.stop();
  }
}

function* linesOf(value: unknown, indent = ''): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries<unknown>({ ...value })) {
    if (typeof item === 'object' && item !== null) {
      yield `${indent}${name}:${Object.keys(item).length === 0 ? ' none' : ''}`;
      yield* linesOf(item, `${indent}  `);
    } else {
      yield `${indent}${name}: ${typeof item === 'string' ? item : JSON.stringify(item)}`;
    }
  }
}

/** Gives the exit code. */
export async function administer(args: string[], terminal: Terminal): Promise<number> {
  try {
    const command = parse(args);
    const { value, failed = false } = await execute(command, terminal);
    const lines = command.json ? [JSON.stringify(value)] : linesOf(value);
    for (const line of lines) terminal.print(line);
    return failed ? 1 : 0;
  } catch (thrown) {
    const error = sayNoConnection(thrown);
    if (error instanceof UsageError) {
      terminal.error(`${error.message}\n${USAGE}`);
      return 2;
    }
    const expected = [CommandRefused, ServiceFailure, ConfigError, MigrationFailure];
    const isExpected = error instanceof Error && expected.some((kind) => error instanceof kind);
    terminal.error(isExpected ? error.message : String(safeError(error).stack));
    return 1;
  }
}
