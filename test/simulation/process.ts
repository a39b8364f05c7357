// One start of the program on one place: the real ledger over simulated ports. It can die or freeze
// at any moment.
import { HybridClock } from '../../ledger/kernel/hybrid-clock.ts';
import type { CacheBounds } from '../../ledger/actor/actor-cache.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { CheckAnswer } from '../../ledger/metering/meter.ts';
import type { Alert } from '../../ledger/metering/alert.ts';
import type { Pool } from '../../ledger/metering/pool.ts';
import {
  type Clock,
  type Ids,
  LedgerUnavailable,
  type Log,
  PeerFailure,
  type SharedClock,
} from '../../ledger/ports.ts';
import type { Settlement } from '../../ledger/subscriptions/subscription.ts';
import { T0 } from './catalogue.ts';
import type { Auditor } from './auditor.ts';
import { type Server, askOf, diskOf } from './disk.ts';
import { type Teller, carryOut } from './carry-out.ts';
import { isOfPool } from './pool.ts';
import { isConnectionLost } from './network.ts';
import { type Listener, peersOf } from './peers.ts';
import { Machine } from './schedule.ts';

/** A machine on which processes run, one after the other: its clocks outlive them. */
export class Place {
  readonly address: string | null;
  /** The process that runs here now. */
  process: Process | null = null;
  /** Milliseconds that its wall clock is ahead. */
  ahead = 0;
  /** Milliseconds for which its monotonic clock stood still. */
  stoodStill = 0;
  /** The rate of its monotonic clock. */
  readonly rate: number;

  constructor(address: string | null, rate: number) {
    this.address = address;
    this.rate = rate;
  }
}

/** No test clock is moved here. */
function businessClock(clock: Clock): SharedClock {
  const hybrid = new HybridClock(clock, () => undefined);
  return {
    now: () => hybrid.now(),
    wall: () => hybrid.now(),
    observe: (wall) => hybrid.observe(wall),
    stopped: new Set(),
    catchUp: () => Promise.resolve(),
  };
}

export type ProcessDeps = {
  readonly server: Server;
  readonly auditor: Auditor;
  readonly ids: Ids;
  readonly listeners: Map<string, Listener>;
  readonly room: CacheBounds;
  readonly wantsUsage: boolean;
  readonly pool: Pool | null;
  /** That every meter has. */
  readonly alerts: readonly Alert[];
  readonly onDeath: () => void;
  /** What a run shows of its processes' logs. */
  readonly trace: (line: string) => void;
};

export class Process {
  readonly machine: Machine;
  readonly ledger: Ledger;
  readonly #deps: ProcessDeps;
  isOpen = false;
  isClosing = false;
  readonly #teller: Teller;

