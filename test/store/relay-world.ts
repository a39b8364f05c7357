// Random events, endpoints, organisations and a group, with relays that fan out committed events
// and lose their connections. The expected result comes from a model that knows only for whom each
// event was.
import { expect } from 'bun:test';
import { setImmediate } from 'node:timers/promises';
import { audit } from '../../src/database/audit.ts';
import { ids } from '../../src/platform/ids.ts';
import { Full } from '../../src/platform/bounds.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { EventType } from '../../src/records/events.ts';
import { createGroup, createOrganisation } from '../../src/accounts/onboarding.ts';
import {
  deleteEndpoint,
  insertEndpoint,
  updateEndpoint,
} from '../../src/records/webhook-endpoints.ts';
import { passEvents } from '../../workers/relay.ts';
import { freshDatabase } from '../support/database.ts';
import type { Random } from '../support/random.ts';
import { relayAll } from '../support/relayed.ts';
import { TEST_SETTINGS } from '../support/settings.ts';

const RELAY = 'a relay';

const TYPES = ['tag.created', 'tag.deleted', 'customer.created'] as const;
const MODES = ['test', 'live'] as const;
const OBJECTS = 3;
const EVENTS_MAX = 20;
const STEPS = 150;

type Organisation = { readonly id: string; readonly groupId: string | null };
type Mode = (typeof MODES)[number];

type Endpoint = {
  readonly id: string;
  readonly owner: { readonly organisationId: string } | { readonly groupId: string };
  readonly mode: Mode;
  /**
   * The step in which it was made, and all that it received from then on; nothing once it is
   * deleted.
   */
  readonly heard: { readonly since: number; readonly types: readonly string[] }[];
};

type Event = {
  readonly id: string;
  readonly organisation: Organisation;
  readonly mode: Mode;
  readonly type: EventType;
  /** The steps in which it was written and committed. */
  readonly written: number;
  readonly committed: number;
};

class RelayWorld {
  readonly sql: Sql;
  readonly #url: string;
  readonly #drop: () => Promise<void>;
  readonly #random: Random;
  readonly #organisations: Organisation[] = [];
  readonly #endpoints: Endpoint[] = [];
  readonly #events: Event[] = [];
  readonly #objects = new Map<string, { readonly id: string; sequence: number }>();
  #now = 0;

  private constructor(url: string, drop: () => Promise<void>, random: Random) {
    this.#url = url;
    this.#drop = drop;
    this.#random = random;
    this.sql = openPool(url, { max: 4, applicationName: 'world of a relay' });
  }

  static async open(random: Random): Promise<RelayWorld> {
    const database = await freshDatabase();
    const world = new RelayWorld(database.url, () => database.drop(), random);
    const setting = { sql: world.sql, ids, now: Date.now() };
    const group = await createGroup(setting, { name: 'Group' });
    for (const groupId of [group.id, group.id, null]) {
      const made = await createOrganisation(setting, { name: 'One', groupId });
      if (typeof made === 'string') throw new Error(made);
      world.#organisations.push({ id: made.id, groupId });
    }
    return world;
  }

  async close(): Promise<void> {
    await this.sql.end();
    await this.#drop();
  }

  /** Runs this many steps while relays fan out; then fans out all that is left. */
  async run(steps: number): Promise<void> {
    const stopping = new AbortController();
    const relays = Array.from({ length: 2 }, () => this.#relay(stopping.signal));
    try {
      for (let step = 0; step < steps; step += 1) await this.#happen();
    } finally {
      stopping.abort();
      await Promise.all(relays);
    }
    await relayAll(this.sql);
  }

  /** Loses its connection now and then; the outcome of its step is then unknown. */
  async #relay(signal: AbortSignal): Promise<void> {
    const sql = openPool(this.#url, { max: 1, applicationName: RELAY });
    while (!signal.aborted) {
      // From a closed connection, or from a planted fault.
      await passEvents(sql).catch(() => undefined);
      await setImmediate();
    }
    await sql.end({ timeout: 1 });
  }

  async #happen(): Promise<void> {
    this.#now += 1;
    const chance = this.#random.integer(1, 100);
    if (chance <= 60) await this.#write();
    else if (chance <= 72) await this.#register();
    else if (chance <= 82) await this.#change();
    else if (chance <= 88) await this.#remove();
    else await this.#kill();
  }

