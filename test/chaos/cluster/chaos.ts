// A cluster of real processes under all kinds of traffic, with disturbances chosen by a seed. At
// the end everything is compared with what callers were answered.
//
// Holds: one disturbance happens at a time, or now and then two together, and the next one begins
// when every customer is served again. So each figure belongs to one disturbance. Does not: repeat
// a run exactly. The seed gives the disturbances and their order, not the timing of the processes.
import Redis from 'ioredis';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { Closers } from '../../support/closers.ts';
import { type Random, seeded, shuffled } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import { type OwnPostgres, startOwnPostgres } from '../own-postgres.ts';
import { Balancer } from './balancer.ts';
import { DISTURBANCES, type DisturbanceName, type Stage, TAKEOVER_MS } from './disturbances.ts';
import { Fleet, type FleetNode } from './fleet.ts';
import type { ChaosOptions } from './options.ts';
import { spread } from './spread.ts';
import { openTraffic, type Traffic } from './traffic.ts';

const WARM_UP_MS = 2000;
const CALM_MS_MAX = 2000;
const CALM_MS_MIN = 300;
/** Counted from the end of a disturbance. */
const SERVED_MS_MAX = 30_000;
const READY_MS_MAX = 30_000;
/** The share of calls that go to any node, ready or not. */
const BLIND = 0.05;
const PAIRS = 0.2;
/** What may happen together with another disturbance. */
const BESIDE: readonly DisturbanceName[] = ['kill', 'cut peers', 'cut database', 'redis flushed'];

