// `expand`: an id in an answer becomes its object.
import { type Books, found } from './books.ts';
import { invalid } from './errors.ts';
import type {
  Charge,
  Customer,
  Dispute,
  Intent,
  Method,
  Payout,
  Refund,
  Session,
  Setup,
  Transaction,
} from './types.ts';

export type Expand<T> = (books: Books, object: T, paths: readonly string[]) => T;

/** The first part of each path, with what comes after it. */
function byHead(paths: readonly string[]): Map<string, string[]> {
  const heads = new Map<string, string[]>();
  for (const path of paths) {
    const [head = '', ...rest] = path.split('.');
    const tails = heads.get(head) ?? [];
    if (rest.length > 0) tails.push(rest.join('.'));
    heads.set(head, tails);
  }
  return heads;
}

function cannot(head: string): Error {
  return invalid(`This property cannot be expanded (${head}).`, { param: 'expand' });
}

const charge = (books: Books, id: string, rest: readonly string[]): Charge =>
  expandCharge(books, found(books.charges, id, 'charge'), rest);
const intent = (books: Books, id: string, rest: readonly string[]): Intent =>
  expandIntent(books, found(books.intents, id, 'payment_intent'), rest);
const transaction = (books: Books, id: string, rest: readonly string[]): Transaction =>
  expandTransaction(books, found(books.transactions, id, 'balance_transaction'), rest);
const customer = (books: Books, id: string): Customer => found(books.customers, id, 'customer');
const method = (books: Books, id: string): Method => found(books.methods, id, 'payment_method');

export const expandIntent: Expand<Intent> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head === 'latest_charge') {
      if (typeof out.latest_charge === 'string') {
        out.latest_charge = charge(books, out.latest_charge, rest);
      }
    } else if (head === 'payment_method') {
      if (typeof out.payment_method === 'string') {
        out.payment_method = method(books, out.payment_method);
      }
    } else if (head === 'customer') {
      if (typeof out.customer === 'string') out.customer = customer(books, out.customer);
    } else {
      throw cannot(head);
    }
  }
  return out;
};

export const expandSetup: Expand<Setup> = (books, object, paths) => {
  const out = { ...object };
  for (const head of byHead(paths).keys()) {
    if (head === 'payment_method') {
      if (typeof out.payment_method === 'string') {
        out.payment_method = method(books, out.payment_method);
      }
    } else if (head === 'customer') {
      if (typeof out.customer === 'string') out.customer = customer(books, out.customer);
    } else {
      throw cannot(head);
    }
  }
  return out;
};

export const expandSession: Expand<Session> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head === 'payment_intent') {
      if (typeof out.payment_intent === 'string') {
        out.payment_intent = intent(books, out.payment_intent, rest);
      }
    } else if (head === 'setup_intent') {
      if (typeof out.setup_intent === 'string') {
        const setup = found(books.setups, out.setup_intent, 'setup_intent');
        out.setup_intent = expandSetup(books, setup, rest);
      }
    } else if (head === 'customer') {
      if (typeof out.customer === 'string') out.customer = customer(books, out.customer);
    } else {
      throw cannot(head);
    }
  }
  return out;
};

export const expandCharge: Expand<Charge> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head === 'balance_transaction') {
      if (typeof out.balance_transaction === 'string') {
        out.balance_transaction = transaction(books, out.balance_transaction, rest);
      }
    } else if (head === 'payment_intent') {
      if (typeof out.payment_intent === 'string') {
        out.payment_intent = intent(books, out.payment_intent, rest);
      }
    } else if (head === 'customer') {
      if (typeof out.customer === 'string') out.customer = customer(books, out.customer);
    } else if (head === 'refunds') {
      const data = [...books.refunds.values()].filter((one) => one.charge === object.id).reverse();
      const url = `/v1/charges/${object.id}/refunds`;
      out.refunds = { object: 'list', data, has_more: false, url };
    } else {
      throw cannot(head);
    }
  }
  return out;
};

export const expandRefund: Expand<Refund> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head === 'balance_transaction') {
      if (typeof out.balance_transaction === 'string') {
        out.balance_transaction = transaction(books, out.balance_transaction, rest);
      }
    } else if (head === 'failure_balance_transaction') {
      if (typeof out.failure_balance_transaction === 'string') {
        out.failure_balance_transaction = transaction(books, out.failure_balance_transaction, rest);
      }
    } else if (head === 'charge') {
      if (typeof out.charge === 'string') out.charge = charge(books, out.charge, rest);
    } else if (head === 'payment_intent') {
      if (typeof out.payment_intent === 'string') {
        out.payment_intent = intent(books, out.payment_intent, rest);
      }
    } else {
      throw cannot(head);
    }
  }
  return out;
};

export const expandDispute: Expand<Dispute> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head === 'charge') {
      if (typeof out.charge === 'string') out.charge = charge(books, out.charge, rest);
    } else if (head === 'payment_intent') {
      if (typeof out.payment_intent === 'string') {
        out.payment_intent = intent(books, out.payment_intent, rest);
      }
    } else {
      throw cannot(head);
    }
  }
  return out;
};

export const expandPayout: Expand<Payout> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head !== 'balance_transaction') throw cannot(head);
    if (typeof out.balance_transaction === 'string') {
      out.balance_transaction = transaction(books, out.balance_transaction, rest);
    }
  }
  return out;
};

export const expandTransaction: Expand<Transaction> = (books, object, paths) => {
  const out = { ...object };
  for (const [head, rest] of byHead(paths)) {
    if (head !== 'source') throw cannot(head);
    if (typeof out.source === 'string') out.source = sourceOf(books, out.source, rest);
  }
  return out;
};

function sourceOf(books: Books, id: string, rest: readonly string[]): Transaction['source'] {
  if (books.charges.has(id)) return charge(books, id, rest);
  const refund = books.refunds.get(id);
  if (refund !== undefined) return expandRefund(books, refund, rest);
  const dispute = books.disputes.get(id);
  if (dispute !== undefined) return expandDispute(books, dispute, rest);
  return expandPayout(books, found(books.payouts, id, 'payout'), rest);
}

/** For what has nothing to expand. */
export function expandNothing<T>(_books: Books, object: T, paths: readonly string[]): T {
  const [first] = paths;
  if (first !== undefined) throw cannot(first);
  return object;
}