  /**
   * Some events of an organisation in one transaction, which may be rolled back, or end only after
   * the next step.
   */
  async #write(among = this.#organisations): Promise<void> {
    const random = this.#random;
    const written: (Omit<Event, 'committed'> & { object: { id: string; sequence: number } })[] = [];
    const organisation = random.pick(among);
    const mode = random.pick(MODES);
    for (let count = random.integer(1, EVENTS_MAX); count > 0; count -= 1) {
      const name = `${organisation.id} ${mode} ${random.integer(1, OBJECTS)}`;
      const object = this.#objects.get(name) ?? { id: ids.next(), sequence: 0 };
      this.#objects.set(name, object);
      object.sequence += 1;
      const type = random.pick(TYPES);
      const told = { id: object.id, sequence: object.sequence };
      written.push({ id: ids.next(), organisation, mode, type, written: this.#now, object: told });
    }
    const isUndone = random.chance(0.1);
    const others = among.filter((other) => other !== organisation);
    const during = [() => this.#register(), () => this.#remove(), () => this.#write(others)];
    const isSlow = random.chance(0.2) && others.length > 0;
    const undone = new Error('undone');
    await this.sql
      .begin(async (transaction) => {
        for (const { id, type, object } of written) {
          await transaction`
            insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
            values (${id}, ${organisation.id}, ${mode}, ${type}, 'TAG', ${object.id}, ${object.sequence},
              ${new Date(this.#now * 1000 + object.sequence)}, '{}')`;
        }
        this.#now += 1;
        if (isSlow) await random.pick(during)();
        this.#now += 1;
        if (isUndone) throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    if (!isUndone) {
      for (const event of written) this.#events.push({ ...event, committed: this.#now });
      return;
    }
    for (const object of this.#objects.values()) {
      const own = written.filter((event) => event.object.id === object.id);
      object.sequence -= own.length;
    }
  }

  async #register(): Promise<void> {
    const random = this.#random;
    const { id: organisationId, groupId } = random.pick(this.#organisations);
    const mode = random.pick(MODES);
    const owner = groupId !== null && random.chance(0.4) ? { groupId } : { organisationId };
    const types = this.#types();
    const endpoint = {
      id: ids.next(),
      url: 'https://hooks.example/',
      eventTypes: types as EventType[],
      description: null,
      status: random.pick(['enabled', 'disabled'] as const),
      secret: Buffer.from('secret'),
    };
    const { bounds } = TEST_SETTINGS;
    const made = await this.sql.begin((transaction) =>
      insertEndpoint(transaction, ownerOf(owner, mode), { endpoint, bounds, now: Date.now() }),
    );
    if (made instanceof Full) return;
    this.#endpoints.push({ id: endpoint.id, owner, mode, heard: [{ since: this.#now, types }] });
  }

  async #change(): Promise<void> {
    const { id, owner, mode, heard } = this.#anEndpoint() ?? {};
    if (id === undefined || owner === undefined || mode === undefined) return;
    const types = this.#types();
    const patch = { eventTypes: types as EventType[] };
    const changed = await updateEndpoint(this.sql, ownerOf(owner, mode), {
      id,
      patch,
      now: Date.now(),
    });
    if (changed !== null) heard?.push({ since: this.#now, types });
  }

  async #remove(): Promise<void> {
    const { id, owner, mode, heard } = this.#anEndpoint() ?? {};
    if (id === undefined || owner === undefined || mode === undefined) return;
    await deleteEndpoint(this.sql, ownerOf(owner, mode), { id, now: Date.now() });
    heard?.push({ since: this.#now, types: [] });
  }

  #anEndpoint(): Endpoint | undefined {
    return this.#endpoints.length === 0 ? undefined : this.#random.pick(this.#endpoints);
  }

  #types(): readonly string[] {
    if (this.#random.chance(0.3)) return ['*'];
    const some = TYPES.filter(() => this.#random.chance(0.5));
    return some.length === 0 ? ['tag.created'] : some;
  }

  async #kill(): Promise<void> {
    await this.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = ${RELAY} and query like '%relay_events%'`;
  }

  /** What is wrong, in words. */
  async faults(): Promise<string[]> {
    const faults = (await audit(this.sql)).map(({ check, detail }) => `${check}: ${detail}`);
    const rows = await this.sql<{ event: string; endpoint: string }[]>`
      select event_id as event, endpoint_id as endpoint from deliveries`;
    const owed = new Set(rows.map(({ event, endpoint }) => `${event} ${endpoint}`));
    if (owed.size !== rows.length) faults.push('owed twice');
    for (const event of this.#events) {
      for (const endpoint of this.#endpoints) {
        const pair = `${event.id} ${endpoint.id}`;
        const must = isFor(event, endpoint);
        if (must === 'owed' && !owed.has(pair)) faults.push(`not owed: ${pair}`);
        if (must === 'not owed' && owed.has(pair)) faults.push(`owed: ${pair}`);
        owed.delete(pair);
      }
    }
    for (const pair of owed) faults.push(`owed of nothing: ${pair}`);
    return [...faults, ...(await this.#misplaced())];
  }

  async #misplaced(): Promise<string[]> {
    const rows = await this.sql<{ what: string }[]>`
      with passed as (select f.position, e.* from event_fanouts f join events e on e.id = f.event_id)
      select 'positions ' || min(position) || ' to ' || max(position) || ' of ' || count(*) as what from passed
      having min(position) <> 1 or max(position) <> count(*) or max(position) <> (select position from event_relay)
      union all select 'out of order: ' || id from (
        select id, sequence, lag(sequence) over (partition by object_id order by position) as before from passed) p
      where sequence <= before
      union all select 'left: ' || count(*) from event_queue having count(*) > 0
      union all select 'set aside: ' || error from event_faults`;
    const faults = rows.map(({ what }) => what);
    const [{ count } = { count: -1 }] = await this.sql<{ count: number }[]>`
      select count(*)::int from event_fanouts`;
    if (count !== this.#events.length) faults.push(`${count} passed of ${this.#events.length}`);
    return faults;
  }

  /** How much happened. */
  get size() {
    return { events: this.#events.length, endpoints: this.#endpoints.length };
  }
}

function ownerOf(owner: Endpoint['owner'], mode: Mode) {
  return 'groupId' in owner
    ? ({ kind: 'group', groupId: owner.groupId, mode } as const)
    : ({ kind: 'organisation', organisationId: owner.organisationId, mode } as const);
}

/**
 * The endpoint's subscription is read at some time after the commit: if it changed since, both
 * results are right.
 */
function isFor(event: Event, { owner, mode, heard }: Endpoint): 'owed' | 'not owed' | 'either' {
  const isItsOwn =
    'groupId' in owner
      ? owner.groupId === event.organisation.groupId
      : owner.organisationId === event.organisation.id;
  const made = heard[0]?.since ?? Infinity;
  if (!isItsOwn || mode !== event.mode || made > event.committed) return 'not owed';
  const since = heard.findLastIndex((change) => change.since <= event.committed);
  const hears = heard
    .slice(since)
    .map(({ types }) => types.includes('*') || types.includes(event.type));
  if (!hears.includes(true)) return 'not owed';
  return hears.includes(false) || made >= event.written ? 'either' : 'owed';
}

/** What is wrong after one world of its own, with a planted fault in its database. */
export async function faultsOf(
  random: Random,
  plant: (sql: Sql) => Promise<void>,
): Promise<string[]> {
  const world = await RelayWorld.open(random);
  try {
    await plant(world.sql);
    await world.run(STEPS);
    expect(world.size.events).toBeGreaterThan(STEPS);
    return await world.faults();
  } finally {
    await world.close();
  }
}
