import { type Static, Type } from '@sinclair/typebox';
import type { ProcessorAccount as AccountRecord } from '../../records/processor-accounts.ts';
import { Body, Mode, oneOf, Timestamp } from './values.ts';

/** More than any key of Stripe's. */
const SECRET_LENGTH_MAX = 255;

export const ProcessorConnect = Body(
  {
    type: oneOf(['stripe']),
    secret_key: Type.String({
      maxLength: SECRET_LENGTH_MAX,
      description:
        'A secret key (`sk_...`) or a restricted one (`rk_...`) of the account, of the mode of the API key. It is stored encrypted and ' +
        'never shown.',
    }),
    webhook_secret: Type.Optional(
      Type.String({
        maxLength: SECRET_LENGTH_MAX,
        description:
          'The signing secret (`whsec_...`) of an endpoint that you created at Stripe. ' +
          'Omitted: an endpoint is created there if the key allows it; an endpoint that you ' +
          'named before stays.',
      }),
    ),
  },
  { type: 'stripe', secret_key: 'rk_test_...' },
);

const STATUSES = ['active', 'webhook_secret_required', 'failing'] as const;

export const ProcessorAccountStatus = oneOf(STATUSES, {
  description:
    '`webhook_secret_required`: payments work, but changes at Stripe are learned late, ' +
    'because it sends no webhooks: create an endpoint there and send its `webhook_secret`. ' +
    '`failing`: Stripe refuses the key; send another one.',
});

export const ProcessorAccount = Type.Object({
  type: oneOf(['stripe']),
  account: Type.String({ description: "Stripe's id of the account." }),
  mode: Mode,
  last4: Type.String({ description: 'The last four characters of the key.' }),
  status: ProcessorAccountStatus,
  checked_at: Timestamp,
});

export function fromProcessorAccount(account: AccountRecord): Static<typeof ProcessorAccount> {
  const { type, mode, last4, checkedAt } = account;
  return {
    type,
    account: account.account,
    mode,
    last4,
    status: statusOf(account),
    checked_at: checkedAt.toISOString(),
  };
}

function statusOf(account: AccountRecord): Static<typeof ProcessorAccountStatus> {
  if (account.status === 'failing') return 'failing';
  return account.sealedWebhookSecret === null ? 'webhook_secret_required' : 'active';
}

/** What a processor sends: read only where it is signed, and no further than what it is about. */
export const ProcessorWebhook = Type.Object(
  { id: Type.String(), type: Type.String() },
  { examples: [{ id: 'evt_1Qd2', type: 'payment_intent.succeeded' }] },
);

export const ProcessorWebhookTaken = Type.Object({ received: Type.Literal(true) });
