// Administration from the command line: what a dashboard would do.
//
// Works on the configured database, on the embedded one of the instance that runs on this DATA_DIR, or, where none runs, starts
// the embedded services for as long as the command takes. Exits with 0, 1 for what failed, 2 for what was not understood.
import type { Mode } from '../ledger/kernel/tenant.ts';
import { parseArgs } from 'node:util';
import { must } from '../ledger/kernel/assert.ts';
import { audit } from './database/audit.ts';
import { checkSchema, migrate, MigrationFailure } from './database/migrate.ts';
import { resumeSeats } from '../ledger/store/nodes.ts';
import { retain } from './database/retention.ts';
import { type Config, ConfigError, parseConfig } from './config.ts';
import { portalUrl } from './http/wire/portal-tokens.ts';
import { Full } from './platform/bounds.ts';
import { clock, timers } from './platform/clock.ts';
import { ServiceFailure } from './platform/failure.ts';
import { ids } from './platform/ids.ts';
import { openPool, type Sql } from './platform/postgres/postgres.ts';
import { checkPostgres, sayNoConnection } from './platform/net/reachable.ts';
import { safeError } from './platform/postgres/safe-error.ts';
import { openServices, readRuntime } from './platform/embedded/services.ts';
import { newToken } from './platform/crypto/tokens.ts';
import {
  findRoomForKey,
  insertKey,
  type KeyOwner,
  listKeys,
  revokeKey,
} from './records/api-keys.ts';
import { retryEvents } from './records/event-faults.ts';
import { listFailing, retryFailing } from './records/followups.ts';
import { changeGroup, createGroup, createOrganisation } from './accounts/onboarding.ts';
import { groupExists, organisationExists } from './records/organisations.ts';
import {
  insertPortalToken,
  PORTAL_TTL_S_DEFAULT,
  PORTAL_TTL_S_MAX,
  revokePortalToken,
} from './records/portal-tokens.ts';
import { findAppUrl } from './records/installation.ts';
import { isUuid } from './records/uuid.ts';

const USAGE = `usage: bun run admin COMMAND [--json]
  org create --name NAME [--group GROUP_ID]
  org update ORG_ID --group GROUP_ID|none
  key create (--org ID | --group ID) [--mode test|live] [--expires-at ISO_TIME]
  key revoke KEY_ID
  key list --org ID
  group create --name NAME
  portal-token create --customer ID [--ttl 24h]
  portal-token revoke TOKEN_ID
  followups list
  followups retry [FOLLOWUP_ID]
  audit
  events retry
  retention [--dry-run]
  resume`;

/** What was asked for makes no sense: exit code 2. */
class UsageError extends Error {}

/** What was asked for cannot be done: exit code 1. */
class CommandRefused extends Error {}

type Result = { readonly value: unknown; readonly failed?: boolean };
type Command = (sql: Sql, config: Config) => Promise<Result>;
type ParsedCommand = {
  readonly command: Command;
  /** It changes nothing, the schema neither: the database may be one that nobody has a backup of yet. */
  readonly onlyReads: boolean;
  readonly json: boolean;
};

type Options = {
  readonly name?: string | undefined;
  readonly org?: string | undefined;
  readonly group?: string | undefined;
  readonly mode?: string | undefined;
  readonly 'expires-at'?: string | undefined;
  readonly customer?: string | undefined;
  readonly ttl?: string | undefined;
  readonly 'dry-run'?: boolean | undefined;
};

/** Verbs that are followed by the id of what they are about. */
const TAKES_ID = [' revoke', ' update', ' retry'];

/** The options that each command knows, and what it does. */
const COMMANDS: Readonly<
  Record<
    string,
    {
      readonly takes: readonly (keyof Options)[];
      readonly onlyReads?: (options: Options) => boolean;
      plan(options: Options, rest: string[]): Command;
    }
  >
