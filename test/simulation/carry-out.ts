// What a subscription owes is carried out, as src/subscriptions does: in one transaction its
// invoice and its charge are made and the followup is deleted; then the charge is answered.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Settlement } from '../../ledger/subscriptions/subscription.ts';
import type { ChargeRow, Database } from './database.ts';

export type Teller = {
  readonly ledger: Ledger;
  /** Runs a statement on the database. */
  readonly ask: <T>(statement: (db: Database) => T) => Promise<T>;
  /** null: it has no answer yet. */
  readonly settlementOf: (charge: ChargeRow) => Settlement | null;
};

/** Of one subscription, or of all. To repeat it changes nothing. */
export async function carryOut(teller: Teller, subscriptionId?: string): Promise<void> {
  const isWanted = (one: { readonly subscriptionId: string }): boolean =>
    subscriptionId === undefined || one.subscriptionId === subscriptionId;
  for (;;) {
    const charges = await teller.ask((db) => {
      db.transaction(() => {
        for (const { customer, followup } of db.owed.values()) {
          if (isWanted(followup)) execute(db, customer.id, followup);
        }
      });
      return db.charges.values().filter(isWanted);
    });
    const answers = charges.flatMap((charge) => {
      const settlement = teller.settlementOf(charge);
      return settlement === null ? [] : [{ charge, settlement }];
    });
    if (answers.length === 0) return;
    for (const answer of answers) await settle(teller, answer);
  }
}

type Followup = ReturnType<Database['owed']['values']>[number]['followup'];

function execute(db: Database, customerId: string, followup: Followup): void {
  const { id, subscriptionId } = followup;
  db.owed.delete(id);
  // What is given back whole counts no more than what is void.
  if (followup.kind === 'void' || followup.kind === 'give_back') {
    const row = db.invoices.get(followup.invoiceId);
    if (row !== undefined) db.invoices.set(followup.invoiceId, { ...row, isVoid: true });
  }
  if (followup.kind !== 'bill' && followup.kind !== 'collect') return;
  if (followup.kind === 'bill') {
    const { invoice } = followup;
    db.invoices.set(invoice.id, { subscriptionId, invoice, isVoid: false });
  }
  const { payment: order } = followup;
  if (order !== null) db.charges.set(order.id, { customerId, subscriptionId, order });
}

type Answer = { readonly charge: ChargeRow; readonly settlement: Settlement };

async function settle(teller: Teller, { charge, settlement }: Answer): Promise<void> {
  const { customerId, subscriptionId, order } = charge;
  const command = { kind: 'settle', settlement } as const;
  await teller.ledger.subscriptions.command(customerId, subscriptionId, command);
  await teller.ask((db) => db.transaction(() => db.charges.delete(order.id)));
}
