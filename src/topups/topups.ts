// The API of automatic top-ups: what the ledger, payments and alarms tell them.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { FlushRows } from '../../ledger/storage.ts';

export type TopUps = {
  /** The ledger has ordered charges, which are on disk: they are made in the background. */
  ordered(orders: FlushRows['topUpOrders']): void;
  /** A charge is decided: the customer's actor gets it. It may be repeated. */
  paymentSettled(scope: Tenant, paymentId: string): Promise<void>;
  /**
   * Executes what the customer's top-ups owe, with their charges. Resolves when each charge has an
   * answer or none came.
   */
  carryOutOf(customerId: string): Promise<void>;
  /** The same for any customer of a tenant. Returns whether there was anything. */
  carryOut(scope: Tenant): Promise<boolean>;
  close(): Promise<void>;
};