export type ChaosResult = {
  readonly violations: readonly string[];
  /** When each customer of a killed node was served again. */
  readonly takeoversMs: readonly number[];
  readonly happened: ReadonlyMap<DisturbanceName, number>;
  readonly lines: readonly string[];
  /** The log of each node. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
};

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const closers = new Closers();
  try {
    const postgres = await startOwnPostgres(undefined);
    closers.push(() => postgres.stop());
    const redis = new Redis(postgres.redisUrl);
    closers.push(() => redis.disconnect());
    const { redisUrl, url: databaseUrl } = postgres;
    const fleet = await Fleet.open({ ...options, databaseUrl, redisUrl });
    closers.push(() => fleet.stop());
    const random = seeded(options.seed);
    const balancer = new Balancer(fleet.nodes, { random, blind: BLIND });
    closers.push(() => balancer.stop());
    await until('all are ready', () => balancer.allReady, READY_MS_MAX);
    const traffic = await openTraffic({ databaseUrl, balancer, random });
    closers.push(() => traffic.abandon());
    const sql = openPool(databaseUrl, { max: 2, applicationName: 'chaos' });
    closers.push(() => sql.end({ timeout: 2 }));
    const run = new Run(options, { postgres, redis, fleet, balancer, traffic, sql });
    return await run.run();
  } finally {
    await closers.close();
  }
}

type Parts = {
  readonly postgres: OwnPostgres;
  readonly redis: Redis;
  readonly fleet: Fleet;
  readonly balancer: Balancer;
  readonly traffic: Traffic;
  readonly sql: Sql;
};

class Run {
  readonly #options: ChaosOptions;
  readonly #parts: Parts;
  readonly #random: Random;
  readonly #stage: Stage;
  readonly #began = performance.now();
  readonly #violations: string[] = [];
  readonly #takeoversMs: number[] = [];
  readonly #happened = new Map<DisturbanceName, number>();

  constructor(options: ChaosOptions, parts: Parts) {
    const { fleet, postgres, redis, sql, traffic } = parts;
    this.#options = options;
    this.#parts = parts;
    // A separate generator, so that the choices do not depend on how many callers there were.
    this.#random = seeded(options.seed);
    const { probes, reader, tenant } = traffic;
    const rest = { customers: tenant.customers, random: this.#random, leaseMs: options.leaseMs };
    this.#stage = { fleet, postgres, redis, sql, probes, reader, ...rest };
  }

  async run(): Promise<ChaosResult> {
    const { traffic, fleet, sql } = this.#parts;
    const { seed, nodes, leaseMs, minutes, say } = this.#options;
    say(`seed ${seed}: ${nodes} nodes with a lease of ${leaseMs} ms, ${minutes} minutes`);
    await Bun.sleep(WARM_UP_MS);
    try {
      await this.#disturb();
    } catch (error) {
      this.#violations.push(String(error));
    }
    say(`${this.#at()} everything comes to its end`);
    const urls = fleet.nodes.map(({ url }) => url);
    const wrong = await traffic.end(sql, urls).catch((error: unknown) => [String(error)]);
    this.#violations.push(...wrong);
    return {
      violations: this.#violations,
      takeoversMs: this.#takeoversMs,
      happened: this.#happened,
      lines: this.#report(),
      logs: new Map(fleet.nodes.map(({ name, logged }) => [name, logged])),
    };
  }

  /** In turn, each kind as often as the others, and at least once. */
  async #disturb(): Promise<void> {
    const deadline = this.#began + this.#options.minutes * 60_000;
    const names = this.#options.kinds ?? (Object.keys(DISTURBANCES) as DisturbanceName[]);
    do {
      for (const name of shuffled(names, this.#random)) {
        await this.#one(name);
        await this.#calm();
        await Bun.sleep(this.#random.integer(CALM_MS_MIN, this.#options.calmMsMax ?? CALM_MS_MAX));
      }
    } while (performance.now() < deadline);
  }

  async #one(name: DisturbanceName): Promise<void> {
    const nodes = shuffled(this.#parts.fleet.nodes, this.#random);
    const beside = this.#random.pick(BESIDE);
    // Only the given kinds: a single kind happens alone.
    const isAsked = this.#options.kinds?.includes(beside) ?? true;
    const isPair =
      this.#random.chance(PAIRS) && isAsked && BESIDE.includes(name) && beside !== name;
    const [first, second] = nodes as [FleetNode, FleetNode];
    if (isPair)
      await Promise.all([this.#happen(name, first, true), this.#happen(beside, second, true)]);
    else await this.#happen(name, first, false);
  }

  async #happen(name: DisturbanceName, node: FleetNode, isPair: boolean): Promise<void> {
    const { say, leaseMs } = this.#options;
    const at = this.#at();
    const { servedAfterMs = [] } = await DISTURBANCES[name](this.#stage, node);
    this.#happened.set(name, (this.#happened.get(name) ?? 0) + 1);
    const served = servedAfterMs.filter((ms) => ms !== null);
    const after = served.length === 0 ? '' : `: served again after ${spread(served)} ms`;
    say(`${at} ${name} ${isPair ? 'beside another ' : ''}(${node.name})${after}`);
    if (served.length < servedAfterMs.length) {
      this.#violations.push(`${at} ${name} (${node.name}): some customers are not served again`);
    }
    if (name !== 'kill' || isPair) return;
    this.#takeoversMs.push(...served);
    const late = served.filter((ms) => ms > leaseMs + TAKEOVER_MS);
    if (late.length === 0) return;
    this.#violations.push(
      `${at} after the kill of ${node.name} ${late.length} were served too late`,
    );
  }

  /** Resolves when every customer is served again, at any node. @throws where it takes too long */
  async #calm(): Promise<void> {
    const { traffic, balancer, fleet } = this.#parts;
    const { customers } = traffic.tenant;
    const served = await traffic.probes.served(customers, performance.now(), SERVED_MS_MAX);
    if (served.includes(null)) throw new Error(`${this.#at()} not all customers are served again`);
    await until('all nodes are ready', () => balancer.allReady, READY_MS_MAX);
    for (const { name, logged } of fleet.nodes) {
      if (logged.some((line) => line.includes('"level":60'))) {
        throw new Error(`node ${name} logged something fatal`);
      }
    }
  }

  #at(): string {
    return `${((performance.now() - this.#began) / 1000).toFixed(1).padStart(6)} s`;
  }

  #report(): string[] {
    const { traffic } = this.#parts;
    const silences = [...traffic.probes.silences.values()];
    const took = this.#takeoversMs.length === 0 ? 'nobody was waiting' : spread(this.#takeoversMs);
    const { leaseMs } = this.#options;
    return [
      `requests   ${traffic.tally.total}`,
      ...traffic.tally.lines().map((line) => `  ${line}`),
      ...traffic.lines(),
      `served again after a kill      ${took} ms (min/median/max; at most ${leaseMs + TAKEOVER_MS})`,
      `longest silence of a customer  ${spread(silences)} ms (min/median/max)`,
      this.#violations.length === 0
        ? 'the audit closes, and nothing is wrong'
        : `${this.#violations.length} violations`,
    ];
  }
}
