// The books of an account at Stripe.
//
// Holds: no error of Stripe's leaves in full, because it may name a part of a key.
import Stripe from 'stripe';
import { isCurrency } from '../../ledger/kernel/money.ts';
import { amountFromStripe } from '../processors/stripe/amounts.ts';
import { disputeOf as disputeAtPort } from '../processors/stripe/disputes.ts';
import { keyOf } from '../processors/stripe/metadata.ts';
import type { NewPayout } from '../records/payouts.ts';
import {
  type AccountBooks,
  BooksFailed,
  BooksRefused,
  type Rows,
  type TheirCharge,
  type TheirDispute,
  type TheirRefund,
  type TheirTransaction,
  type Window,
} from './account-books.ts';
import { type MoneyState, sideOfDispute } from './compare.ts';
import type { PayoutItem } from './payout-sums.ts';

/** As many as Stripe gives. */
const PAGE = 100;

/** As the organisation sees them: what it has not made there has no key. */
export function openStripeBooks(stripe: Stripe, organisationId: string): AccountBooks {
  return {
    transactions: (window, after) =>
      ask(async () => {
        const page = await stripe.balanceTransactions.list({
          ...within(window),
          ...behind(after),
          expand: ['data.source'],
        });
        return rowsOf(page, (row) => transactionOf(row, organisationId));
      }),
    disputes: (window, after) =>
      ask(async () => {
        const page = await stripe.disputes.list({ ...within(window), ...behind(after) });
        return rowsOf(page, disputeOf);
      }),
    payouts: (since, after) =>
      ask(async () => {
        const created = { gte: secondsOf(since) };
        const { rows, next } = rowsOf(
          await stripe.payouts.list({ created, ...behind(after) }),
          payoutOf,
        );
        return { rows: rows.filter((row) => row !== null), next };
      }),
    inPayout: (payout, after) =>
      found(async () =>
        rowsOf(await stripe.balanceTransactions.list({ payout, ...behind(after) }), itemOf),
      ),
    coinsOf: amountFromStripe,
    charge: (reference) => found(() => chargeNamed(stripe, reference, organisationId)),
    refund: (reference) =>
      found(async () => refundOf(await stripe.refunds.retrieve(reference), organisationId)),
    dispute: (reference) => found(async () => disputeOf(await stripe.disputes.retrieve(reference))),
  };
}

/** A payment intent's is the charge that took its money. */
async function chargeNamed(
  stripe: Stripe,
  reference: string,
  organisationId: string,
): Promise<TheirCharge | null> {
  if (!reference.startsWith('pi_')) {
    return chargeOf(await stripe.charges.retrieve(reference), organisationId);
  }
  const intent = await stripe.paymentIntents.retrieve(reference, { expand: ['latest_charge'] });
  const { latest_charge: charge } = intent;
  return charge === null || typeof charge === 'string' ? null : chargeOf(charge, organisationId);
}

/** @throws {BooksFailed} */
async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw failureOf(error);
  }
}

/** null where Stripe says that there is no such thing. @throws {BooksFailed} */
async function found<T>(question: () => Promise<T | null>): Promise<T | null> {
  try {
    return await question();
  } catch (error) {
    if (isOf(error, Stripe.errors.StripeInvalidRequestError)) return null;
    throw failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  const { StripeAuthenticationError, StripePermissionError, StripeError } = Stripe.errors;
  if (!isOf(error, StripeError)) return error;
  const reason = [error.type, error.code, error.statusCode].filter(Boolean).join(' ');
  const isRefused = isOf(error, StripeAuthenticationError) || isOf(error, StripePermissionError);
  return isRefused ? new BooksRefused(reason) : new BooksFailed(reason);
}

const isOf = <T>(error: unknown, kind: abstract new (...args: never[]) => T): error is T =>
  error instanceof kind;

const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000);

const within = ({ since, until }: Window) => ({
  created: { gte: secondsOf(since), lt: secondsOf(until) },
});