> = {
  'org create': { takes: ['name', 'group'], plan: planOrganisation },
  'org update': { takes: ['group'], plan: planMove },
  'key create': { takes: ['org', 'group', 'mode', 'expires-at'], plan: planKey },
  'key revoke': { takes: [], plan: (_options, rest) => planRevocation(rest) },
  'key list': { takes: ['org'], onlyReads: () => true, plan: planList },
  'group create': { takes: ['name'], plan: planGroup },
  'portal-token create': { takes: ['customer', 'ttl'], plan: planPortalToken },
  'portal-token revoke': { takes: [], plan: (_options, rest) => planPortalRevocation(rest) },
  'followups list': { takes: [], onlyReads: () => true, plan: () => listFollowups },
  'followups retry': { takes: [], plan: (_options, rest) => planFollowupRetry(rest) },
  audit: { takes: [], onlyReads: () => true, plan: () => runAudit },
  'events retry': { takes: [], plan: () => runEventsRetry },
  retention: {
    takes: ['dry-run'],
    onlyReads: (options) => options['dry-run'] === true,
    plan: planRetention,
  },
  resume: { takes: [], plan: () => runResume },
};

function parse(args: string[]): ParsedCommand {
  const { values, positionals } = parseArguments(args);
  const [noun = '', verb = ''] = positionals;
  const name = Object.hasOwn(COMMANDS, noun) ? noun : `${noun} ${verb}`;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`unknown command: ${positionals.join(' ')}`);
  const { json = false, ...options } = values;
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && !command.takes.some((known) => known === option)) {
      throw new UsageError(`${name} takes no --${option}`);
    }
  }
  const rest = positionals.slice(name.split(' ').length);
  if (rest.length > 0 && !TAKES_ID.some((ending) => name.endsWith(ending)))
    throw new UsageError(`too much: ${rest.join(' ')}`);
  const onlyReads = command.onlyReads?.(options) ?? false;
  return { command: command.plan(options, rest), onlyReads, json };
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
        'expires-at': { type: 'string' },
        customer: { type: 'string' },
        ttl: { type: 'string' },
        'dry-run': { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function planOrganisation({ name, group }: Options): Command {
  const asked = {
    name: textOf('--name', name),
    groupId: group === undefined ? null : idOf('--group', group),
  };
  return async (sql) => {
    const made = await createOrganisation({ sql, ids, now: clock.now() }, asked);
    if (made === 'no_such_group') throw new CommandRefused(`there is no group ${group}`);
    return { value: { organization_id: made.id, test_key: made.testKey, live_key: made.liveKey } };
  };
}

function planMove({ group }: Options, rest: string[]): Command {
  if (rest.length !== 1) throw new UsageError('org update needs one ORG_ID');
  const id = idOf('ORG_ID', rest[0]);
  const groupId = group === 'none' ? null : idOf('--group', group);
  return async (sql) => {
    const done = await changeGroup({ sql, now: clock.now() }, { id, groupId });
    if (done === 'no_such_organisation') throw new CommandRefused(`there is no organisation ${id}`);
    if (done === 'no_such_group') throw new CommandRefused(`there is no group ${groupId}`);
    return { value: { organization_id: id, group_id: groupId } };
  };
}

function planGroup({ name }: Options): Command {
  const asked = { name: textOf('--name', name) };
  return async (sql) => {
    const made = await createGroup({ sql, ids, now: clock.now() }, asked);
    return { value: { group_id: made.id, test_key: made.testKey, live_key: made.liveKey } };
  };
}

function planKey({ org, group, mode: asked, 'expires-at': expiry }: Options): Command {
  if ((org === undefined) === (group === undefined)) throw new UsageError('needs --org or --group');
  const mode = modeOf(asked);
  const expiresAt = expiry === undefined ? null : timeOf('--expires-at', expiry);
  const owner: KeyOwner =
    org === undefined
      ? { kind: 'group', groupId: idOf('--group', group) }
      : { kind: 'organisation', organisationId: idOf('--org', org) };
  return async (sql, { bounds }) => {
    const exists =
      owner.kind === 'group'
        ? await groupExists(sql, owner.groupId)
        : await organisationExists(sql, owner.organisationId);
    if (!exists) throw new CommandRefused(`there is no ${owner.kind} ${org ?? group}`);
    const id = ids.next();
    const options = { id, owner, mode, expiresAt, now: clock.now() };
    const key = await sql.begin(async (transaction) => {
      const full = await findRoomForKey(transaction, bounds, options);
      if (full !== null) throw new CommandRefused(full.message);
      return insertKey(transaction, options);
    });
    return { value: { id, key, mode, expires_at: isoOf(expiresAt) } };
  };
}

function planRevocation(rest: string[]): Command {
  if (rest.length !== 1) throw new UsageError('key revoke needs one KEY_ID');
  const id = idOf('KEY_ID', rest[0]);
  return async (sql) => {
    const found = await sql.begin((transaction) =>
      revokeKey(transaction, { id, now: clock.now() }),
    );
    if (!found) throw new CommandRefused(`there is no key ${id}`);
    return { value: { id, revoked: true } };
  };
}

function planList({ org }: Options): Command {
  const organisationId = idOf('--org', org);
  return async (sql) => {
    if (!(await organisationExists(sql, organisationId))) {
      throw new CommandRefused(`there is no organisation ${organisationId}`);
    }
    const keys = await listKeys(sql, organisationId);
    const data = keys.map(({ id, mode, createdAt, expiresAt, revokedAt, lastUsedAt }) => ({
      id,
      mode,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt?.toISOString() ?? null,
      revoked_at: revokedAt?.toISOString() ?? null,
      last_used_at: lastUsedAt?.toISOString() ?? null,
    }));
    return { value: { data } };
  };
}

function planPortalToken({ customer, ttl }: Options): Command {
  const customerId = idOf('--customer', customer);
  const ttlS = ttl === undefined ? PORTAL_TTL_S_DEFAULT : durationOf('--ttl', ttl);
  return async (sql, { bounds, ...config }) => {
    const appUrl = config.isAddressed ? config.appUrl : ((await findAppUrl(sql)) ?? config.appUrl);
    const token = newToken();
    const wanted = { id: ids.next(), customerId, token, ttlS, bounds, now: clock.now() };
    const made = await sql.begin((transaction) => insertPortalToken(transaction, wanted));
    if (made === null) throw new CommandRefused(`there is no customer ${customerId}`);
    if (made instanceof Full) throw new CommandRefused(made.message);
    const { id, expiresAt } = made;
    const expiry = expiresAt.toISOString();
    return { value: { token, url: portalUrl(appUrl, token), id, expires_at: expiry } };
  };
}

function planPortalRevocation(rest: string[]): Command {
  if (rest.length !== 1) throw new UsageError('portal-token revoke needs one TOKEN_ID');
  const id = idOf('TOKEN_ID', rest[0]);
  return async (sql) => {
    const isKnown = await revokePortalToken(sql, null, { id, now: clock.now() });
    if (!isKnown) throw new CommandRefused(`there is no portal token ${id}`);
    return { value: { id, revoked: true } };
  };
}

const FOLLOWUPS_LISTED_MAX = 1000;

async function listFollowups(sql: Sql): Promise<Result> {
  const failing = await listFailing(sql, FOLLOWUPS_LISTED_MAX);
  const data = failing.map(({ id, kind, tries, error, ...of }) => ({
    id,
    kind,
    status: of.deadAt === null ? 'failing' : 'dead',
    organization_id: of.organisationId,
    mode: of.mode,
    payment_id: of.paymentId,
    subscription_id: of.subscriptionId,
    tries,
    failing_since: of.failingSince.toISOString(),
    next_attempt_at: of.deadAt === null ? of.nextAt.toISOString() : null,
    error,
  }));
  return { value: { data } };
}

/** A server tries them with its next sweep. */
function planFollowupRetry(rest: string[]): Command {
  if (rest.length > 1) throw new UsageError('followups retry takes one FOLLOWUP_ID');
  const id = rest[0] === undefined ? null : idOf('FOLLOWUP_ID', rest[0]);
  return async (sql) => {
    const retried = await retryFailing(sql, id);
    if (id !== null && retried === 0) throw new CommandRefused(`no follow-up ${id} fails`);
    return { value: { retried } };
  };
}

/** Derives every balance again; a difference is a failure. */
async function runAudit(sql: Sql): Promise<Result> {
  const findings = await audit(sql);
  return { value: { findings }, failed: findings.length > 0 };
}

/** What kept the relay from passing them on is mended. */
async function runEventsRetry(sql: Sql): Promise<Result> {
  return { value: { queued: await retryEvents(sql) } };
}

/** A node had written what a promoted copy of the database lacks: that is accepted as lost, and others may serve what was its own. */
async function runResume(sql: Sql): Promise<Result> {
  return { value: { resumed: await resumeSeats(sql) } };
}

const DAY_MS = 86_400_000;

/**
 * Lets go of what is older than the windows of the configuration, by the database's clock: a machine with a wrong one must not forget
 * keys. Another one at the same time is left to it, and is no failure.
 */
function planRetention({ 'dry-run': dryRun = false }: Options): Command {
  return async (sql, { retention: { keysDays, eventsDays, usageMonths } }) => {
    const [found] = await sql<{ now: Date }[]>`select now()`;
    const now = must(found, 'a time').now.getTime();
    const retained = await retain(
      { sql, clock: { ...clock, now: () => now }, timers, dryRun },
      {
        keysMs: keysDays * DAY_MS,
        eventsMs: eventsDays * DAY_MS,
        usageMonths: usageMonths === 0 ? null : usageMonths,
      },
    );
    if (retained === null) return { value: { skipped: 'another one is at it' } };
    return { value: { dry_run: dryRun, ...retained } };
  };
}

function textOf(what: string, value: string | undefined): string {
  const text = value?.trim() ?? '';
  if (text === '' || text.length > 255)
    throw new UsageError(`${what} must have 1 to 255 characters`);
  return text;
}

function idOf(what: string, value: string | undefined): string {
  if (value !== undefined && isUuid(value)) return value.toLowerCase();
  throw new UsageError(`${what} must be an id`);
}

function modeOf(value: string | undefined): Mode {
  if (value === undefined || value === 'test') return 'test';
  if (value === 'live') return 'live';
  throw new UsageError('--mode must be test or live');
}

function timeOf(what: string, value: string): number {
  const time = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (time > clock.now()) return time;
  throw new UsageError(`${what} must be a time to come, such as 2030-01-31T00:00:00Z`);
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function durationOf(what: string, value: string): number {
  const [, count, unit = ''] = /^(\d{1,7})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (UNIT_S[unit] ?? Number.NaN);
  if (seconds > 0 && seconds <= PORTAL_TTL_S_MAX) return seconds;
  throw new UsageError(`${what} must be a time such as 90s, 15m, 24h or 7d, at most 30d`);
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** Runs it on the database that there is. */
async function execute({ command, onlyReads }: ParsedCommand): Promise<Result> {
  const config = parseConfig(process.env);
  const known = config.databaseUrl ?? readRuntime(config.dataDir)?.databaseUrl;
  const warn = (fields: object, message: string): void => console.error(message, fields);
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
      return await command(sql, config);
    } finally {
      await sql.end({ timeout: 5 });
    }
  } finally {
    await services?.stop();
  }
}

function print(value: unknown, indent = ''): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries<unknown>({ ...value })) {
    if (typeof item === 'object' && item !== null) {
      console.log(`${indent}${name}:${Object.keys(item).length === 0 ? ' none' : ''}`);
      print(item, `${indent}  `);
    } else {
      console.log(`${indent}${name}: ${typeof item === 'string' ? item : JSON.stringify(item)}`);
    }
  }
}

async function main(args: string[]): Promise<number> {
  try {
    const asked = parse(args);
    const { value, failed = false } = await execute(asked);
    if (asked.json) console.log(JSON.stringify(value));
    else print(value);
    return failed ? 1 : 0;
  } catch (thrown) {
    const error = sayNoConnection(thrown);
    if (error instanceof UsageError) {
      console.error(`${error.message}\n${USAGE}`);
      return 2;
    }
    const expected = [CommandRefused, ServiceFailure, ConfigError, MigrationFailure];
    const isExpected = error instanceof Error && expected.some((kind) => error instanceof kind);
    console.error(isExpected ? error.message : safeError(error).stack);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
