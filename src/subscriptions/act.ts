// An action of a customer or a merchant on a subscription. The ledger decides; what must be paid
// first is charged before the answer.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { must, unreachable } from '../../ledger/kernel/assert.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import { subscriptionDue } from '../../ledger/subscriptions/subscription.ts';
import { listReturnsOf } from '../records/followups.ts';
import { listPayments } from '../records/payments.ts';
import { listFeatures } from '../records/product-features.ts';
import { findProductOfPrice } from '../records/products.ts';
import { findSubscription, type SubscriptionRecord } from '../records/subscriptions.ts';
import type { SubscriptionsDeps } from './deps.ts';
import { priceOf } from './create.ts';
import { givenBackOf, tellGivenBack } from './given-back.ts';
import { allowancesOf, chargeRefusal, isWithinReach, planOf } from './plans.ts';
import { doneBefore } from './done-before.ts';
import type {
  Keyed,
  SubscriptionAction,
  SubscriptionActionReply,
  Subscriptions,
  Target,
} from './subscriptions.ts';

const YEAR_MS = 366 * DAY_MS;

export type ActDeps = SubscriptionsDeps & Pick<Subscriptions, 'due'>;

/** What the ledger is asked to decide, with the subscription as it was found. */
type Asked = {
  readonly kind: 'asked';
  readonly found: SubscriptionRecord;
  readonly command: Command;
};

/** Before an action is done or previewed: what was due by now is done, as its alarm does it. */
export async function askedFor(
  deps: ActDeps,
  target: Target,
  wanted: SubscriptionAction,
): Promise<Asked | { readonly kind: 'not_found' } | ActionRefused['refused']> {
  const { sql } = deps;
  const found = await findSubscription(sql, target.scope, target.id);
  if (found === null) return { kind: 'not_found' };
  const { customerId } = found;
  // In the stored form: a caller may use capitals.
  const { id } = found.subscription;
  if (target.customerId !== undefined && target.customerId !== customerId) {
    return { kind: 'not_found' };
  }
  // A renewal takes what the product gives and sells by then, which no action knows.
  if (subscriptionDue(found.subscription) <= deps.orgClock.now(target.scope)) {
    await deps.due(target.scope, { customerId, id });
  }
  // An end bills what is left of the usage.
  const [unheard = []] = await listReturnsOf(deps.sql, [id]);
  for (const paymentId of unheard) await tellGivenBack(deps, paymentId);
  const command = await commandOf(deps, found, wanted);
  return 'refused' in command ? command.refused : { kind: 'asked', found, command };
}

export async function act(
  deps: ActDeps,
  target: Target,
  { wanted, keyed }: { readonly wanted: SubscriptionAction; readonly keyed: Keyed | null },
): Promise<SubscriptionActionReply> {
  const { sql, ledger, billing } = deps;
  const before = keyed?.isAgain === true ? await doneBefore(deps, target, { wanted, keyed }) : null;
  if (before !== null) return before;
  const asked = await askedFor(deps, target, wanted);
  if (asked.kind !== 'asked') return asked;
  const { found } = asked;
  const command = namedBy(keyed, asked.command);
  const { customerId } = found;
  const { id } = found.subscription;
  const outcome = await ledger.subscriptions.command(customerId, id, command);
  await billing.carryOut(id);
  const record = must(await findSubscription(sql, target.scope, id), 'a subscription');
  switch (outcome.kind) {
    case 'done':
      // Without a payment the action is done, whatever happened after it.
      return (
        (outcome.subscription.waiting === null ? null : await unpaid(deps, record, command)) ?? {
          kind: 'done',
          record,
        }
      );
    case 'invalid_state':
      return { ...outcome, ...whyNot(record) };
    case 'currency_mismatch':
      return outcome;
    case 'unknown':
      // It has ended: canceling again changes nothing, other actions are refused.
      return wanted.kind === 'cancel'
        ? { kind: 'done', record }
        : { kind: 'invalid_state', legal: [] };
    default:
      return unreachable(outcome);
  }
}

/** Its invoice has the name of the request, so that a retry finds it. */
function namedBy(keyed: Keyed | null, command: Command): Command {
  if (keyed === null) return command;
  const isBilled = command.kind === 'change' || command.kind === 'resume';
  return isBilled ? { ...command, requestId: keyed.requestId } : command;
}

/** Why an action is refused, where a change waits for its payment. */
export function whyNot({
  subscription: { waiting },
}: SubscriptionRecord): Pick<
  Extract<SubscriptionActionReply, { kind: 'invalid_state' }>,
  'waiting'
> {
  return waiting === null ? {} : { waiting };
}

type ActionRefused = {
  readonly refused:
    | { readonly kind: 'amount_refused'; readonly message: string }
    | {
        readonly kind:
          | 'price_not_found'
          | 'not_for_sale'
          | 'quantity_too_large'
          | 'resumes_at_out_of_range';
      };
};

async function commandOf(
  { sql, orgClock, processors }: SubscriptionsDeps,
  { organisationId, mode, subscription }: SubscriptionRecord,
  wanted: SubscriptionAction,
): Promise<Command | ActionRefused> {
  const scope = { organisationId, mode };
  if (wanted.kind === 'pause' && wanted.resumesAt !== null) {
    const ahead = wanted.resumesAt - orgClock.now(scope);
    if (ahead <= 0 || ahead > YEAR_MS) return { refused: { kind: 'resumes_at_out_of_range' } };
  }
  if (wanted.kind !== 'change') return wanted;
  const { plan } = subscription;
  const product = await findProductOfPrice(sql, scope, wanted.priceId ?? plan.priceId);
  if (product === null) return { refused: { kind: 'price_not_found' } };
  const isSame = (wanted.priceId ?? plan.priceId) === plan.priceId;
  if (product.status !== 'active' && !isSame) return { refused: { kind: 'not_for_sale' } };
  // What is subscribed to may have been archived since.
  const price = isSame
    ? (product.prices.find(({ id }) => id === plan.priceId) ?? null)
    : priceOf(product, wanted.priceId);
  if (price === null) return { refused: { kind: 'price_not_found' } };
  const next = planOf(product, price, wanted.quantity ?? plan.quantity);
  const features = await listFeatures(sql, { ...scope, ...next });
  const givenBack = await givenBackOf(sql, subscription.id, orgClock.now(scope));
  const allowances = allowancesOf(features, next);
  const wish = { kind: 'change', plan: next, allowances, givenBack } as const;
  if (!isWithinReach(next, allowances)) return { refused: { kind: 'quantity_too_large' } };
  const message = chargeRefusal(processors.taking(scope), next);
  return message === null ? wish : { refused: { kind: 'amount_refused', message } };
}

/**
 * Whether the action needed a payment that failed. If the payment is still under way, the action
 * waits for it.
 */
async function unpaid(
  { sql }: SubscriptionsDeps,
  record: SubscriptionRecord,
  command: Command,
): Promise<SubscriptionActionReply | null> {
  const { subscription, organisationId, mode } = record;
  const { plan, status, waiting } = subscription;
  if (waiting !== null) return null;
  const isAsWanted =
    command.kind === 'resume'
      ? status === 'active'
      : command.kind !== 'change' ||
        (plan.priceId === command.plan.priceId && plan.quantity === command.plan.quantity);
  if (isAsWanted) return null;
  const of = { subscriptionId: subscription.id, limit: 1, offset: 0 };
  const [last] = await listPayments(sql, { organisationId, mode }, of);
  const message = last?.failureMessage ?? 'there is no payment method to charge';
  return { kind: 'payment_failed', message };
}