const behind = (after: string | null) => ({
  limit: PAGE,
  ...(after !== null && { starting_after: after }),
});

function rowsOf<S extends { readonly id: string }, T>(
  { data, has_more: hasMore }: Stripe.ApiList<S>,
  show: (row: S) => T,
): Rows<T> {
  return { rows: data.map(show), next: hasMore ? (data.at(-1)?.id ?? null) : null };
}

function transactionOf(
  transaction: Stripe.BalanceTransaction,
  organisationId: string,
): TheirTransaction {
  const { id, amount, fee, currency, created, source } = transaction;
  return {
    id,
    amount: BigInt(amount),
    fee: BigInt(fee),
    currency: currency.toUpperCase(),
    createdAt: new Date(created * 1000),
    source: source === null || typeof source === 'string' ? null : sourceOf(source, organisationId),
  };
}

function sourceOf(
  source: Stripe.BalanceTransactionSource,
  organisationId: string,
): TheirTransaction['source'] {
  if (source.object === 'charge') return chargeOf(source, organisationId);
  if (source.object === 'refund') return refundOf(source, organisationId);
  return source.object === 'dispute' ? disputeOf(source) : null;
}

function chargeOf(charge: Stripe.Charge, organisationId: string): TheirCharge {
  const { id, amount, amount_captured: captured, currency, metadata } = charge;
  const state = stateOfCharge(charge);
  return {
    subject: 'charge',
    reference: id,
    key: keyOf(metadata, organisationId),
    amount: amountFromStripe(BigInt(state === 'succeeded' ? captured : amount), currency),
    currency: currency.toUpperCase(),
    state,
  };
}

/** What is only authorised has not moved. */
function stateOfCharge({ status, captured }: Stripe.Charge): MoneyState {
  if (status === 'failed') return 'failed';
  return status === 'succeeded' && captured ? 'succeeded' : 'pending';
}

function refundOf(refund: Stripe.Refund, organisationId: string): TheirRefund {
  const { id, amount, currency, metadata, charge, status } = refund;
  return {
    subject: 'refund',
    reference: id,
    key: keyOf(metadata, organisationId),
    charge: idOf(charge),
    amount: amountFromStripe(BigInt(amount), currency),
    currency: currency.toUpperCase(),
    state: stateOfRefund(status),
  };
}

function stateOfRefund(status: string | null): MoneyState {
  if (status === 'succeeded') return 'succeeded';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}

/** As the port has it. An inquiry, which is no dispute there, has moved nothing. */
function disputeOf(dispute: Stripe.Dispute): TheirDispute {
  const { id, charge } = dispute;
  const currency = dispute.currency.toUpperCase();
  const known = isCurrency(currency) ? disputeAtPort(dispute) : null;
  return {
    subject: 'dispute',
    reference: id,
    charge: typeof charge === 'string' ? charge : charge.id,
    ...(known === null ? { amount: null, currency, state: 'failed' } : sideOfDispute(known)),
  };
}

/** null for one in a currency that is none of ours. */
function payoutOf(payout: Stripe.Payout): NewPayout | null {
  const amount = amountFromStripe(BigInt(payout.amount), payout.currency);
  if (amount === null) return null;
  return {
    payout: payout.id,
    amount,
    currency: payout.currency.toUpperCase(),
    status: payout.status,
    arrivalOn: new Date(payout.arrival_date * 1000).toISOString().slice(0, 10),
    createdAt: new Date(payout.created * 1000),
    itemised: payout.reconciliation_status === 'completed',
  };
}

function itemOf(transaction: Stripe.BalanceTransaction): PayoutItem {
  const { amount, fee, reporting_category: category } = transaction;
  return { amount: BigInt(amount), fee: BigInt(fee), category };
}

function idOf(object: string | { readonly id: string } | null): string | null {
  return object === null || typeof object === 'string' ? object : object.id;
}
