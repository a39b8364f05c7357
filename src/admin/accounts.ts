// Organisations, groups and their keys.
import { changeGroup, createGroup, createOrganisation } from '../accounts/onboarding.ts';
import { clock } from '../platform/clock.ts';
import { ids } from '../platform/ids.ts';
import { Full } from '../platform/bounds.ts';
import {
  addKey,
  KEY_SCOPES,
  type KeyOwner,
  type KeyScope,
  listKeys,
  revokeKey,
} from '../records/api-keys.ts';
import { groupExists, listOrganisations, organisationExists } from '../records/organisations.ts';
import { fromKey } from '../http/wire/api-keys.ts';
import {
  type Command,
  CommandRefused,
  idOf,
  isoOf,
  modeOf,
  type Options,
  type Run,
  textOf,
  timeOf,
  UsageError,
} from './command.ts';

export const ACCOUNTS: Readonly<Record<string, Command>> = {
  'org create': {
    usage: '--name NAME [--group GROUP_ID]',
    options: ['name', 'group'],
    plan: planOrganisation,
  },
  'org update': {
    usage: 'ORG_ID --group GROUP_ID|none',
    options: ['group'],
    takesIds: true,
    plan: planMove,
  },
  'org list': { usage: '', options: [], onlyReads: () => true, plan: planOrganisations },
  'key create': {
    usage:
      '(--org ID | --group ID) [--mode test|live] [--name NAME] [--scopes all|read|metering] [--expires-at ISO_TIME]',
    options: ['org', 'group', 'mode', 'name', 'scopes', 'expires-at'],
    plan: planKey,
  },
  'key revoke': {
    usage: 'KEY_ID',
    options: [],
    takesIds: true,
    plan: (_options, rest) => planRevocation(rest),
  },
  'key list': { usage: '--org ID', options: ['org'], onlyReads: () => true, plan: planList },
  'group create': { usage: '--name NAME', options: ['name'], plan: planGroup },
};

function planOrganisation({ name, group }: Options): Run {
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

function planOrganisations(): Run {
  return async (sql) => {
    const found = await listOrganisations(sql);
    return {
      value: found.map(({ id, name, groupId, createdAt }) => ({
        organization_id: id,
        name,
        group_id: groupId,
        created_at: createdAt.toISOString(),
      })),
    };
  };
}

function planMove({ group }: Options, rest: readonly string[]): Run {
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

function planGroup({ name }: Options): Run {
  const asked = { name: textOf('--name', name) };
  return async (sql) => {
    const made = await createGroup({ sql, ids, now: clock.now() }, asked);
    return { value: { group_id: made.id, test_key: made.testKey, live_key: made.liveKey } };
  };
}

function planKey(options: Options): Run {
  const { org, group, 'expires-at': expiry } = options;
  if ((org === undefined) === (group === undefined)) throw new UsageError('needs --org or --group');
  const mode = modeOf(options.mode);
  const name = options.name === undefined ? null : textOf('--name', options.name);
  const scope = scopeOf(options.scopes);
  if (group !== undefined && scope !== 'all') throw new UsageError("a group's key may do all");
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
    const wanted = { id, owner, mode, name, scope, expiresAt, now: clock.now() };
    const key = await sql.begin((transaction) => addKey(transaction, bounds, wanted));
    if (key instanceof Full) throw new CommandRefused(key.message);
    return { value: { id, key, mode, name, scopes: [scope], expires_at: isoOf(expiresAt) } };
  };
}

function scopeOf(value = 'all'): KeyScope {
  const scope = KEY_SCOPES.find((known) => known === value);
  if (scope === undefined) throw new UsageError(`--scopes must be ${KEY_SCOPES.join(', ')}`);
  return scope;
}

function planRevocation(rest: readonly string[]): Run {
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

function planList({ org }: Options): Run {
  const organisationId = idOf('--org', org);
  return async (sql) => {
    if (!(await organisationExists(sql, organisationId))) {
      throw new CommandRefused(`there is no organisation ${organisationId}`);
    }
    const keys = await listKeys(sql, organisationId);
    return { value: { data: keys.map(fromKey) } };
  };
}
