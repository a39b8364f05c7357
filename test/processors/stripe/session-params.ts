// What may be sent to create a checkout session.
import type Stripe from 'stripe';
import {
  bool,
  email,
  integer,
  list,
  metadata,
  object,
  oneOf,
  required,
  shape,
  text,
  url,
} from './params.ts';

type Params = Stripe.Checkout.SessionCreateParams;

const TYPES = [
  'acss_debit',
  'amazon_pay',
  'au_becs_debit',
  'bacs_debit',
  'card',
  'cashapp',
  'klarna',
  'link',
  'nz_bank_account',
  'paypal',
  'sepa_debit',
  'us_bank_account',
] as const;

type Line = NonNullable<Params['line_items']>[number];
type PriceData = NonNullable<Line['price_data']>;

const LINE = shape<Line>()({
  price_data: required(
    object(
      shape<PriceData>()({
        currency: required(text),
        product_data: required(
          object(
            shape<NonNullable<PriceData['product_data']>>()({
              name: required(text),
              description: text,
            }),
          ),
        ),
        unit_amount: required(integer(0)),
      }),
    ),
  ),
  quantity: integer(1),
});

export const SESSION = shape<Params>()({
  adaptive_pricing: object(shape<NonNullable<Params['adaptive_pricing']>>()({ enabled: bool })),
  allowed_payment_method_types: list(oneOf(...TYPES)),
  cancel_url: url,
  client_reference_id: text,
  currency: text,
  customer: text,
  customer_creation: oneOf('always', 'if_required'),
  customer_email: email,
  excluded_payment_method_types: list(oneOf(...TYPES)),
  expires_at: integer(0),
  line_items: list(object(LINE)),
  locale: oneOf('auto', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt'),
  metadata,
  mode: oneOf('payment', 'setup'),
  payment_intent_data: object(
    shape<Stripe.Checkout.SessionCreateParams.PaymentIntentData>()({
      capture_method: oneOf('automatic', 'automatic_async', 'manual'),
      description: text,
      metadata,
      receipt_email: email,
      setup_future_usage: oneOf('off_session', 'on_session'),
      statement_descriptor_suffix: text,
    }),
  ),
  payment_method_options: object(
    shape<Stripe.Checkout.SessionCreateParams.PaymentMethodOptions>()({
      card: object(
        shape<Stripe.Checkout.SessionCreateParams.PaymentMethodOptions.Card>()({
          capture_method: oneOf('manual'),
          request_three_d_secure: oneOf('any', 'automatic', 'challenge'),
        }),
      ),
    }),
  ),
  setup_intent_data: object(
    shape<Stripe.Checkout.SessionCreateParams.SetupIntentData>()({
      description: text,
      metadata,
    }),
  ),
  submit_type: oneOf('auto', 'book', 'donate', 'pay', 'subscribe'),
  success_url: url,
});