  constructor(deps: ProcessDeps, place: Place, name: string) {
    this.#deps = deps;
    this.machine = new Machine(name);
    const { schedule } = deps.server.network;
    const { machine } = this;
    const clock = {
      now: () => Math.floor(T0 + schedule.now + place.ahead),
      monotonic: () => (schedule.now - place.stoodStill) * place.rate + 1e6,
    };
    const { address } = place;
    this.ledger = new Ledger({
      storage: diskOf(deps.server, { machine, address }),
      clock,
      orgClock: businessClock(clock),
      ids: deps.ids,
      timers: {
        after: (ms, task) => schedule.after(ms, machine, task),
        soon: (task) => {
          schedule.after(schedule.between(0, 0.1), machine, task);
        },
      },
      log: this.#log(),
      leaseMs: deps.server.leaseMs,
      cacheBounds: deps.room,
      bounds: { meters: Infinity, grantsPerMeter: 1000, grants: Infinity, subscriptions: Infinity },
      render: (answer) => JSON.stringify(answer, (_key, value) => tagged(value)),
      wants: (_tenant, type) => type !== 'usage.recorded' || deps.wantsUsage,
      alertsOf: () => deps.alerts,
      poolOf: (meter) => (isOfPool(deps.pool, meter) ? deps.pool : null),
      onPaymentDue: (id) => settlePayment(this.ledger, id),
      onSubscriptionDue: async (_tenant, { customerId, id }) => {
        await this.ledger.subscriptions.command(customerId, id, { kind: 'tick' });
        await this.carryOut(id);
      },
      onFlush: () => undefined,
      onTopUpsOrdered: () => undefined,
      onTold: () => null,
      address,
      peers:
        address === null
          ? null
          : peersOf({ network: deps.server.network, listeners: deps.listeners }, machine),
    });
    this.#teller = {
      ledger: this.ledger,
      ask: askOf(deps.server, machine),
      settlementOf: ({ order }) => settlementOf(order.id, clock.now()),
    };
    if (address !== null) {
      const answer = async (request: unknown): Promise<unknown> => this.ledger.answer(request);
      deps.listeners.set(address, { machine, answer });
    }
  }

  /** Opens, or dies where it cannot, as the program does. */
  async start(): Promise<void> {
    try {
      await this.ledger.open();
      this.isOpen = true;
      this.sweep();
    } catch (error) {
      const { name } = this.machine;
      this.#deps.trace(`${name} cannot open: ${String(error)}`);
      if (isBug(error)) this.#deps.auditor.said(name, 'cannot open', error);
      this.kill();
    }
  }

  /** What a subscription owes, or any of them. */
  carryOut(subscriptionId?: string): Promise<void> {
    return carryOut(this.#teller, subscriptionId);
  }

  /** What others left is carried out. */
  sweep(): void {
    const { schedule } = this.#deps.server.network;
    schedule.after(SWEEP_MS, this.machine, () => {
      this.carryOut()
        .catch((error: unknown) => {
          if (isBug(error)) this.#deps.auditor.said(this.machine.name, 'a sweep failed', error);
        })
        .finally(() => this.sweep());
    });
  }

  /** Ends in order: hands over, writes what is queued, and exits. */
  async stop(): Promise<void> {
    if (this.isClosing) return;
    this.isClosing = true;
    const { schedule } = this.#deps.server.network;
    // A process that does not end in time is killed.
    schedule.after(CLOSE_MS_MAX, null, () => this.kill());
    await this.ledger.close();
    this.kill();
  }

  kill(): void {
    if (this.machine.isDead) return;
    this.machine.isDead = true;
    this.#deps.onDeath();
  }

  #log(): Log {
    const { trace, auditor } = this.#deps;
    const { name } = this.machine;
    const line =
      (level: string) =>
      (fields: Record<string, unknown>, message: string): void => {
        trace(`${name} ${level}: ${message} ${described(fields)}`);
        if (level === 'error' || isBug(fields['err'])) auditor.said(name, message, fields['err']);
      };
    return { info: line('info'), warn: line('warn'), error: line('error') };
  }
}

/** Whether the error has another cause than the injected faults. */
function isBug(error: unknown): boolean {
  if (!(error instanceof Error) || isConnectionLost(error)) return false;
  return !(error instanceof LedgerUnavailable || error instanceof PeerFailure);
}

const CLOSE_MS_MAX = 4000;
const SWEEP_MS = 500;

function described({ err, ...fields }: Record<string, unknown>): string {
  return [err instanceof Error ? err.message : '', JSON.stringify(fields)].join(' ');
}

/** What the owner of payments does when the ledger says that the processor is to be asked again. */
async function settlePayment(ledger: Ledger, id: string): Promise<void> {
  const state = await ledger.payments.load(id);
  if (state.status === 'processing') {
    await ledger.payments.charge(id, chargeAnswer);
    return;
  }
  for (const refund of state.refunds.values()) {
    await ledger.payments.settleRefund(id, {
      refundId: refund.id,
      outcome: refundAnswer(refund.id),
    });
  }
}

function tagged(value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

/** The output of `render`. */
export function checkAnswerOf(text: string): CheckAnswer {
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as CheckAnswer;
}

const chargeAnswer = {
  kind: 'succeeded',
  reference: 'ch',
  method: { type: 'card', brand: 'visa', last4: '4242' },
  customerId: 'customer',
} as const;

/** The processor gives the same answer every time. */
export function refundAnswer(refundId: string) {
  return refundId.charCodeAt(0) % 3 === 0
    ? ({ kind: 'declined', reason: 'declined' } as const)
    : ({ kind: 'succeeded', reference: 're', askAfterMs: null } as const);
}

/** Some charges are declined, each for good. */
function settlementOf(paymentId: string, at: number): Settlement {
  const of = { paymentId, at };
  if (paymentId.charCodeAt(0) % 4 > 0) return { kind: 'paid', ...of, transactionId: null };
  const why = { code: 'insufficient_funds', message: '', hard: false, policy: DUNNING };
  return { kind: 'failed', ...of, ...why };
}

const DUNNING = { retryDays: [1], blockAfterDays: 2, expireAfterDays: 3 };
