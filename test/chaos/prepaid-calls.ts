// The calls about what is prepaid, each with what its answer must say and what is known by it.
import Big from 'big.js';
import { must } from '../../ledger/kernel/assert.ts';
import type { Random } from '../support/random.ts';
import type { Answered } from './call.ts';
import type { Asked, Hold, PrepaidBook } from './prepaid-book.ts';
import { CREDITS, type Feature, MEMBERS, POOL, type Prepaid } from './prepaid-customers.ts';
import { expectPaid, NONE } from './prepaid-reckoning.ts';

const LONG_S = 3600;
const SHORT_S_MAX = 2;

export class PrepaidCalls {
  /** Holds of which more is to be heard. */
  readonly open: Hold[] = [];
  readonly #book: PrepaidBook;
  readonly #random: Random;
  #keys = 0;

  constructor({ book, random }: { readonly book: PrepaidBook; readonly random: Random }) {
    this.#book = book;
    this.#random = random;
  }

  grant(customer: Prepaid): Asked {
    const feature = this.#random.pick([POOL, POOL, 'tokens', 'minutes']);
    const amount = this.#random.integer(1, 12);
    const key = this.#key(`a grant of ${amount} ${feature}`);
    return {
      name: key,
      path: `/customers/${customer.id}/grants`,
      body: { feature_key: feature, amount, idempotency_key: key },
      same: ({ status, json }) => (status === 201 ? json : refused({ status, json })),
      enter() {
        const before = customer.granted.get(feature) ?? NONE;
        customer.granted.set(feature, before.plus(amount));
      },
    };
  }

  use(customer: Prepaid): Asked {
    const book = this.#book;
    const random = this.#random;
    const feature = this.#feature(customer);
    const isBack = feature !== CREDITS && random.chance(0.25);
    const value = this.#units(feature).times(isBack ? -1 : 1);
    const kinds = customer.isStrict ? ['reject', 'consume'] : ['track', 'reject', 'consume'];
    const kind = isBack ? 'reject' : random.pick(kinds);
    const key = this.#key(`${kind} of ${value.toFixed()} ${feature.name}`);
    const about = { feature_key: feature.name, customer_id: customer.id, value: value.toFixed() };
    if (kind === 'consume') {
      return {
        name: key,
        path: '/check',
        body: { ...about, consume: true, idempotency_key: key },
        same: ({ status, json }) => (status === 200 ? json : refused({ status, json })),
        enter({ json }) {
          const { name } = feature;
          if (json.allowed === true) book.events(customer, name).push(value);
          // After corrections past 0 less than its value is used.
          const used = Big(Math.min(Number(value), json.consumed));
          if (feature !== CREDITS) expectPaid(customer, { feature: name, value: used }, json);
        },
      };
    }
    return {
      name: key,
      path: '/track',
      body: { ...about, idempotency_key: key, ...(kind === 'reject' && { overage: 'reject' }) },
      same({ status, json }) {
        if (status === 402 && kind === 'reject') return status;
        return status === 200 ? { ...json, duplicate: null } : refused({ status, json });
      },
      enter({ status }) {
        if (status === 200) book.events(customer, feature.name).push(value);
      },
    };
  }

  /** It may be refused now, and be made when it is sent again. */
  reserve(customer: Prepaid): Asked {
    const book = this.#book;
    const feature = this.#feature(customer);
    const amount = this.#units(feature);
    const isShort = this.#random.chance(0.3);
    // Of those that are not to be late nothing else is heard.
    const isLeft = isShort && (customer.isStrict || this.#random.chance(0.5));
    const key = this.#key(`a hold of ${amount.toFixed()} ${feature.name}`);
    return {
      name: key,
      path: '/reservations',
      body: {
        feature_key: feature.name,
        customer_id: customer.id,
        amount: amount.toFixed(),
        expires_in: isShort ? this.#random.integer(1, SHORT_S_MAX) : LONG_S,
        idempotency_key: key,
      },
      same({ status, json }) {
        if (status === 402) return null;
        const { id, feature_key, created_at, expires_at, paid_by } = json;
        const said = { id, feature_key, created_at, expires_at, paid_by };
        return status === 201 ? said : refused({ status, json });
      },
      enter: ({ json }) => {
        const { name } = feature;
        const hold: Hold = {
          id: json.id,
          customer,
          feature: name,
          amount,
          isShort,
          status: 'open',
          committed: NONE,
          late: false,
        };
        book.holds.push(hold);
        if (!isLeft) this.open.push(hold);
        if (feature !== CREDITS) expectPaid(customer, { feature: name, value: amount }, json);
      },
    };
  }

  /** Something becomes of it, or it is extended. */
  resolve(hold: Hold): Asked {
    return !hold.isShort && this.#random.chance(0.2) ? this.#extend(hold) : this.end(hold);
  }

  /** It is not open any more. */
  end(hold: Hold): Asked {
    if (hold.isShort) return this.#commit(hold);
    return this.#random.chance(0.3) ? release(hold) : this.#commit(hold);
  }

  #commit(hold: Hold): Asked {
    const book = this.#book;
    const { id, customer, feature, amount } = hold;
    const { decimals } = must(
      [...MEMBERS, CREDITS].find(({ name }) => name === feature),
      'a feature',
    );
    const parts = customer.isStrict ? [0, 1, 3, 6, 6] : [0, 1, 3, 6, 6, 8];
    const value = amount.times(this.#random.pick(parts)).div(6).round(decimals, Big.roundDown);
    return {
      name: `commit of ${value.toFixed()} of ${id}`,
      path: `/reservations/${id}/commit`,
      body: { value: value.toFixed() },
      same: ({ status, json }) => (status === 200 ? json : refused({ status, json })),
      enter({ json }) {
        const { late } = json;
        if (late === true && !hold.isShort) throw new Error('it is late');
        Object.assign(hold, { status: 'committed', committed: value, late });
        // What is above the hold is an event of its own.
        const held = late || value.lt(amount) ? value : amount;
        for (const part of [held, value.minus(held)]) {
          if (part.gt(0)) book.events(customer, feature).push(part);
        }
      },
    };
  }

  #extend(hold: Hold): Asked {
    const amount = hold.amount.times(2);
    return {
      name: `extend ${hold.id} to ${amount.toFixed()}`,
      path: `/reservations/${hold.id}/extend`,
      body: { amount: amount.toFixed() },
      same({ status, json }) {
        if (status === 402) return null;
        return status === 200 ? json.amount : refused({ status, json });
      },
      enter() {
        hold.amount = amount;
      },
      after: () => this.open.push(hold),
    };
  }

  #key(what: string): string {
    return `${what}-${(this.#keys += 1)}`;
  }

  #feature({ isDirect }: Prepaid): Feature {
    return isDirect && this.#random.chance(0.2) ? CREDITS : this.#random.pick(MEMBERS);
  }

  #units({ most, decimals }: Feature): Big {
    return Big(this.#random.integer(1, most)).div(Big(10).pow(decimals));
  }
}

function release(hold: Hold): Asked {
  return {
    name: `release of ${hold.id}`,
    path: `/reservations/${hold.id}/release`,
    body: {},
    same: ({ status, json }) => (status === 200 ? json : refused({ status, json })),
    enter() {
      hold.status = 'released';
    },
  };
}

/** @throws always */
function refused({ status, json }: Pick<Answered, 'status' | 'json'>): never {
  throw new Error(`${status} ${JSON.stringify(json)}`);
}
