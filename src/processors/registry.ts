// The processor of each tenant: the sandbox in test mode, or an account that it has connected.
//
// How: the accounts of all organisations are in memory, read at the start and again when one is
// changed, on any node. So it is asked without a promise, for each charge and each page.
// Holds: live mode never reaches the sandbox. What an account has taken is asked of that account,
// also when another one takes what is new. A key is decrypted when its account is first used.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Log, Timers } from '../../ledger/ports.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import type { Changes, ChangeKind, Subscriber } from '../platform/postgres/changes.ts';
import { type ProcessorAccount, processorNameOf } from '../records/processor-accounts.ts';
import { guarded, type GuardOptions } from './guarded.ts';
import type { Processor, Processors } from './processor.ts';

/** Longer than any normal answer: a buyer is waiting. A later answer is found by asking again. */
const DEADLINE_MS = 8000;

/** An account with its key in the clear. */
export type OpenedAccount = {
  readonly id: string;
  readonly tenant: Tenant;
  /** As payments and saved methods name it. */
  readonly name: string;
  readonly key: string;
};

export type ProcessorsDeps = {
  /** The sandbox on the tenant's own clock. */
  readonly sandboxFor: (tenant: Tenant) => Processor;
  /** All accounts, or those of one organisation. */
  readonly list: (organisationId: string | null) => Promise<readonly ProcessorAccount[]>;
  /** The processor behind an account. */
  readonly open: (account: OpenedAccount) => Processor;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly changes: Changes;
  readonly timers: Timers;
  readonly log: Log;
};

type Connected = {
  readonly account: ProcessorAccount;
  /** Opened when it is first asked for; null where its key cannot be decrypted. */
  processor: Processor | null | undefined;
};

/** @throws where the database does not answer */
export async function openProcessors(deps: ProcessorsDeps): Promise<Processors> {
  const registry = new Registry(deps);
  deps.changes.subscribe(registry);
  await registry.read(null);
  return registry;
}

class Registry implements Processors, Subscriber {
  readonly #deps: ProcessorsDeps;
  readonly #guard: GuardOptions;
  /** By organisation. */
  #accounts = new Map<string, readonly Connected[]>();
  /** One read after the other: what was read last is what is kept. */
  #reading: Promise<void> = Promise.resolve();

  constructor(deps: ProcessorsDeps) {
    this.#deps = deps;
    this.#guard = { timers: deps.timers, deadlineMs: DEADLINE_MS, log: deps.log };
  }

  taking(tenant: Tenant): Processor | null {
    const current = this.#of(tenant).find(({ account }) => account.endedAt === null);
    if (current !== undefined) return this.#opened(current);
    return tenant.mode === 'test' ? this.#sandbox(tenant) : null;
  }

  named(tenant: Tenant, name: string): Processor | null {
    if (name === 'sandbox') return tenant.mode === 'test' ? this.#sandbox(tenant) : null;
    const named = this.#of(tenant).find(({ account }) => processorNameOf(account) === name);
    return named === undefined ? null : this.#opened(named);
  }

  async changed(kind: ChangeKind, organisationId: string): Promise<void> {
    if (kind === 'processor') await this.#tryRead(organisationId);
  }

  reset(): void {
    this.#tryRead(null).catch(() => undefined);
  }

  read(organisationId: string | null): Promise<void> {
    const read = this.#reading.then(() => this.#read(organisationId));
    this.#reading = read.catch(() => undefined);
    return read;
  }

  async #read(organisationId: string | null): Promise<void> {
    const accounts = await this.#deps.list(organisationId);
    const all = accounts.map((account) => this.#connected(account));
    const read = Map.groupBy(all, ({ account }) => account.organisationId);
    if (organisationId === null) this.#accounts = read;
    else this.#accounts.set(organisationId, read.get(organisationId) ?? []);
  }

  /** One whose key is the same stays open, with what it has under way. */
  #connected(account: ProcessorAccount): Connected {
    const { id, organisationId, sealedKey } = account;
    const known = this.#accounts.get(organisationId)?.find((one) => one.account.id === id);
    const isSame = known?.account.sealedKey.equals(sealedKey) === true;
    return { account, processor: isSame ? known.processor : undefined };
  }

  async #tryRead(organisationId: string | null): Promise<void> {
    try {
      await this.read(organisationId);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the accounts at processors could not be read');
    }
  }

  #of({ organisationId, mode }: Tenant): readonly Connected[] {
    const all = this.#accounts.get(organisationId) ?? [];
    return all.filter(({ account }) => account.mode === mode);
  }

  #sandbox(tenant: Tenant): Processor {
    return guarded(this.#deps.sandboxFor(tenant), this.#guard);
  }

  #opened(one: Connected): Processor | null {
    if (one.processor === undefined) one.processor = this.#open(one.account);
    return one.processor;
  }

  #open(account: ProcessorAccount): Processor | null {
    const { secrets, open, log } = this.#deps;
    const { id, organisationId, mode, sealedKey } = account;
    try {
      const key = secrets.open(sealedKey, id);
      const tenant = { organisationId, mode };
      return guarded(open({ id, tenant, name: processorNameOf(account), key }), this.#guard);
    } catch (error) {
      // It was sealed with another SECRETS_KEY. The start checks it; a restored row may differ.
      log.error({ err: error, organisationId, mode }, 'the key of a processor cannot be decrypted');
      return null;
    }
  }
}
